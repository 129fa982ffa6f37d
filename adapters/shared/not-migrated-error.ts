const usual = 'await_auth_migrate_before_serving'

/** What a call needs is not in the database yet; the name and the code are what reaches the host's log. */
export class NotMigratedError extends Error {
  override readonly name = 'NotMigratedError'
  /** Says what to do. The second is that of a store which may hold no collection at all. */
  readonly code: 'await_auth_migrate_before_serving' | 'await_auth_migrate_or_store_prepare'

  /** `missing` says what is not there and, with a code, also what to do. */
  constructor(missing: string, cause?: unknown, code: NotMigratedError['code'] = usual) {
    super(
      code === usual ? `${missing}; await auth.migrate() before serving` : missing,
      cause === undefined ? {} : { cause },
    )
    this.code = code
  }
}
