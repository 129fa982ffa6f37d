import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import type { Backend } from 'postern'
import { withCall } from '../support/stores/faulty-backend.js'
import { randomOf } from './random-of.js'

/** What one request's calls to the backend have to suffer. */
export interface Chaos {
  /** Decides every delay and every fault of the request. */
  readonly seed: string
  /** Each call begins a random 0 to this many milliseconds late. */
  readonly delayMs: number
  /** The share of calls that fail, from 0 to 1. */
  readonly faultRate: number
  /** How long a call that comes too late is held back: longer than the host waits for it. */
  readonly lateMs: number
}

/** The request header that carries a `Chaos` as JSON. */
export const chaosHeader = 'x-chaos'

interface Suffering extends Chaos {
  readonly random: () => number
}

const suffering = new AsyncLocalStorage<Suffering>()

/** Runs one request under `chaos`; the backend below must be a `chaoticBackend`. */
export function withChaos<T>(chaos: Chaos, work: () => T): T {
  return suffering.run({ ...chaos, random: randomOf(chaos.seed) }, work)
}

/**
 * A backend that fails as networks do, for requests that ask for it: a call is refused before it
 * does anything, or takes effect and its answer is lost, or takes effect after the caller gave up.
 */
export function chaoticBackend(inner: Backend): Backend {
  return withCall(inner, async (name, work) => {
    const chaos = suffering.getStore()
    if (chaos === undefined) return work()
    const { random, delayMs, faultRate, lateMs } = chaos
    // Drawn in a fixed order, whatever becomes of them.
    const [delay, fault, kind] = [random() * delayMs, random() < faultRate, random()]
    await wait(delay)
    if (!fault) return work()
    if (kind < 0.4) throw new Error(`${name}: the connection was refused`)
    if (kind > 0.8) await wait(lateMs)
    await work()
    throw new Error(`${name}: the connection broke`)
  })
}
