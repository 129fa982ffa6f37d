/** Bounded: when full, the oldest makes room and may be first once more. */
const capacity = 10_000

/**
 * Tells whether a key is the first in its window, which starts with it. It remembers in this process
 * only, so each process of a deployment has its own first.
 */
export function oncePerWindow(): (key: string, windowMs: number, now: number) => boolean {
  const windows = new Map<string, { readonly from: number; readonly until: number }>()
  return (key, windowMs, now) => {
    const window = windows.get(key)
    // A clock that stepped back must not make a window longer.
    if (window !== undefined && now >= window.from && now < window.until) return false
    windows.delete(key)
    windows.set(key, { from: now, until: now + windowMs })
    const oldest = windows.keys().next()
    if (windows.size > capacity && !oldest.done) windows.delete(oldest.value)
    return true
  }
}
