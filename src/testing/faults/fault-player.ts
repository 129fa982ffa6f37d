import type { Older } from './intercept-backend.js'

/**
 * A fault of one call of a backend:
 * - `before`: the call does nothing and rejects, as if the database was not reached
 * - `after`: it takes effect and rejects, as if the connection broke before the answer
 * - `hang`: it does nothing and never answers, as if the command was lost
 * - `silent`: it takes effect and never answers, as if the answer was lost
 * - `late`: it never answers, and takes effect once the caller has given up, as in a full queue
 * - `twice`: it takes effect twice and gives the second answer, as with a driver that sends a command
 *   again by itself
 * - `stale`: a read returns the state before the last write, as from a replica that lags behind
 * - `down`: it takes effect, its answer is lost, and every later call rejects, as after a crash
 */
export type Fault = 'before' | 'after' | 'hang' | 'silent' | 'late' | 'twice' | 'stale' | 'down'

export interface StruckCall<T> {
  readonly name: string
  readonly work: () => Promise<T>
  readonly older: Older<T>
}

export interface FaultPlayer {
  /** True after a `down` until `heal`. */
  readonly isDown: boolean
  /** Applies the fault to the call. `onHang` is called when the call will never answer. */
  strike<T>(fault: Fault, call: StruckCall<T>, onHang?: () => void): Promise<T>
  /** Carries out the calls that met `late`. Never rejects, since their callers are gone. */
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
