/**
 * What a module's validator returns or throws to refuse values. With a `code` (dotted, such as
 * `tenant.single_mode_conflict`) callers get 422 with `message` as the detail; without one they get
 * the bare text `Unprocessable Entity`.
 */
export class ConfigValidationError extends Error {
  override readonly name = 'ConfigValidationError'
  /** The key that is wrong, such as `sender` or `hooks.gmail-eu.url`. */
  readonly field: string
  readonly code?: string

  /** `message` is shown to whoever edits the configuration: it must not quote a secret. */
  constructor(field: string, message: string, code?: string) {
    super(message)
    this.field = field
    if (code !== undefined) this.code = code
  }
}
