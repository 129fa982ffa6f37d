import type { Counter } from '../../src/ports/backend.js'
import { counterOf } from '../shared/checked-calls.js'
import { removeFirst } from './remove-first.js'

interface Window {
  count: number
  readonly resetsAt: number
}

export function memoryCounter(): Counter {
  const windows = new Map<string, Window>()
  return counterOf({
    async count([key, , limit, now, hits], resetsAt) {
      const running = windows.get(key)
      const window = running && running.resetsAt > now ? running : { count: 0, resetsAt }
      windows.set(key, window)
      const wanted = window.count + hits
      window.count = Math.max(window.count, Math.min(wanted, limit))
      return { allowed: wanted <= limit, count: window.count, resetsAt: window.resetsAt }
    },
    forget: async (key) => windows.delete(key),
    async handBack(key, hits) {
      const window = windows.get(key)
      if (window) window.count = Math.max(0, window.count - hits)
    },
    sweep: async (before, limit) =>
      removeFirst(windows, limit, ({ resetsAt }) => resetsAt <= before),
  })
}
