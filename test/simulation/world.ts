import type { FakeClock } from '../../src/testing/fake-clock.js'
import type { Drawn } from './drawn.js'
import type { Exchange, MailedLink, Rotation } from './history.js'
import type { Replica, Surroundings } from './replica.js'
import type { Scheduler } from './scheduler.js'

/** An account, and what its owner remembers. */
export interface Owner {
  readonly name: string
  readonly email: string
  readonly id: string
  /** The passwords that may be right, the likeliest first. */
  readonly passwords: string[]
}

/** Somebody who sends one request after the other. */
export interface Person {
  readonly actor: string
  readonly kind: 'device' | 'mailbox' | 'thief' | 'administrator'
  /** Whose account the next request is about. */
  owner: Owner
  access: string
  refresh: string
  session: string
  request: string | null
  exchange: Exchange | null
}

export interface World {
  readonly seed: number
  readonly draw: Drawn
  readonly clock: FakeClock
  readonly scheduler: Scheduler
  readonly surroundings: Surroundings
  readonly replicas: Replica[]
  readonly owners: readonly Owner[]
  readonly people: readonly Person[]
  readonly exchanges: Exchange[]
  readonly mails: MailedLink[]
  readonly rotations: readonly Rotation[]
  readonly passwords: Map<string, Set<string>>
  readonly steps: number
  readonly tell: (line: string) => void
  step: number
  requests: number
  restarts: number
}

export function replicaAt({ replicas }: World, at: number): Replica {
  const replica = replicas[at % replicas.length]
  if (replica === undefined) throw new Error('no replica')
  return replica
}

/** A password that nobody had before. */
export function newPassword(world: World, owner: Owner, by: string): string {
  const password = `correct horse ${by} ${world.seed} ${world.requests}`
  world.passwords.get(owner.name)?.add(password)
  return password
}
