import type { FakeClock } from '../../src/testing/fake-clock.js'
import type { Drawn } from './drawn.js'
import type {
  Ending,
  Exchange,
  MailedLink,
  Opening,
  Profile,
  Recorded,
  Restart,
  Revised,
  Rotation,
} from './history.js'
import type { Replica, Surroundings } from './replica.js'
import type { Scheduler } from './scheduler.js'

/** An authenticator app, and the backup codes on paper that are not used up. */
export interface Authenticator {
  readonly secret: string
  readonly backupCodes: string[]
}

/** An account, and what its owner remembers. */
export interface Owner {
  readonly name: string
  readonly email: string
  /** Empty while there is no account. */
  readonly id: string
  /** The passwords that may be right, the likeliest first. */
  readonly passwords: string[]
  readonly authenticator: Authenticator | null
}

/** A credential of the service account. */
export interface Credential {
  readonly credentialId: string
  readonly clientId: string
  readonly clientSecret: string
}

/** A credential as it is issued, with its secret in clear. */
export function revealed(issued: {
  readonly credentialId: string
  readonly clientId: string
  readonly clientSecret: { reveal(): string }
}): Credential {
  const { credentialId, clientId, clientSecret } = issued
  return { credentialId, clientId, clientSecret: clientSecret.reveal() }
}

export type Kind =
  | 'device'
  | 'tab'
  | 'mailbox'
  | 'newcomer'
  | 'administrator'
  | 'machine'
  | 'tokenThief'
  | 'linkThief'
  | 'passwordThief'
  | 'codeThief'
  | 'machineThief'
  | 'squatter'
  | 'guesser'
  | 'editor'
  | 'policyMaker'

/** Somebody who sends one request after the other. */
export interface Person {
  readonly actor: string
  readonly kind: Kind
  /** Whose account the next request is about. */
  owner: Owner
  access: string
  refresh: string
  /** What an app is known by at its logins; empty before the first. */
  recognition: string
  session: string
  /** Of a login that waits for its second factor, or of a registration that waits for its mail. */
  ticket: string
  /** Of a thief: what was taken. */
  password: string
  code: string
  credential: Credential | null
  /** Of an editor: the newest revision that it saw. */
  revision: number
  /** The cookies of the browser, which its tabs share. */
  readonly jar: { cookie: string; recognition: string }
  request: string | null
  exchange: Exchange | null
}

export interface World {
  readonly seed: number
  readonly profile: Profile
  readonly draw: Drawn
  readonly clock: FakeClock
  readonly scheduler: Scheduler
  readonly surroundings: Surroundings
  readonly replicas: Replica[]
  readonly owners: readonly Owner[]
  readonly people: readonly Person[]
  /** The service account, and its credentials that are known and not revoked, the newest last. */
  readonly machine: { readonly id: string; readonly credentials: Credential[] }
  readonly exchanges: Exchange[]
  readonly byRequest: Map<string, Exchange>
  readonly mails: MailedLink[]
  readonly rotations: readonly Rotation[]
  readonly recorded: readonly Recorded[]
  readonly revised: readonly Revised[]
  readonly openings: readonly Opening[]
  readonly endings: readonly Ending[]
  readonly secrets: Map<string, Set<string>>
  readonly struck: Map<string, number>
  readonly steps: number
  readonly tell: (line: string) => void
  step: number
  requests: number
  readonly restarts: Restart[]
  denylistLost: number | null
}

export function replicaAt({ replicas }: World, at: number): Replica {
  const replica = replicas[at % replicas.length]
  if (replica === undefined) throw new Error('no replica')
  return replica
}

/** Something that no reply to others, no row and no line of the log may hold. */
export function keepSecret({ secrets }: Pick<World, 'secrets'>, owner: string, text: string): void {
  const known = secrets.get(owner) ?? new Set()
  secrets.set(owner, known.add(text))
}

/** A password that nobody had before. */
export function newPassword(world: World, owner: Owner, by: string): string {
  const password = `correct horse ${by} ${world.seed}`
  keepSecret(world, owner.name, password)
  return password
}
