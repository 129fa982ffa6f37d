import { checkAdd, checkExpiry, checkForgive, checkHit } from '../../src/checks/check-call.js'
import type { Counter, CounterResult } from '../../src/ports/backend.js'
import { removeFirst } from './remove-first.js'

interface Window {
  count: number
  readonly resetsAt: number
}

interface Hits {
  readonly key: string
  readonly limit: number
  readonly now: number
  /** When the window ends that these hits start, if none runs. */
  readonly resetsAt: number
  readonly hits: number
}

export function memoryCounter(): Counter {
  const windows = new Map<string, Window>()

  function count({ key, limit, now, resetsAt, hits }: Hits): CounterResult {
    const running = windows.get(key)
    const window = running && running.resetsAt > now ? running : { count: 0, resetsAt }
    windows.set(key, window)
    const wanted = window.count + hits
    window.count = Math.max(window.count, Math.min(wanted, limit))
    return { allowed: wanted <= limit, count: window.count, resetsAt: window.resetsAt }
  }

  return {
    async hit(key, windowMs, limit, now) {
      return count({ key, limit, now, resetsAt: checkHit(key, windowMs, limit, now), hits: 1 })
    },
    async add(...call) {
      const [key, , limit, now, hits] = call
      return count({ key, limit, now, resetsAt: checkAdd(...call), hits })
    },
    async forgive(key, hits) {
      checkForgive(key, hits)
      if (hits === undefined) windows.delete(key)
      const window = windows.get(key)
      if (window) window.count = Math.max(0, window.count - (hits ?? 0))
    },
    async sweep(before, limit) {
      checkExpiry('counter.sweep', before, limit)
      return removeFirst(windows, limit, ({ resetsAt }) => resetsAt <= before)
    },
  }
}
