import type { Call } from '../frame/command.js'
import { describeKey } from './describe-key.js'
import { type KeyFile, readKeyFile } from './key-file.js'

interface ShownKey {
  readonly role: 'current' | 'next' | 'previous' | 'configuration'
  readonly id: string
  /** Null for a configuration key, which has 256 always. */
  readonly bits: number | null
  /** Epoch milliseconds; null where the file does not say. */
  readonly madeAt: number | null
  readonly retiredAt: number | null
}

/** Lists the keys, and never the keys themselves. */
export async function showKeys(call: Call, path: string): Promise<number> {
  const keys = shown(await readKeyFile(path))
  if (call.json) {
    call.out(JSON.stringify({ file: path, keys }))
    return 0
  }
  for (const { role, id, bits, madeAt, retiredAt } of keys) {
    const size = bits === null ? '' : `, ${bits} bits`
    const retired = retiredAt === null ? '' : `, replaced ${age(call.now() - retiredAt)} ago`
    const made = madeAt === null ? 'of unknown age' : `made ${age(call.now() - madeAt)} ago`
    call.out(`${role.padEnd(13)}  ${id}  ${made}${retired}${size}`)
  }
  return 0
}

function shown({ signing, configKeys, dates }: KeyFile): readonly ShownKey[] {
  const { current, next, previous = [] } = signing
  const timesOf = (id: string) => ({
    madeAt: dates[id]?.madeAt ?? null,
    retiredAt: dates[id]?.retiredAt ?? null,
  })
  const signingKey = (role: ShownKey['role']) => (pem: string) => {
    const { kid, bits } = describeKey(pem)
    return { role, id: kid, bits, ...timesOf(kid) }
  }
  return [
    ...[current].map(signingKey('current')),
    ...(next === undefined ? [] : [next]).map(signingKey('next')),
    ...previous.map(signingKey('previous')),
    ...configKeys.map(({ id }) => ({
      role: 'configuration' as const,
      id,
      bits: null,
      ...timesOf(id),
    })),
  ]
}

function age(ms: number): string {
  const days = Math.floor(ms / 86_400_000)
  if (days === 0) return 'less than a day'
  return days === 1 ? '1 day' : `${days} days`
}
