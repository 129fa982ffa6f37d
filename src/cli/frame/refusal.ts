/** What the person reads instead of a stack, with the exit code. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: number

  constructor(message: string, code = 1, options?: { readonly cause: unknown }) {
    super(message, options)
    this.code = code
  }
}
