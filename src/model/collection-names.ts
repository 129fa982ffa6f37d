/** The names of the collections, without prefix and surface. */
export const collectionNames = [
  'users',
  'sessions',
  'refresh_tokens',
  'tickets',
  'password_histories',
  'audit_records',
  'webhook_deliveries',
  'account_deletions',
  'backup_codes',
  'login_tickets',
  'passkey_challenges',
  'passkeys',
  'step_up_proofs',
  'totp_factors',
  'trusted_devices',
  'oauth_identities',
  'oauth_flows',
  'oauth_codes',
  'roles',
  'role_bindings',
  'modules',
  'module_environments',
  'module_revisions',
  'service_account_credentials',
] as const

/** The name of a collection, without prefix and surface. */
export type CollectionName = (typeof collectionNames)[number]
