import type { AuthEvent } from '../../../src/ports/events.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import { type Reply, type SendOptions, textOf } from '../../support/hosts/http-client.js'
import { signedInPerson } from '../../support/people/people.js'

/** An event that has to come, and the outcome of the record it has to leave; null for none. */
export interface Told {
  readonly type: AuthEvent['type']
  readonly record: 'success' | 'failure' | null
  /** Members it has to have, with these values. */
  readonly says: Readonly<Record<string, unknown>>
}

/** Who a scenario is about, for the events to name. */
export interface Subject {
  readonly id: string
  readonly sessionId: string
}

export interface Scene {
  readonly host: ContractHost
  readonly surface: Surface
  /** Sends to a path of the surface. */
  post(path: string, options?: SendOptions): Promise<Reply>
}

/** One way an operation, or a function of the host's, can go. */
export interface Scenario {
  readonly of: string
  readonly name: string
  /** `401 invalid_credentials`; of the host's functions what they resolve to. */
  readonly outcome: string
  readonly tells: (subject: Subject) => readonly Told[]
  /** Leads up to the act, and returns it. What this causes is not looked at. */
  readonly prepare: (scene: Scene) => Promise<Act>
  readonly options?: HostOptions
  /** Where it can happen; both by default. */
  readonly surfaces?: readonly Surface[]
}

export interface Act {
  perform(): Promise<Reply | string>
  readonly subject?: Partial<Subject>
}

export function told(type: Told['type'], record: Told['record'], says: Told['says'] = {}): Told {
  return { type, record, says }
}

/** A refusal the pipeline tells of. */
export function refused(
  operation: string,
  reason: string,
  says: Told['says'] = {},
  record: Told['record'] = null,
): Told {
  return told('request.refused', record, { operation, reason, ...says })
}

/** The id of the session a refresh token belongs to. */
export function sessionOf(refreshToken: string): string {
  const payload = Buffer.from(refreshToken.split('.')[1] ?? '', 'base64url').toString()
  return textOf(JSON.parse(payload), 'sid')
}

/** Moves the clock once nothing is on its way to the store any more, which would time out. */
export async function pass(host: ContractHost, ms: number): Promise<void> {
  await host.auth.close()
  await host.clock.advance(ms)
}

/** A person with a session of the web. */
export async function signedIn(
  { host, surface }: Pick<Scene, 'host' | 'surface'>,
  by = signedInPerson,
) {
  const who = await by(host, surface)
  return { ...who, sessionId: sessionOf(who.refreshToken) }
}
