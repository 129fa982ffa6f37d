import {
  countHit,
  type DeferredCount,
  judgeDeferred,
  reported,
  type WindowCount,
} from '../../src/engine/limits.js'

/** A hit of one process, and how many steps its report takes to be counted, and then to be answered. */
export interface Step {
  readonly replica: number
  /** Milliseconds since the step before. */
  readonly pause: number
  readonly counted: number
  readonly answered: number
}

/** A window of the shared counter. */
interface SharedWindow {
  readonly from: number
  readonly to: number
}

interface Admitted {
  readonly at: number
  /** When the window ends that it was counted in; null where the counter was not told at once. */
  readonly countedUntil: number | null
}

/** Processes that count one key, with one counter between them. */
export function deferredReplicas(limit: number, windowMs: number) {
  const known = new Map<number, DeferredCount>()
  const admitted: Admitted[] = []
  const windows: SharedWindow[] = []
  const pending: { readonly due: number; readonly run: () => void }[] = []
  let shared: WindowCount | null = null
  let now = 1000

  function add(hits: number, at: number) {
    let last = { allowed: false, resetsAt: 0 }
    for (let hit = 0; hit < hits; hit += 1) {
      const { allowed, window } = countHit(shared, windowMs, limit, at)
      if (shared?.resetsAt !== window.resetsAt) windows.push({ from: at, to: window.resetsAt })
      shared = window
      last = { allowed, resetsAt: window.resetsAt }
    }
    if (last.allowed) admitted.push({ at, countedUntil: last.resetsAt })
    return last
  }

  /** At once, or when so many steps have passed. */
  function when(due: number, index: number, run: () => void): void {
    if (due <= index) run()
    else pending.push({ due, run })
  }

  function play({ replica, pause, counted, answered }: Step, index: number): void {
    now += pause
    for (const { due, run } of pending) if (due === index) run()
    const hit = { limit, windowMs, now }
    const decision = judgeDeferred(known.get(replica) ?? null, hit)
    if (decision.outcome === 'refused') return
    known.set(replica, decision.next)
    if (decision.outcome === 'allowed') {
      admitted.push({ at: now, countedUntil: null })
      return
    }
    when(index + counted, index, () => {
      const answer = add(decision.hits, hit.now)
      when(index + counted + answered, index + counted, () => {
        const next = reported(known.get(replica) ?? null, answer, { ...hit, now })
        if (next !== null) known.set(replica, next)
      })
    })
  }

  return {
    play,
    /** How many hits were let through in each window of the counter. */
    admittedPerWindow: () =>
      windows.map(({ from, to }) => {
        const within = admitted.filter(({ at, countedUntil }) => {
          return countedUntil === null ? at >= from && at < to : countedUntil === to
        })
        return within.length
      }),
  }
}
