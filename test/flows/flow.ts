import type { Surface } from '../../src/ports/surface.js'
import type { ContractHost, HostOptions } from '../support/hosts/hosts.js'
import type { Reply, SendOptions } from '../support/hosts/http-client.js'
import type { Enrolled } from '../support/people/authenticator.js'
import { type Person, type SignedIn, signIn } from '../support/people/people.js'

/** Where a flow is walked, and by whom. */
export interface Walk {
  /** Everything is sent with its `send`, which a suite may replace by one that takes notes. */
  readonly host: ContractHost
  readonly surface: Surface
  /** A verified account of the surface. */
  readonly who: Person
  /** `who`, where they have an authenticator app. */
  readonly enrolled: Enrolled | null
}

/** What the last step of a flow may be sent with. */
export interface StepOptions {
  /** The surface it is sent to; that of the walk by default. */
  readonly at?: Surface
  /** The address it comes from; a new one by default. */
  readonly from?: string
}

/** The request under test, always with the same credentials. May be sent again. */
export type Step = (options?: StepOptions) => Promise<Reply>

/** A flow whose last step is to be sent. */
export interface Prepared {
  readonly step: Step
  /** Whose it is, when it is not the walker's own. */
  readonly userId?: string
  readonly email?: string
}

/** One way to have an operation succeed, once for each of its surfaces. */
export interface Flow {
  /** The operation of the last step, by its id in the table. */
  readonly of: string
  readonly name: string
  /** What the host is started with, beside what the suite wants. */
  readonly options?: HostOptions
  /** Leads up to the last step, and returns it. */
  readonly prepare: (walk: Walk) => Promise<Prepared>
}

/** A step that sends this request; `path` is one below that of the surface, or a whole one. */
export function request(
  { host, surface }: Pick<Walk, 'host' | 'surface'>,
  method: string,
  path: string,
  { headers, ...options }: SendOptions = {},
): Step {
  return ({ at = surface, from } = {}) =>
    host.send(method, path.startsWith('/v1/') ? path : `/v1/auth/${at}${path}`, {
      ...options,
      headers: { ...headers, ...(from === undefined ? {} : { 'x-forwarded-for': from }) },
    })
}

/** A step that posts this body. */
export function post(
  walk: Pick<Walk, 'host' | 'surface'>,
  path: string,
  body: object,
  options: SendOptions = {},
): Step {
  return request(walk, 'POST', path, { ...options, body })
}

/** The walker's session, with the second factor when they have one. */
export async function sessionOf({
  host,
  surface,
  who,
  enrolled,
}: Walk): Promise<Person & SignedIn> {
  return enrolled ?? { ...who, ...(await signIn(host, surface, who)) }
}

/** A request of somebody who is signed in, as it is made of the walker and their session. */
type OfSession = (
  walk: Walk,
  who: Person & SignedIn,
) => readonly [method: string, path: string, body?: object]

/** A flow whose one preparation is to sign in. */
export function signedInFlow(of: string, name: string, requestOf: OfSession): Flow {
  return {
    of,
    name,
    async prepare(walk) {
      const who = await sessionOf(walk)
      const [method, path, body] = requestOf(walk, who)
      const { bearer } = who
      return {
        step: request(walk, method, path, body === undefined ? { bearer } : { bearer, body }),
      }
    },
  }
}

let strangers = 0

/** An address that no account has. */
export function strangeAddress(): string {
  strangers += 1
  return `stranger-of-flows-${strangers}@example.org`
}
