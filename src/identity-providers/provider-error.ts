/**
 * A sign-in that came to nothing at the provider, or by an answer that is not to be believed. Its
 * causes may quote tokens: log it through `describeError` only.
 */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  /** Whether it was the person who said no. */
  readonly isDenial: boolean

  constructor(
    message: string,
    options: { readonly isDenial?: true; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.isDenial = options.isDenial ?? false
  }
}
