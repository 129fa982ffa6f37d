/** Somebody else's answer did not come in time. The message holds nothing but what and how long. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}
