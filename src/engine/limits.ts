/** What a process remembers is bounded: when it is full, the oldest makes room and may begin once more. */
const capacity = 10_000

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
    if (windows.size > capacity && !oldest.done) windows.delete(oldest.value)
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

/** A fixed counting window; null before the first hit. */
export interface WindowCount {
  readonly count: number
  readonly resetsAt: number
}

/**
 * Counts a hit, or refuses it unchanged when the limit is reached. A window starts with its first
 * hit and refused hits never extend it.
 */
export function countHit(
  window: WindowCount | null,
  windowMs: number,
  limit: number,
  now: number,
): { readonly allowed: boolean; readonly window: WindowCount } {
  const running =
    window !== null && window.resetsAt > now ? window : { count: 0, resetsAt: now + windowMs }
  if (running.count >= limit) return { allowed: false, window: running }
  return { allowed: true, window: { count: running.count + 1, resetsAt: running.resetsAt } }
}

const day = 24 * 60 * 60 * 1000

/**
 * Milliseconds that the `nth` lockout of an account within a month lasts: each twice as long as the one
 * before, up to a day.
 */
export function lockoutLength(firstMs: number, nth: number): number {
  return Math.min(firstMs * 2 ** (nth - 1), Math.max(firstMs, day))
}

/**
 * What a process knows of one window: it lets the first few hits through by itself and tells the
 * shared counter of them together with a later one.
 */
export interface DeferredCount {
  /** Epoch milliseconds at which it ends. */
  readonly resetsAt: number
  /**
   * `here` while this process alone knows of it, `asked` from its first report on, `shared` once
   * `resetsAt` is the shared counter's.
   */
  readonly stage: 'here' | 'asked' | 'shared'
  /** Hits that were let through here, and of which the shared counter was told nothing. */
  readonly unreported: number
  /** Epoch milliseconds from which on the unreported hits are all older than a window. */
  readonly quietAt: number
  /** What the window before used up of this one's allowance. */
  readonly spent: number
  /** The limit that was reached; null while it is not. */
  readonly full: number | null
}

/** The limit that a hit falls under, and when it is made. */
export interface DeferredHit {
  readonly limit: number
  readonly windowMs: number
  readonly now: number
}

export type DeferredDecision =
  /** Without asking: the shared counter has refused this limit until then. */
  | { readonly outcome: 'refused'; readonly resetsAt: number }
  | { readonly outcome: 'allowed'; readonly next: DeferredCount }
  /** The shared counter decides, and is told of this many hits, of which this is the last. */
  | { readonly outcome: 'report'; readonly hits: number; readonly next: DeferredCount }

/** The share of a limit that each process may let through by itself: one part in fifty, at least one hit. */
export function localAllowance(limit: number): number {
  return limit > 0 ? Math.max(1, Math.floor(limit / 50)) : 0
}

/**
 * Decides about a hit. Within any period of the window's length, a process lets through at most
 * `localAllowance(limit)` hits that the shared counter does not know of. So all processes together let
 * through at most the limit and that much for each of them.
 */
export function judgeDeferred(known: DeferredCount | null, hit: DeferredHit): DeferredDecision {
  const window = runningAt(known, hit)
  const { resetsAt, stage, unreported, spent, full } = window
  // A limit that was raised since is asked about; one that was lowered is as full.
  if (full !== null && hit.limit <= full) return { outcome: 'refused', resetsAt }
  if (stage === 'here' && spent + unreported < localAllowance(hit.limit)) {
    return { outcome: 'allowed', next: withHits(window, 1, hit) }
  }
  const next = { ...window, stage: stage === 'here' ? 'asked' : stage, unreported: 0 } as const
  return { outcome: 'report', hits: unreported + 1, next }
}

/** What a report's answer says of the window, no matter what was decided while it was under way. */
export function reported(
  known: DeferredCount | null,
  answer: { readonly allowed: boolean; readonly resetsAt: number },
  hit: DeferredHit,
): DeferredCount | null {
  if (answer.resetsAt <= hit.now) return known
  const window = runningAt(known, hit)
  const isKnown = window.stage === 'shared'
  // Answers about one window agree. The counter has lost the window that ends before another's.
  if (isKnown && answer.resetsAt < window.resetsAt) return window
  const before = isKnown && answer.resetsAt === window.resetsAt ? window.full : null
  const full = answer.allowed ? before : Math.max(before ?? 0, hit.limit)
  return { ...window, resetsAt: answer.resetsAt, stage: 'shared', full }
}

/**
 * Decides about the last of `hits` hits whose report failed, as this process would on its own. All that
 * are let through are reported once more with the next one. The counter may have taken them, so this
 * counts too many rather than too few: else a caller who makes answers get lost would have no limit.
 */
export function unanswered(
  known: DeferredCount | null,
  hits: number,
  hit: DeferredHit,
): { readonly allowed: boolean; readonly next: DeferredCount } {
  const isOver = known === null || known.resetsAt <= hit.now
  const earlier = isOver ? 0 : hits - 1
  const window = withHits(runningAt(known, hit), earlier, hit)
  if (window.unreported >= hit.limit) return { allowed: false, next: window }
  return { allowed: true, next: withHits(window, 1, hit) }
}

/** Whether nothing that will be decided depends on it any more. */
export function isForgettable({ resetsAt, quietAt }: DeferredCount, now: number): boolean {
  return resetsAt <= now && quietAt <= now
}

function runningAt(known: DeferredCount | null, { windowMs, now }: DeferredHit): DeferredCount {
  if (known !== null && known.resetsAt > now) return known
  const spent = known === null ? 0 : spentBy(known, now)
  return { resetsAt: now + windowMs, stage: 'here', unreported: 0, quietAt: 0, spent, full: null }
}

/** How many of an ended window's unreported hits may be younger than a window. */
function spentBy({ stage, unreported, quietAt }: DeferredCount, now: number): number {
  if (quietAt <= now) return 0
  // A window of this process begins with the first of them, which is older.
  return stage === 'here' ? unreported - 1 : unreported
}

function withHits(
  window: DeferredCount,
  hits: number,
  { windowMs, now }: DeferredHit,
): DeferredCount {
  if (hits === 0) return window
  return { ...window, unreported: window.unreported + hits, quietAt: now + windowMs }
}
