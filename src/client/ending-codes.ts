// Made by `npm run generate` from the operation table.

/** A 401 with one of these says that the session is over. */
export const endingCodes: readonly string[] = [
  'session_revoked',
  'session_max_age_reached',
  'refresh_token_invalid',
  'refresh_token_expired',
  'refresh_token_reused',
]
