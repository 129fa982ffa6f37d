import {
  type DeferredCount,
  type DeferredHit,
  isForgettable,
  judgeDeferred,
  reported,
  unanswered,
} from '../../engine/limits.js'
import { describeError } from '../../errors/index.js'
import type { Counter, CounterResult } from '../../ports/backend.js'
import type { Clock, Logger } from '../../ports/host.js'
import type { RateLimit } from './rate-limits.js'

type Verdict = Pick<CounterResult, 'allowed' | 'resetsAt'>

/** Counts the first hits of a window in this process, and reports them with the later ones. */
export interface DeferredCounts {
  /**
   * Counts a hit of the key, most often without a call of the counter. Never rejects: while the counter
   * fails, this process decides alone. Resolves to null for a key that finds no room here, which is to
   * be counted as it comes: what is remembered is never forgotten before its window ended, so no hit is
   * lost and no key gets its allowance twice.
   */
  hit(key: string, limit: RateLimit): Promise<Verdict | null>
}

interface Deps {
  readonly add: NonNullable<Counter['add']>
  readonly clock: Clock
  readonly logger: Logger
}

/** Some 200 bytes each. */
const mostKeys = 50_000

export function createDeferredCounts(deps: Deps, capacity = mostKeys): DeferredCounts {
  const { add, clock, logger } = deps
  const windows = new Map<string, DeferredCount>()
  let hand = windows.entries()

  /** Looks at a few entries, each in its turn, and drops those that are over. */
  function tidy(now: number): void {
    // Two for each new one keep the map close to what is running.
    const looks = windows.size < capacity ? 2 : 16
    for (let look = 0; look < looks; look += 1) {
      const { done, value } = hand.next()
      if (done) hand = windows.entries()
      else if (isForgettable(value[1], now)) windows.delete(value[0])
    }
  }

  function note(key: string, window: DeferredCount | null): void {
    if (window !== null) windows.set(key, window)
  }

  async function report(key: string, hits: number, hit: DeferredHit): Promise<Verdict> {
    try {
      const answer = await add(key, hit.windowMs, hit.limit, hit.now, hits)
      const answered = { ...hit, now: clock.now() }
      note(key, reported(windows.get(key) ?? null, answer, answered))
      return answer
    } catch (error) {
      logger.warn(
        'the rate-limit counter did not answer a report; counting in this process, and reporting its hits once more',
        { hits, ...describeError(error) },
      )
      const failed = { ...hit, now: clock.now() }
      const { allowed, next } = unanswered(windows.get(key) ?? null, hits, failed)
      note(key, next)
      return { allowed, resetsAt: next.resetsAt }
    }
  }

  return {
    async hit(key, { limit, windowMs }) {
      const hit = { limit, windowMs, now: clock.now() }
      const known = windows.get(key) ?? null
      if (known === null) {
        tidy(hit.now)
        if (windows.size >= capacity) return null
      }
      // Nothing is awaited between the look and the note, so parallel hits each see the one before.
      const decision = judgeDeferred(known, hit)
      if (decision.outcome === 'refused') return { allowed: false, resetsAt: decision.resetsAt }
      note(key, decision.next)
      if (decision.outcome === 'report') return report(key, decision.hits, hit)
      return { allowed: true, resetsAt: decision.next.resetsAt }
    },
  }
}
