/** An outside call did not answer in time. The message names the call and the time, nothing else. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}
