import type { Call } from '../frame/command.js'
import { Refusal } from '../frame/refusal.js'
import type { CarryRules } from './rows/carried-row.js'

/** Null where the flag is not given. */
export function textFlag({ flags }: Pick<Call, 'flags'>, name: string): string | null {
  const value = flags[name]
  return typeof value === 'string' ? value : null
}

/** What a flag that may be repeated was given, in its order. */
export function textsFlag({ flags }: Pick<Call, 'flags'>, name: string): readonly string[] {
  return [flags[name] ?? []].flat().filter((value) => typeof value === 'string')
}

/** Throws `Refusal` where it is not given. */
export function neededFlag(call: Pick<Call, 'flags'>, name: string, source: string): string {
  const value = textFlag(call, name)
  if (value === null) throw new Refusal(`postern import ${source} needs --${name}.`, 2)
  return value
}

export function carryRules(call: Pick<Call, 'flags'>): CarryRules {
  const given = textFlag(call, 'role')
  const pairs = given === null ? [] : given.split(',').map((pair) => pair.split('='))
  const isOdd = ([from = '', to = '', ...more]: readonly string[]) =>
    from === '' || to === '' || more.length > 0
  if (pairs.some(isOdd)) throw new Refusal('--role must be as in --role admin=administrator.', 2)
  return {
    roles: new Map(pairs.map(([from = '', to = '']) => [from, to])),
    dropSecondFactors: call.flags['drop-second-factors'] === true,
  }
}
