/**
 * A module's validator returns or throws it to refuse values. With a `code` (dotted, such as
 * `tenant.single_mode_conflict`), callers get 422 with `message` as the detail. Without one, they get
 * the bare text `Unprocessable Entity`.
 */
export class ConfigValidationError extends Error {
  override readonly name = 'ConfigValidationError'
  /** The key of the refused value, such as `sender` or `hooks.gmail-eu.url`. */
  readonly field: string
  readonly code?: string

  /** The administrator who edits the configuration sees `message`: it must not quote a secret. */
  constructor(field: string, message: string, code?: string) {
    super(message)
    this.field = field
    if (code !== undefined) this.code = code
  }
}
