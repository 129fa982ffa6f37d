/** Thrown for a key that cannot encrypt configuration secrets. The message never repeats the key. */
export class SecretKeyError extends Error {
  override readonly name = 'SecretKeyError'
  /** The id of the key in the ring. */
  readonly keyId: string

  constructor(keyId: string, problem: string) {
    super(`The configuration encryption key "${keyId}" ${problem}`)
    this.keyId = keyId
  }
}
