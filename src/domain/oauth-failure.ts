import { AuthError, type ErrorCode } from '../errors.js'
import { ProviderError } from '../oauth/provider-error.js'
import type { OauthFailure } from '../ports/telemetry.js'

/** What the host's page is told, in place of a status it would not see (G-14). */
const told: readonly OauthFailure[] = [
  'oauth_denied',
  'oauth_failed',
  'oauth_provider_disabled',
  'oauth_email_unverified',
  'account_exists_link_required',
  'identity_already_linked',
  'registration_disabled',
  'email_domain_not_allowed',
  'email_not_allowed',
  'email_not_verified',
  'terms_not_accepted',
]

/** The `?error=` of a trip that came to nothing; null for what is no outcome of it: an outage. */
export function oauthFailureOf(error: unknown): OauthFailure | null {
  if (error instanceof ProviderError) return error.isDenial ? 'oauth_denied' : 'oauth_failed'
  if (!(error instanceof AuthError)) return null
  // Of an account that may not sign in nothing more is said.
  const code: ErrorCode = error.code === 'invalid_credentials' ? 'oauth_failed' : error.code
  return told.find((failure) => failure === code) ?? null
}
