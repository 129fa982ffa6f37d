import { AsyncLocalStorage } from 'node:async_hooks'
import type { Backend } from '../../src/ports/backend.js'
import { withCall } from '../support/stores/faulty-backend.js'

/**
 * What happens to a held call when it is released: it goes on; it fails before it was carried out; its answer is
 * lost; it fails for the caller, and is carried out at a later release.
 */
export type Release = 'go' | 'before' | 'lost' | 'late'

/** A call of the backend that waits before its start, or before its answer, or to be carried out late. */
export interface Held {
  readonly key: string
  readonly name: string
  readonly request: string
  readonly phase: 'start' | 'answer' | 'late'
  release(how: Release): void
}

/** Holds every call that a request makes; calls outside a request pass. */
export interface Scheduler {
  readonly held: readonly Held[]
  backendOf(backend: Backend): Backend
  within<T>(request: string, work: () => Promise<T>): Promise<T>
  /** The request that is being worked for; empty outside one. */
  current(): string
  /** What these requests hold never resumes. What the database was already told, it does. */
  drop(isOf: (request: string) => boolean): void
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

  function hold(request: string, n: number, name: string, phase: Held['phase']): Promise<Release> {
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
        const { request, calls: n } = scope
        const how = await hold(request, n, name, 'start')
        if (how === 'late') {
          void hold(request, n, name, 'late').then(() => work().catch(() => {}))
        }
        if (how !== 'go') throw new Error(`${name}: not reached`)
        const result = await work()
        if ((await hold(request, n, name, 'answer')) !== 'go')
          throw new Error(`${name}: answer lost`)
        return result
      }),
    current: () => scopes.getStore()?.request ?? '',
    within: (request, work) => scopes.run({ request, calls: 0 }, work),
    drop(isOf) {
      for (const [key, { request, phase }] of waiting) {
        if (phase !== 'late' && isOf(request)) waiting.delete(key)
      }
    },
    async quiet() {
      // What is put off by one turn may put off more. No turn waits for a thread or for real time.
      for (let turn = 0; turn < 3; turn += 1) {
        await new Promise<void>((resolve) => setImmediate(resolve))
      }
    },
  }
}
