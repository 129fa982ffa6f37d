import { generateSync } from 'otplib'
import { picked } from '../actors/actor.js'
import type { Beginning } from '../decision.js'
import { inStep, type Operation } from '../history.js'
import { type Credential, newPassword, type Owner, type Person, type World } from '../world.js'

/** What a request takes along. */
export interface Prepared {
  /** The secret that it shows: a mailed token, a code, a password or a machine's secret; empty without. */
  readonly shows: string
  /** The password that is to be; empty where none is set. */
  readonly sets: string
}

const nothing: Prepared = { shows: '', sets: '' }

type Prepare = (world: World, who: Person, beginning: Beginning) => Prepared | null

const next = (world: World, { owner }: Person, { actor, request }: Beginning): string =>
  newPassword(world, owner, `${actor} ${request}`)

const withPassword: Prepare = (_, { kind, password, owner }, { request }) => {
  if (kind === 'guesser') return { shows: `wrong ${request}`, sets: '' }
  return { shows: password || (owner.passwords[0] ?? ''), sets: '' }
}

/** Somebody who got no answer types the same password again; null where there was an answer. */
function typedAgain({ exchange }: Person, token: string): string | null {
  if (exchange === null || exchange.spends !== token || exchange.sets === '') return null
  return exchange.ended === null || exchange.status >= 500 ? exchange.sets : null
}

const withLink: Prepare = (world, who, beginning) => {
  const links = world.mails.filter(
    ({ owner, kind }) => owner === who.owner.name && kind === beginning.operation,
  )
  const link = picked(links.toReversed(), beginning.pick)
  if (link === null) return null
  const sets = typedAgain(who, link.token) ?? next(world, who, beginning)
  return { shows: link.token, sets }
}

const withSecret = (of: readonly Credential[], pick: number): Prepared | null => {
  const one = picked(of, pick)
  return one === null ? null : { shows: one.credentialId, sets: '' }
}

const prepares: Partial<Readonly<Record<Operation, Prepare>>> = {
  login: withPassword,
  tabLogin: withPassword,
  second: (world, who, { pick }) =>
    who.ticket === '' ? null : { shows: codeOf(world, who, pick), sets: '' },
  change: (world, who, beginning) => ({
    shows: who.owner.passwords[0] ?? '',
    sets: next(world, who, beginning),
  }),
  register: (world, who, beginning) => {
    const isSquatter = who.kind === 'squatter'
    return { shows: '', sets: isSquatter ? who.password : next(world, who, beginning) }
  },
  reset: withLink,
  verify: withLink,
  grant: (_, { credential }) => withSecret(credential === null ? [] : [credential], 0),
  revokeSecret: ({ machine }, _, { pick }) => withSecret(machine.credentials.slice(0, -1), pick),
}

/** Null where there is nothing to ask with. */
export function prepared(world: World, who: Person, beginning: Beginning): Prepared | null {
  const prepare = prepares[beginning.operation]
  return prepare === undefined ? nothing : prepare(world, who, beginning)
}

/** The code of the app, or now and then a backup code; a thief has the one that it saw. */
function codeOf(world: World, who: Person, pick: number): string {
  const { owner, kind } = who
  if (kind === 'codeThief' || owner.authenticator === null) return who.code
  const code = pick % 5 === 4 ? owner.authenticator.backupCodes.shift() : undefined
  return code ?? appCode(owner, world.clock.now())
}

export function appCode({ authenticator }: Owner, now: number): string {
  const secret = authenticator?.secret ?? ''
  return generateSync({ secret, epoch: Math.floor(now / 1000) })
}

/** A code as a secret that is good once: the same digits may come again in another time step. */
export function codeAtStep(code: string, now: number): string {
  return code.length > 6 ? code : `${code}${inStep}${Math.floor(now / 30_000)}`
}
