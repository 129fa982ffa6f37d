/** What a call needs is not in the database yet; the name is what reaches the host's log. */
export class NotMigratedError extends Error {
  override readonly name = 'NotMigratedError'
  readonly code = 'await_auth_migrate_before_serving'

  constructor(missing: string, cause?: unknown) {
    super(`${missing}; await auth.migrate() before serving`, cause === undefined ? {} : { cause })
  }
}
