/** What the collections of both surfaces are called, without prefix and surface. */
export const collectionNames = [
  'users',
  'sessions',
  'refresh_tokens',
  'tickets',
  'password_histories',
  'audit_records',
] as const

export type CollectionName = (typeof collectionNames)[number]
