import {
  leaseAfter,
  leaseStands,
  sweepLeaseName,
  sweepLeaseTtlMs,
  sweepRenewalMs,
} from '../../engine/sweep-schedule.js'
import { describeError } from '../../errors/index.js'
import type { Lease, LeaseRecord } from '../../ports/backend.js'
import type { Clock, Logger } from '../../ports/host.js'

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

interface Deps {
  readonly lease: Lease
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * `taken` is the record as this process wrote it, `takenAt` the time at which that write began.
 * `onLost` is called once, at the moment the lease is known to be lost.
 */
export function holdLease(
  { lease, clock, logger }: Deps,
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
