const remedies: Readonly<Record<NotMigratedError['code'], string>> = {
  await_auth_migrate_before_serving: 'await auth.migrate() before serving',
  await_auth_migrate_or_store_prepare:
    'before serving, await auth.migrate(), or store.prepare([]) of a Redis that holds no ' +
    'collection. If it was there before, the server has lost its data',
}

/** What a call needs is not in the database yet; the name and the code are what reaches the host's log. */
export class NotMigratedError extends Error {
  override readonly name = 'NotMigratedError'
  /** Says what to do. The second is that of a store which may hold no collection at all. */
  readonly code: 'await_auth_migrate_before_serving' | 'await_auth_migrate_or_store_prepare'

  constructor(
    missing: string,
    cause?: unknown,
    code: NotMigratedError['code'] = 'await_auth_migrate_before_serving',
  ) {
    super(`${missing}; ${remedies[code]}`, cause === undefined ? {} : { cause })
    this.code = code
  }
}
