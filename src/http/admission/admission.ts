import type {
  AccessClaims,
  Admitted,
  RequestSource,
  Services,
} from '../../domain/services/index.js'
import type { Call, Operation, Params } from '../../operations/operation.js'
import type { ExchangeBody, ExchangeRequest } from '../request/exchange.js'

/** The parts of a request that are parsed once its sender is admitted. */
export type Input = Pick<Call<unknown>, 'body' | 'query'>

/** What was begun beside the denylist. What it fails with counts where it is awaited. */
export interface ReadAhead {
  /** The account's record. */
  readonly user: ReturnType<Services['access']['readUser']>
  /** What the operation itself reads ahead; null where it reads nothing. */
  readonly own: Promise<unknown> | null
}

/** One request on its way through the steps, and what they have found out so far. */
export interface Admission {
  readonly operation: Operation
  readonly request: ExchangeRequest
  readonly params: Params
  readonly source: RequestSource
  /** Where the request came from, as limits count it. */
  readonly address: string
  /** The body as it came. Null until it has arrived. */
  received: ExchangeBody | null
  /** The account of the access token. Null until the token is known, and without one. */
  userId: string | null
  /** The claims of the access token. Null without one. */
  bearer: AccessClaims | null
  /** Null on a public operation, and for a request with a ticket in place of an access token. */
  principal: Admitted['principal'] | null
  /** Null where no person with a session is asked for. */
  sessionId: string | null
  /** Null without an access token. */
  readAhead: ReadAhead | null
  /** The account's record, once the permission was granted. */
  user: Admitted['user'] | null
  /** What an administrative operation's path names. */
  located: unknown
  input: Input | null
  /** The ticket of a login that lacks a factor, where it takes the place of an access token. */
  ticket: string | null
}

/** Before the first step. */
export const nothingKnown = {
  received: null,
  userId: null,
  bearer: null,
  principal: null,
  sessionId: null,
  readAhead: null,
  user: null,
  located: null,
  input: null,
  ticket: null,
} as const satisfies Partial<Admission>

/**
 * One decision about a request. A read has no effect and is not repeated; the judge throws the
 * refusal, counts what is to be counted, and notes what later steps need.
 */
export interface AdmissionStep<Facts = unknown> {
  /** What the judge needs to know. Where it rejects, the step refuses with that error. */
  read?(admission: Admission): Promise<Facts>
  judge(admission: Admission, facts: Facts): Promise<void> | void
}
