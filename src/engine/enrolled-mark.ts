/**
 * What an enrolment writes into `lastIntentId` of the user once its factor is stored. Until then its own
 * id stands there, which lets a request that was cut off go on.
 */
export function enrolledMark(intentId: string): string {
  return `${intentId} stored`
}
