import type { Backend } from '../../src/ports/backend.js'
import type { Clock, PasswordHasher } from '../../src/ports/host.js'
import { interceptBackend } from '../../src/testing/faults/intercept-backend.js'

/** Milliseconds on the clock that was handed over, which a test moves. */
export interface Latencies {
  readonly store: number
  /** One number, or by the hash that is verified. */
  readonly hash: number | ((phc: string) => number)
}

export interface SlowWork {
  readonly backend: Backend
  readonly hasher: PasswordHasher
  /** Every call and every hash so far, in the order they began. */
  readonly calls: string[]
  /** From now on everything takes as long as this; until then it takes no time. */
  slowDown(latencies: Latencies): void
}

/** A backend and a hasher that take exactly as long as they are told to, and say what was asked. */
export function slowWork(clock: Clock, inner: Backend, hasher: PasswordHasher): SlowWork {
  const calls: string[] = []
  let latencies: Latencies = { store: 0, hash: 0 }
  async function take<T>(ms: number, work: () => Promise<T>): Promise<T> {
    if (ms > 0) await new Promise<void>((resolve) => void clock.after(ms, resolve))
    return work()
  }
  return {
    calls,
    slowDown(given) {
      latencies = given
    },
    backend: interceptBackend(inner, (name, work) => {
      calls.push(name)
      return take(latencies.store, work)
    }),
    hasher: {
      hash(password, params, salt) {
        calls.push(`hash m=${params.memoryCost},t=${params.timeCost},p=${params.parallelism}`)
        const { hash } = latencies
        return take(typeof hash === 'number' ? hash : 0, () => hasher.hash(password, params, salt))
      },
      verify(phc, password) {
        calls.push(`verify ${phc.split('$').slice(1, 4).join('$')}`)
        const { hash } = latencies
        return take(typeof hash === 'number' ? hash : hash(phc), () => hasher.verify(phc, password))
      },
    },
  }
}
