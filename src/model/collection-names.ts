/** What the collections are called, without prefix and surface. */
export const collectionNames = [
  'users',
  'sessions',
  'refresh_tokens',
  'tickets',
  'password_histories',
  'audit_records',
  'webhook_deliveries',
  'backup_codes',
  'login_tickets',
  'step_up_proofs',
  'totp_factors',
  'modules',
  'module_environments',
  'module_revisions',
] as const

export type CollectionName = (typeof collectionNames)[number]
