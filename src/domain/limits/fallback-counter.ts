import { countHit, type WindowCount } from '../../engine/limits.js'
import type { Counter } from '../../ports/backend.js'

/**
 * Counts in this process alone: the stand-in while the shared counter cannot be reached, so that
 * an outage never means "unlimited". Bounded: when full, the oldest window makes room.
 */
export function fallbackCounter(capacity = 50_000): Pick<Counter, 'hit' | 'forgive'> {
  const windows = new Map<string, WindowCount>()
  return {
    async hit(key, windowMs, limit, now) {
      const { allowed, window } = countHit(windows.get(key) ?? null, windowMs, limit, now)
      windows.delete(key)
      windows.set(key, window)
      const oldest = windows.keys().next()
      if (windows.size > capacity && !oldest.done) windows.delete(oldest.value)
      return { allowed, ...window }
    },
    async forgive(key, hits) {
      const window = windows.get(key)
      if (window === undefined) return
      if (hits === undefined || hits >= window.count) windows.delete(key)
      else windows.set(key, { ...window, count: window.count - hits })
    },
  }
}
