import type { Backend } from '../../ports/backend.js'
import { type Fault, faultPlayer } from './fault-player.js'
import { type Around, type InterceptOptions, interceptBackend } from './intercept-backend.js'

/** A backend with a hand on every call. Calls are named `operator_users.update`, `counter.hit`. */
export interface FaultyBackend {
  readonly backend: Backend
  /** Names of all calls so far, in the order they began. */
  readonly calls: readonly string[]
  /**
   * The next `times` calls of this name meet the fault; one by default, `Infinity` until `heal`.
   * Throws a `TypeError` for `stale` on a backend that keeps no versions.
   */
  failNext(call: string, fault: Fault, times?: number): void
  /** Runs `hook` once, just before the next call of this name, which waits for it. */
  onCall(call: string, hook: () => Promise<void> | void): void
  /** Drops what `failNext` and `onCall` asked for and did not come yet; nothing is down any more. */
  heal(): void
  /** Carries out the calls that were struck by `late`. */
  deliverLate(): Promise<void>
}

/**
 * Any backend, with faults on demand: to see that a host, or the library on it, fails closed and
 * completes at the next attempt. `prepare` is left alone.
 *
 * @example
 * const store = faultyBackend(memory())
 * const auth = createAuth({ ...options, backend: store.backend })
 * store.failNext('client_users.update', 'after')
 */
export function faultyBackend(inner: Backend, options: InterceptOptions = {}): FaultyBackend {
  const calls: string[] = []
  const faults = new Map<string, { readonly fault: Fault; left: number }>()
  const hooks = new Map<string, () => Promise<void> | void>()
  const player = faultPlayer((name) => new Error(`${name}: the connection broke`))

  function takeFault(name: string): Fault | null {
    const planned = faults.get(name)
    if (planned === undefined || planned.left < 1) return null
    planned.left -= 1
    return planned.fault
  }

  const around: Around = async (name, work, older = () => null) => {
    calls.push(name)
    const hook = hooks.get(name)
    // Gone before it runs: a hook may make calls of this name itself.
    hooks.delete(name)
    await hook?.()
    const fault = player.isDown ? 'before' : takeFault(name)
    return fault === null ? work() : player.strike(fault, { name, work, older })
  }

  return {
    backend: interceptBackend(inner, around, options),
    calls,
    failNext(call, fault, times = 1) {
      if (fault === 'stale' && !options.keepsVersions) {
        throw new TypeError('faultyBackend: "stale" needs { keepsVersions: true }')
      }
      faults.set(call, { fault, left: times })
    },
    onCall(call, hook) {
      hooks.set(call, hook)
    },
    heal() {
      faults.clear()
      hooks.clear()
      player.heal()
    },
    deliverLate: () => player.deliverLate(),
  }
}
