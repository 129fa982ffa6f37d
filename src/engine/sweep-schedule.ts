const second = 1000
const minute = 60 * second
const hour = 60 * minute

/*
 * The sweep's numbers are part of the contract and not configurable: replicas of one
 * deployment that disagreed about the lease time would steal the lease from each other.
 */

/** The name of the lease that chooses the replica which sweeps. */
export const sweepLeaseName = 'auth:refresh-sweep'
/** A lease that was not renewed for this long is worth nothing, to its holder and to others. */
export const sweepLeaseTtlMs = minute
export const sweepRenewalMs = 20 * second
/**
 * From start-up to the first contention. Hosts prepare the database right after building the
 * library, and a script that ends at once need not take a lease it cannot keep.
 */
export const sweepStartMs = 10 * second
/** From one contention for the lease to the next, and from losing it to contending again. */
export const sweepContentionMs = 5 * minute
/** Most refresh rows of one tier that one cycle removes; also the most any statement removes. */
export const sweepBatch = 5000
/** From one round over everything else that expires to the next. */
export const hygieneEveryMs = hour
/**
 * Most statements a round spends on one kind, a million documents an hour. A larger backlog is worked off over hours,
 * and the database has room for others meanwhile.
 */
export const hygieneMostBatches = 200
/** A round that took this long begins no further pass: where statements are slow, most of the hour is left to others. */
export const hygieneLongestMs = 15 * minute

const cycleWhileMoreMs = 5 * minute
const cycleOnceDryMs = 6 * hour

/**
 * Milliseconds from the start of a cycle to the start of the next. `left` holds, tier by tier, how
 * many expired rows the cycle left behind; null where the statement failed and the number is unknown.
 */
export function nextCycleIn(left: readonly (number | null)[]): number {
  return left.every((rows) => rows === 0) ? cycleOnceDryMs : cycleWhileMoreMs
}

/**
 * Whether its holder may rely on a lease whose last successful renewal began at `renewedAt`. Counted
 * from the beginning: a contender can only have seen that renewal later, and so waits longer. A
 * clock that went backwards tells nothing, so it counts as too late.
 */
export function leaseStands(renewedAt: number, now: number): boolean {
  return isWithinTtl(renewedAt, now)
}

function isWithinTtl(from: number, now: number): boolean {
  return now >= from && now - from < sweepLeaseTtlMs
}

/** The part of a lease record that takeover depends on. */
export interface LeaseState {
  readonly owner: string | null
  readonly renewal: number
}

/** A record of another holder, with the time at which this contender first saw it, by its own clock. */
export interface LeaseSighting extends LeaseState {
  readonly since: number
}

export type LeaseVerdict =
  | { readonly mayTake: true }
  /** Keep the sighting; a look `waitMs` from now that finds the same renewal may take the lease. */
  | { readonly mayTake: false; readonly sighting: LeaseSighting; readonly waitMs: number }

/**
 * What a contender may do about the record it just read. It may take a free record at once, and one
 * that names the contender itself (the answer to its own write was lost). It may take another holder's
 * record only after it saw the same renewal for a whole lease time. `now` is the contender's clock
 * after the read was answered.
 */
export function judgeLease(
  record: LeaseState | null,
  contender: string,
  earlier: LeaseSighting | null,
  now: number,
): LeaseVerdict {
  if (record === null || record.owner === null || record.owner === contender) {
    return { mayTake: true }
  }
  const since =
    earlier !== null && isSame(earlier, record) && earlier.since <= now ? earlier.since : now
  if (!isWithinTtl(since, now)) return { mayTake: true }
  const waitMs = since + sweepLeaseTtlMs - now
  return {
    mayTake: false,
    sighting: { owner: record.owner, renewal: record.renewal, since },
    waitMs,
  }
}

/** The owner counts too: a lease store that lost its data starts counting renewals again. */
function isSame(a: LeaseState, b: LeaseState): boolean {
  return a.owner === b.owner && a.renewal === b.renewal
}

/** The record that replaces `seen`: a renewal, a takeover, or with owner null a release. */
export function leaseAfter(seen: LeaseState | null, owner: string | null): LeaseState {
  return { owner, renewal: (seen?.renewal ?? 0) + 1 }
}
