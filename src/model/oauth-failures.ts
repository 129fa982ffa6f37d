import type { OauthFailure } from '../ports/events.js'

/** The codes that the host's page gets for a failed flow. It would not see a status. */
export const oauthFailures = [
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
] as const satisfies readonly OauthFailure[]
