/** The cause of a refusal: a genuine token was issued in the future, so a clock of the host's processes is wrong. */
export class EarlyTokenError extends Error {
  override readonly name = 'EarlyTokenError'

  constructor() {
    super(
      'the token was issued in the future: the clock of this process, or of the one that issued it, is wrong',
    )
  }
}
