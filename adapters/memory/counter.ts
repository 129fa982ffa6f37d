import { checkExpiry, checkForgive, checkHit } from '../../src/checks/check-call.js'
import type { Counter } from '../../src/ports/counter.js'
import { removeFirst } from './remove-first.js'

interface Window {
  count: number
  readonly resetsAt: number
}

export function memoryCounter(): Counter {
  const windows = new Map<string, Window>()
  return {
    async hit(key, windowMs, limit, now) {
      const resetsAt = checkHit(key, windowMs, limit, now)
      const running = windows.get(key)
      const window = running && running.resetsAt > now ? running : { count: 0, resetsAt }
      windows.set(key, window)
      const allowed = window.count < limit
      if (allowed) window.count += 1
      return { allowed, count: window.count, resetsAt: window.resetsAt }
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
