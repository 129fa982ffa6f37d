import { AsyncLocalStorage } from 'node:async_hooks'
import type { Backend } from '../../src/ports/backend.js'
import { withCall } from '../support/stores/faulty-backend.js'

/** What happens to a held call when it is released. */
export type Release = 'go' | 'before' | 'lost'

/** A call of the backend that waits before its start, or before its answer. */
export interface Held {
  readonly key: string
  readonly name: string
  readonly request: string
  readonly phase: 'start' | 'answer'
  release(how: Release): void
}

/** Holds every call that a request makes; calls outside a request pass. */
export interface Scheduler {
  readonly held: readonly Held[]
  backendOf(backend: Backend): Backend
  within<T>(request: string, work: () => Promise<T>): Promise<T>
  /** What a killed request holds never resumes. */
  drop(request: string): void
  /** Resolves when nothing runs that does not wait for a decision. */
  quiet(): Promise<void>
}

interface Scope {
  readonly request: string
  calls: number
}

export function scheduler(): Scheduler {
  const scopes = new AsyncLocalStorage<Scope>()
  const waiting = new Map<string, Held>()

  function hold(scope: Scope, n: number, name: string, phase: Held['phase']): Promise<Release> {
    const { request } = scope
    const key = `${request} ${n} ${phase}`
    return new Promise((resolve) => {
      const release = (how: Release): void => {
        waiting.delete(key)
        resolve(how)
      }
      waiting.set(key, { key, name, request, phase, release })
    })
  }

  return {
    get held() {
      return [...waiting.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
    },
    backendOf: (backend) =>
      withCall(backend, async (name, work) => {
        const scope = scopes.getStore()
        if (scope === undefined) return work()
        scope.calls += 1
        const n = scope.calls
        if ((await hold(scope, n, name, 'start')) !== 'go') throw new Error(`${name}: not reached`)
        const result = await work()
        if ((await hold(scope, n, name, 'answer')) !== 'go') throw new Error(`${name}: answer lost`)
        return result
      }),
    within: (request, work) => scopes.run({ request, calls: 0 }, work),
    drop(request) {
      for (const [key, held] of waiting) if (held.request === request) waiting.delete(key)
    },
    async quiet() {
      // What is put off by one turn may put off more. No turn waits for a thread or for real time.
      for (let turn = 0; turn < 3; turn += 1) {
        await new Promise<void>((resolve) => setImmediate(resolve))
      }
    },
  }
}
