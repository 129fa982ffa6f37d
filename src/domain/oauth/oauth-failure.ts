import { AuthError, type ErrorCode } from '../../errors/index.js'
import { ProviderError } from '../../identity-providers/provider-error.js'
import { oauthFailures } from '../../model/intents.js'
import type { OauthFailure } from '../../ports/events.js'

/** The `?error=` of a flow that came to nothing; null for what is no outcome of it: an outage. */
export function oauthFailureOf(error: unknown): OauthFailure | null {
  if (error instanceof ProviderError) return error.isDenial ? 'oauth_denied' : 'oauth_failed'
  if (!(error instanceof AuthError)) return null
  // Nothing more is said of an account that may not sign in.
  const code: ErrorCode = error.code === 'invalid_credentials' ? 'oauth_failed' : error.code
  return oauthFailures.find((failure) => failure === code) ?? null
}
