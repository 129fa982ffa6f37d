/** Bounded: when full, the subject that began first makes room and may begin once more. */
const subjects = 10_000

interface Window {
  readonly from: number
  readonly until: number
  readonly keys: Set<string>
}

/**
 * Tells whether a key is new to its subject in the subject's window, for a few keys each: a subject that shows up with
 * ever new keys uses up its own, and none of another subject. It remembers in this process only.
 */
export function fewPerWindow(
  most: number,
  windowMs: number,
): (subject: string, key: string, now: number) => boolean {
  const windows = new Map<string, Window>()

  function open(subject: string, now: number): Window {
    const opened = { from: now, until: now + windowMs, keys: new Set<string>() }
    windows.delete(subject)
    windows.set(subject, opened)
    const oldest = windows.keys().next()
    if (windows.size > subjects && !oldest.done) windows.delete(oldest.value)
    return opened
  }

  return (subject, key, now) => {
    const known = windows.get(subject)
    // A clock that stepped back must not make a window longer.
    const isOpen = known !== undefined && now >= known.from && now < known.until
    const { keys } = isOpen ? known : open(subject, now)
    if (keys.has(key) || keys.size >= most) return false
    keys.add(key)
    return true
  }
}
