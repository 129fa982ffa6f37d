import {
  hygieneEveryMs,
  hygieneLongestMs,
  hygieneMostBatches,
  nextCycleIn,
  sweepBatch,
} from '../../engine/sweep-schedule.js'
import { describeError } from '../../errors/index.js'
import type { Clock, Logger } from '../../ports/host.js'
import type { SweepResult } from '../../ports/store.js'
import type { Surface } from '../../ports/surface.js'

/** The refresh tokens of one surface. */
export interface SweepTier {
  readonly tier: Surface
  sweep(before: number, limit: number): Promise<SweepResult>
}

/** Anything else that expires; `sweep` resolves to how many it removed, at most `limit`. */
export interface Sweepable {
  readonly name: string
  sweep(before: number, limit: number): Promise<number>
}

/** Where the leader shows how many expired refresh rows are left, tier by tier. */
export interface BacklogGauge {
  show(left: ReadonlyMap<Surface, number>): void
  /** This process leads no more: its series go. */
  clear(): void
}

export interface SweepWork {
  /** Does what is due, one statement after the other, and returns the time of what is due next. */
  run(): Promise<number>
}

/** Leave to go on; withdrawn when the lease is lost or the process stops. */
export interface SweepPermit {
  isGood(): boolean
  /**
   * Asks the lease store as well, for right before a statement: a machine put to sleep as a whole
   * may wake with a clock that does not show it. Never rejects.
   */
  confirm(): Promise<boolean>
}

export interface SweepWorkDeps {
  readonly tiers: readonly SweepTier[]
  readonly hygiene: readonly Sweepable[]
  readonly backlog: BacklogGauge
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * One leader's work; its first cycle and its first round are due at once. Each statement asks for the
 * permit again, and statements never overlap: a process that sleeps past its lease overruns it by the
 * one under way and no more.
 */
export function createSweepWork(deps: SweepWorkDeps, permit: SweepPermit): SweepWork {
  const { tiers, backlog, clock, logger } = deps
  const left = new Map<Surface, number>()
  let cycleDue = clock.now()
  let round = newRound(deps.hygiene, clock.now())

  /** The answer to one statement; null when it failed or may not start. */
  async function attempt<T>(what: string, statement: () => Promise<T>): Promise<T | null> {
    if (!(await permit.confirm())) return null
    try {
      return await statement()
    } catch (error) {
      // What stays is refused anyway: expiry is checked at every read.
      logger.warn(`the sweep of ${what} failed`, describeError(error))
      return null
    }
  }

  /** One batch a tier and never a second, however much is left. */
  async function cycle(): Promise<void> {
    const startedAt = clock.now()
    const found: (number | null)[] = []
    for (const each of tiers) {
      const swept = await attempt(`refresh tokens, tier ${each.tier}`, () =>
        each.sweep(clock.now(), sweepBatch),
      )
      if (swept !== null) left.set(each.tier, swept.left)
      found.push(swept?.left ?? null)
    }
    cycleDue = startedAt + nextCycleIn(found)
    backlog.show(new Map(left))
  }

  /** One batch of each kind: so short that a cycle falling due need not wait for a whole round. */
  async function pass(): Promise<void> {
    const full: Sweepable[] = []
    for (const kind of round.kinds) {
      const removed = await attempt(kind.name, () => kind.sweep(clock.now(), sweepBatch))
      if (removed === sweepBatch) full.push(kind)
    }
    const passes = round.passes + 1
    const isShort = passes < hygieneMostBatches && clock.now() - round.due < hygieneLongestMs
    const goesOn = full.length > 0 && isShort
    round = goesOn
      ? { ...round, kinds: full, passes }
      : newRound(deps.hygiene, round.due + hygieneEveryMs)
  }

  return {
    async run() {
      while (permit.isGood()) {
        const now = clock.now()
        if (cycleDue <= now) await cycle()
        else if (round.due <= now) await pass()
        else break
      }
      return Math.min(cycleDue, round.due)
    },
  }
}

/** A walk over everything but refresh tokens, in passes, until each kind came back not full. */
interface Round {
  readonly due: number
  readonly passes: number
  /** What may still have more. */
  readonly kinds: readonly Sweepable[]
}

function newRound(kinds: readonly Sweepable[], due: number): Round {
  return { due, passes: 0, kinds }
}
