import {
  judgeLease,
  type LeaseSighting,
  leaseAfter,
  sweepLeaseName,
} from '../../engine/sweep-schedule.js'
import type { Lease, LeaseRecord } from '../../ports/backend.js'
import type { Clock, Logger } from '../../ports/host.js'
import { type HeldLease, holdLease } from './lease-holder.js'

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
export function createLeaseContest(deps: Deps): LeaseContest {
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
