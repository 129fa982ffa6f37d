/**
 * The cause of a refusal: a token names a signing key that the ring does not hold. The token may be
 * genuine, so no cookie is cleared for it.
 */
export class UnknownKeyError extends Error {
  override readonly name = 'UnknownKeyError'

  constructor() {
    super('the token names a signing key that the ring does not hold')
  }
}
