import { createWakeableTimer } from '../../concurrency/background-tasks.js'
import { lazily } from '../../concurrency/promises.js'
import { randomToken } from '../../crypto/secrets.js'
import {
  hygieneEveryMs,
  hygieneLongestMs,
  hygieneMostBatches,
  judgeLease,
  type LeaseSighting,
  leaseAfter,
  leaseStands,
  nextCycleIn,
  sweepBatch,
  sweepContentionMs,
  sweepLeaseName,
  sweepLeaseTtlMs,
  sweepRenewalMs,
  sweepStartMs,
} from '../../engine/sweep-schedule.js'
import { describeError } from '../../errors/index.js'
import type { Lease, LeaseRecord } from '../../ports/backend.js'
import type { Clock, Logger, Random } from '../../ports/host.js'
import type { SweepResult } from '../../ports/store.js'
import type { Surface } from '../../ports/surface.js'

/** Removes what has expired, on the one replica that holds the lease. */
export interface Sweeper {
  /**
   * Stops: waits for a statement under way, takes the gauge's series away and gives the lease
   * back. May be called any number of times.
   */
  close(): Promise<void>
}

export interface SweeperDeps extends SweepWorkDeps {
  readonly lease: Lease
  readonly random: Random
}

/**
 * Begins to contend for the lease in the background and returns at once. Nothing depends on the
 * sweep: while the lease store is unreachable this only logs, and tries again every five minutes.
 */
export function startSweeper(deps: SweeperDeps): Sweeper {
  const { clock, logger, backlog } = deps
  const pause = createWakeableTimer(clock)
  let closing = false
  const contest = createLeaseContest({
    ...deps,
    contender: lazily(() => randomToken(deps.random)),
    wait: pause.wait,
    stopped: () => closing,
  })

  /** One contention and, when it is won, the leadership it brings. The time of the next one. */
  async function takePart(): Promise<number> {
    let since = clock.now()
    const held = await contest.contend(() => {
      since = clock.now()
      backlog.clear()
      pause.wake()
    })
    if (held === null) return since + sweepContentionMs
    const isGood = () => !closing && held.isGood()
    const confirm = async () => {
      await held.renew()
      return isGood()
    }
    const work = createSweepWork(deps, { isGood, confirm })
    try {
      while (isGood()) {
        const due = await work.run()
        if (isGood()) await pause.wait(due - clock.now())
      }
    } finally {
      backlog.clear()
      await held.release()
    }
    return since + sweepContentionMs
  }

  async function run(): Promise<void> {
    let next = clock.now() + sweepStartMs
    while (!closing) {
      // Never longer, though a clock that stepped back says so: no other replica may be left to sweep.
      await pause.wait(Math.min(next - clock.now(), sweepContentionMs))
      if (closing) return
      try {
        next = await takePart()
      } catch (error) {
        logger.warn(
          'the sweep lease could not be reached; contending again in five minutes',
          describeError(error),
        )
        next = clock.now() + sweepContentionMs
      }
    }
  }

  const running = run()
  return {
    close() {
      closing = true
      pause.wake()
      return running
    },
  }
}

export interface LeaseContest {
  /**
   * One contention: at most one lease time long. Null when another replica holds the lease or was
   * quicker. Rejects when the lease store does not answer. `onLost` is for the lease returned.
   */
  contend(onLost: () => void): Promise<HeldLease | null>
}

interface Deps {
  readonly lease: Lease
  readonly clock: Clock
  readonly logger: Logger
  /** This process, as the lease record names it; the same text each time. */
  readonly contender: () => string
  /** Waits, or returns sooner when the process is about to stop. */
  readonly wait: (ms: number) => Promise<void>
  readonly stopped: () => boolean
}

/**
 * Contentions begin five minutes apart. One that finds the lease held looks again a lease time
 * later and takes it if it was not renewed in between. So the lease of a dead holder changes hands
 * within the first contention after its last renewal, six minutes after it at the latest, and no
 * two machines' clocks are compared. What was seen last is remembered: a renewal that already
 * stands since an earlier contention need not be watched again.
 */
function createLeaseContest(deps: Deps): LeaseContest {
  const { lease, clock, contender } = deps
  let sighting: LeaseSighting | null = null

  /** The record, and how long to watch it before it may be taken; zero for at once. */
  async function look(): Promise<{ readonly record: LeaseRecord | null; readonly waitMs: number }> {
    const record = await lease.read(sweepLeaseName)
    const verdict = judgeLease(record, contender(), sighting, clock.now())
    if (verdict.mayTake) return { record, waitMs: 0 }
    sighting = verdict.sighting
    return { record, waitMs: verdict.waitMs }
  }

  return {
    async contend(onLost) {
      let seen = await look()
      if (seen.waitMs > 0) {
        await deps.wait(seen.waitMs)
        if (deps.stopped()) return null
        seen = await look()
      }
      if (seen.waitMs > 0) return null
      const takenAt = clock.now()
      const next = leaseAfter(seen.record, contender())
      const taken = await lease.replace(sweepLeaseName, seen.record, next)
      return taken ? holdLease(deps, next, takenAt, onLost) : null
    },
  }
}

/** A lease this process took, and renews by itself until it is lost or given back. */
export interface HeldLease {
  /**
   * Whether the lease stands by this process's own clock. Once false, false for ever, whether it
   * was taken over, could not be renewed, or ran out while the process slept.
   */
  isGood(): boolean
  /** Renews now, and so learns from the store whether the lease still stands. Never rejects. */
  renew(): Promise<void>
  /** Stops renewing and lets the next contender take the lease at once. Never rejects. */
  release(): Promise<void>
}

interface HolderDeps {
  readonly lease: Lease
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * `taken` is the record as this process wrote it, `takenAt` the time at which that write began.
 * `onLost` is called once, at the moment the lease is known to be lost.
 */
function holdLease(
  { lease, clock, logger }: HolderDeps,
  taken: LeaseRecord,
  takenAt: number,
  onLost: () => void,
): HeldLease {
  let record = taken
  let renewedAt = takenAt
  let state: 'held' | 'lost' | 'released' = 'held'
  let renewing: Promise<void> | null = null
  let cancelTimer = schedule()

  function schedule(): () => void {
    return clock.after(Math.max(0, renewedAt + sweepRenewalMs - clock.now()), beginRenewal)
  }

  /** Begins a renewal unless one is under way: two at once would refuse each other. */
  function beginRenewal(): void {
    renewing ??= renewOnce().finally(() => {
      renewing = null
    })
  }

  function lose(why: Readonly<Record<string, unknown>>): void {
    if (state !== 'held') return
    state = 'lost'
    cancelTimer()
    onLost()
    logger.warn('the sweep lease was lost; contending again in five minutes', why)
  }

  function isGood(): boolean {
    if (state === 'held' && !leaseStands(renewedAt, clock.now())) {
      lose({ reason: `not renewed within ${sweepLeaseTtlMs} ms` })
    }
    return state === 'held'
  }

  async function renewOnce(): Promise<void> {
    if (!isGood()) return
    const startedAt = clock.now()
    const next = leaseAfter(record, record.owner)
    try {
      if (!(await lease.replace(sweepLeaseName, record, next))) {
        return lose({ reason: 'another replica has taken it' })
      }
    } catch (error) {
      // The write may have taken effect, but a holder that is not sure does not hold.
      return lose(describeError(error))
    }
    record = next
    renewedAt = startedAt
    cancelTimer()
    if (state === 'held') cancelTimer = schedule()
  }

  return {
    isGood,
    async renew() {
      beginRenewal()
      await renewing
    },
    async release() {
      if (state === 'held') state = 'released'
      cancelTimer()
      await renewing
      if (state !== 'released') return
      try {
        await lease.replace(sweepLeaseName, record, leaseAfter(record, null))
      } catch (error) {
        // Others take it over once they saw it unchanged for a whole lease time.
        logger.warn('the sweep lease could not be released', describeError(error))
      }
    },
  }
}

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
