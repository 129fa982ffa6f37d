import type { OauthFailure } from '../ports/login-event.js'

/** What the host's page is told of a flow that came to nothing, in place of a status it would not see. */
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
