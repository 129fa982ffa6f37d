import type { Older } from './intercept-backend.js'

/**
 * What may befall one call of a backend:
 * - `before`: it does nothing and rejects; the database was not reached
 * - `after`: it takes effect and rejects; the connection broke before the answer came
 * - `hang`: it does nothing and never answers; the command was lost on its way
 * - `silent`: it takes effect and never answers; the answer was lost on its way
 * - `late`: it never answers, and takes effect once the caller has given up; a full queue
 * - `twice`: it takes effect a second time, and the second answer is the one that comes; a driver
 *   that sends a command again by itself
 * - `stale`: a read gives what was stored before the last write; a replica that lags behind
 * - `down`: it takes effect, its answer is lost, and every later call rejects; the database crashed
 */
export type Fault = 'before' | 'after' | 'hang' | 'silent' | 'late' | 'twice' | 'stale' | 'down'

export interface StruckCall<T> {
  readonly name: string
  readonly work: () => Promise<T>
  readonly older: Older<T>
}

export interface FaultPlayer {
  /** Whether a `down` has struck and nothing has healed it. */
  readonly isDown: boolean
  /** Lets the fault befall the call. `onHang` is told when it will never answer. */
  strike<T>(fault: Fault, call: StruckCall<T>, onHang?: () => void): Promise<T>
  /** Carries out what came `late`. Rejects for nobody: its callers are gone. */
  deliverLate(): Promise<void>
  /** No longer down. */
  heal(): void
}

/** The one place that says what each fault does. `errorOf` makes the errors of broken calls. */
export function faultPlayer(errorOf: (name: string) => Error): FaultPlayer {
  let heldBack: (() => Promise<unknown>)[] = []
  let isDown = false

  function swallow<T>(onHang: () => void): Promise<T> {
    onHang()
    return new Promise<T>(() => {})
  }

  return {
    get isDown() {
      return isDown
    },
    async strike(fault, { name, work, older }, onHang = () => {}) {
      if (fault === 'before') throw errorOf(name)
      if (fault === 'late') heldBack.push(work)
      if (fault === 'late' || fault === 'hang') return swallow(onHang)
      if (fault === 'down') isDown = true
      const result = await work()
      switch (fault) {
        case 'after':
        case 'down':
          throw errorOf(name)
        case 'silent':
          return swallow(onHang)
        case 'stale':
          return older(result) ?? result
        case 'twice':
          return work()
      }
    },
    async deliverLate() {
      const held = heldBack
      heldBack = []
      await Promise.all(held.map((work) => work().catch(() => {})))
    },
    heal() {
      isDown = false
    },
  }
}
