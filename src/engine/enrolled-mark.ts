const ending = ' stored'

/**
 * What an enrolment writes into `lastIntentId` of the user once its factor is stored, and then into the notice of the
 * factor. Until then its own id stands there, which lets a request that was cut off go on.
 */
export function enrolledMark(intentId: string): string {
  return intentId + ending
}

/** Whether this is the mark of any enrolment. */
export function isEnrolledMark(mark: string): boolean {
  return mark.endsWith(ending)
}

/** The id of the enrolment that is complete by this mark; null for any other. */
export function enrollmentOf(lastIntentId: string | null): string | null {
  return lastIntentId?.endsWith(ending) ? lastIntentId.slice(0, -ending.length) : null
}
