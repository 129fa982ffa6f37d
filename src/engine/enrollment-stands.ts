import { enrolledMark, isEnrolledMark } from './enrolled-mark.js'

/** A factor as its enrolment stored it. `enrollmentId` is null once the owner was told. */
interface StoredFactor {
  readonly enrollmentId: string | null
  readonly deviceEpoch: number
  readonly credentialEpoch: number
}

/** The account as it is now. */
interface Account {
  readonly lastIntentId: string | null
  readonly deviceEpoch: number
  readonly credentialEpoch: number
}

/**
 * Whether the enrolment of a factor is complete, or may still be completed. It is neither where its request was cut off
 * and a reset, or anything else that voids it, came first: the sweep takes such a factor away, and until then no
 * sign-in succeeds by it.
 */
export function enrollmentStands(factor: StoredFactor, account: Account): boolean {
  const { enrollmentId } = factor
  if (enrollmentId === null || isEnrolledMark(enrollmentId)) return true
  if (account.lastIntentId === enrolledMark(enrollmentId)) return true
  // Another intent had its effect since. Had this enrolment been complete by then, the factor would say so.
  if (account.lastIntentId !== enrollmentId) return false
  const hasSameCredentials = account.credentialEpoch === factor.credentialEpoch
  return hasSameCredentials && account.deviceEpoch === factor.deviceEpoch + 1
}
