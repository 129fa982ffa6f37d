import type { Backend } from '../../ports/backend.js'
import { type Fault, faultPlayer } from './fault-player.js'
import { type Around, type InterceptOptions, interceptBackend } from './intercept-backend.js'

/** Controls a backend call by call. Calls are named `operator_users.update`, `counter.hit`. */
export interface FaultyBackend {
  readonly backend: Backend
  /** Names of all calls so far, in the order they began; none without `keepsCalls`. */
  readonly calls: readonly string[]
  /**
   * The next `times` calls of this name meet the fault; default one, `Infinity` lasts until `heal`.
   * Throws a `TypeError` for `stale` on a backend that keeps no versions.
   */
  failNext(call: string, fault: Fault, times?: number): void
  /** Runs `hook` once, just before the next call of this name, which waits for it. */
  onCall(call: string, hook: () => Promise<void> | void): void
  /** Cancels every fault of `failNext` and hook of `onCall` that has not happened yet. */
  heal(): void
  /** Carries out the calls that met the fault `late`. */
  deliverLate(): Promise<void>
}

/** How a `FaultyBackend` keeps what it sees. */
export interface FaultyBackendOptions extends InterceptOptions {
  /** Default true. False for a process that runs for hours, whose memory the names would fill. */
  readonly keepsCalls?: boolean
}

/**
 * Wraps a backend and makes its calls fail on demand, to show that a host fails closed and completes
 * at the next attempt. `prepare` is passed on unchanged.
 *
 * @example
 * import { createAuth } from 'postern'
 * import { memory } from 'postern/memory'
 * import { faultyBackend } from 'postern/testing'
 *
 * const store = faultyBackend(memory())
 * const auth = await createAuth({ ...options, backend: store.backend })
 * store.failNext('client_users.update', 'after')
 */
export function faultyBackend(
  inner: Backend,
  { keepsCalls = true, ...options }: FaultyBackendOptions = {},
): FaultyBackend {
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
    if (keepsCalls) calls.push(name)
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
