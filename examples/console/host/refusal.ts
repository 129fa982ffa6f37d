/** A refusal of this host's own, beside the `AuthError`s of the library. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly code: string

  /** `detail` is shown to the caller. */
  constructor(status: number, code: string, detail: string) {
    super(detail)
    this.status = status
    this.code = code
  }
}
