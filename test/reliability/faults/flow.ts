import { AuthError } from '../../../src/errors/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { HostOptions } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import type { BackendCall, Fault } from '../../support/stores/call-faults.js'
import type { World } from './world.js'

/** What came of one attempt at a flow, over HTTP or through the host's API. */
export interface Outcome {
  /** `200`, `401 session_revoked`; of the API `done` or `threw service_unavailable`. */
  readonly is: string
  /** All that the caller can see. */
  readonly shown: string
  readonly setCookies: readonly string[]
}

export interface Attempt {
  /** The request under test; each time with the same credentials. */
  send(): Promise<Outcome>
  /** Rejects unless all that the request is for has come true. Asked once it has succeeded. */
  reached(): Promise<void>
  /** Access tokens that must go on working whatever becomes of the request. */
  readonly untouched?: readonly string[]
}

/** A fault and the call it met. */
export interface Struck {
  readonly fault: Fault
  readonly call: BackendCall
  /** A later call, made only because of the first fault, and what it met. */
  readonly next?: Struck
}

/** One request and everything it needs, to be run again and again under faults. */
export interface Flow {
  readonly name: string
  /** What the host is started with. */
  readonly options?: HostOptions
  /** The one surface that has it; both without. */
  readonly surface?: Surface
  /** The outcome without faults. */
  readonly expects: string
  /** What may be answered when the store fails. */
  readonly unavailable: readonly string[]
  /** Another documented ending of the request, or of its repetition after this fault. */
  readonly ends?: (struck: Struck) => readonly string[]
  /** What else may be answered at first; repeated, the request has to end as documented. */
  readonly mayAnswer?: (struck: Struck) => readonly string[]
  /** Faults that this flow leaves out, and why: it rests on the port's promise. */
  readonly leavesOut?: (struck: Struck) => boolean
  prepare(world: World): Promise<Attempt>
}

export const sessionUnavailable = ['503 session_enforcement_unavailable']
export const unavailable = ['503 service_unavailable']
/** Protected routes: the denylist could not be asked, or anything else. */
export const guardedUnavailable = [...sessionUnavailable, ...unavailable]
export const threwUnavailable = ['threw service_unavailable']

export function outcomeOf(reply: Reply): Outcome {
  const { status, code, text, headers, setCookies } = reply
  return {
    is: typeof code === 'string' ? `${status} ${code}` : String(status),
    shown: `${text}\n${JSON.stringify([...headers])}`,
    setCookies,
  }
}

/**
 * A change of factors voids the proof that allowed it before anything else: to be repeated, it wants
 * another one.
 */
export function proving(
  change: () => Promise<Reply>,
  prove: () => Promise<unknown>,
): () => Promise<Outcome> {
  let isRepeated = false
  return async () => {
    if (isRepeated) await prove()
    isRepeated = true
    return outcomeOf(await change())
  }
}

/** The outcome of a call of the host's code. */
export async function outcomeOfCall(call: () => Promise<unknown>): Promise<Outcome> {
  try {
    await call()
    return { is: 'done', shown: '', setCookies: [] }
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    // What a host may pass on; `cause` is for its own logs.
    const shown = JSON.stringify([error.message, error.code, error.status])
    return { is: `threw ${error.code}`, shown, setCookies: [] }
  }
}

/** The call so named took effect, and its caller was told otherwise. */
export function tookEffect({ call, fault, next }: Struck, name: string): boolean {
  const undone = fault === 'before' || fault === 'hang' || fault === 'stale'
  return (call.name.endsWith(name) && !undone) || (next !== undefined && tookEffect(next, name))
}

/** The call so named read an older version. */
export function readStale({ call, fault }: Struck, name: string): boolean {
  return call.name.endsWith(name) && fault === 'stale'
}
