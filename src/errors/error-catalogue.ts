/** The status and the text that a caller gets with an error. */
interface CatalogueEntry {
  readonly status: number
  readonly detail: string
}

/**
 * Every error that a caller can get, by code. The list is closed. The body of `unauthorized` has no
 * `code`: on a 401 without one, clients refresh and retry.
 */
export const errorCatalogue = {
  invalid_request: { status: 400, detail: 'The request is not of the expected form.' },
  invalid_token: { status: 400, detail: 'This link or token is not valid, or was used already.' },
  current_password_required: {
    status: 400,
    detail:
      'Open the link where you asked for the change and are signed in, or send the account’s password.',
  },
  password_choice_required: {
    status: 400,
    detail: 'This browser did not make the registration. Choose a password.',
  },
  webauthn_failed: { status: 400, detail: 'The passkey could not be registered. Start over.' },
  token_expired: { status: 400, detail: 'This link or token has expired.' },
  unsupported_grant_type: {
    status: 400,
    detail: 'The grant type must be "client_credentials".',
  },
  invalid_scope: { status: 400, detail: 'Tokens have no scope. Leave it out.' },
  invalid_oauth_state: {
    status: 400,
    detail: 'This sign-in was not begun in this browser, has expired, or is over. Start over.',
  },
  redirect_not_allowed: {
    status: 400,
    detail: 'The address to return to is not among the redirect targets of this surface and flow.',
  },
  oauth_failed: { status: 400, detail: 'Signing in with the provider did not succeed.' },
  unauthorized: { status: 401, detail: 'A valid access token is required.' },
  audience_mismatch: { status: 401, detail: 'This token was issued for another surface.' },
  session_revoked: { status: 401, detail: 'This session was ended.' },
  session_max_age_reached: { status: 401, detail: 'This session reached its maximum age.' },
  refresh_token_invalid: { status: 401, detail: 'This refresh token is not valid.' },
  refresh_token_expired: { status: 401, detail: 'This refresh token has expired.' },
  refresh_token_reused: {
    status: 401,
    detail: 'This refresh token was used before. The session was ended.',
  },
  mfa_ticket_invalid: { status: 401, detail: 'This login has expired. Start over.' },
  invalid_mfa_code: { status: 401, detail: 'The code is not valid.' },
  invalid_credentials: { status: 401, detail: 'The credentials are not valid.' },
  invalid_client: { status: 401, detail: 'The client credentials are not valid.' },
  permission_denied: { status: 403, detail: 'You are not permitted to do this.' },
  human_principal_required: { status: 403, detail: 'Only a person may do this.' },
  registration_disabled: { status: 403, detail: 'Registration is not open.' },
  email_domain_not_allowed: { status: 403, detail: 'Addresses of this domain are not accepted.' },
  email_not_verified: { status: 403, detail: 'The e-mail address is not verified yet.' },
  password_login_disabled: { status: 403, detail: 'Signing in with a password is switched off.' },
  account_deletion_disabled: {
    status: 403,
    detail: 'Accounts cannot be deleted by their owners here.',
  },
  oauth_denied: { status: 403, detail: 'Signing in was cancelled at the provider.' },
  oauth_provider_disabled: { status: 403, detail: 'This provider is switched off.' },
  oauth_email_unverified: {
    status: 403,
    detail: 'The provider does not confirm an e-mail address of this account.',
  },
  mfa_method_disabled: { status: 403, detail: 'This method is switched off.' },
  step_up_required: { status: 403, detail: 'A recent second-factor proof is required.' },
  mfa_enrollment_required: {
    status: 403,
    detail:
      'A recent second-factor proof is required, and the account has no factor yet. Enroll one.',
  },
  role_not_assignable: {
    status: 403,
    detail: 'This role cannot be given to a service account.',
  },
  csrf_rejected: { status: 403, detail: 'Requests from this origin are not accepted.' },
  not_found: { status: 404, detail: 'There is nothing here.' },
  module_not_found: { status: 404, detail: 'There is no such module.' },
  environment_not_found: { status: 404, detail: 'The module has no such environment.' },
  session_not_found: { status: 404, detail: 'There is no such session.' },
  user_not_found: { status: 404, detail: 'There is no such user.' },
  device_not_found: { status: 404, detail: 'There is no such device.' },
  factor_not_found: { status: 404, detail: 'There is no such factor.' },
  service_account_not_found: { status: 404, detail: 'There is no such service account.' },
  credential_not_found: { status: 404, detail: 'There is no such credential.' },
  method_not_allowed: { status: 405, detail: 'This method is not supported here.' },
  request_body_timeout: { status: 408, detail: 'The request body came too slowly.' },
  email_taken: { status: 409, detail: 'This e-mail address has an account already.' },
  import_unfinished: {
    status: 409,
    detail: 'The import of this account was cut off. Import its row again, and then enable it.',
  },
  memberships_changed: {
    status: 409,
    detail: 'The memberships of this user have changed meanwhile. Read them again.',
  },
  email_already_verified: { status: 409, detail: 'This e-mail address is verified already.' },
  account_exists_link_required: {
    status: 409,
    detail: 'This e-mail address has an account. Sign in to it as before.',
  },
  identity_already_linked: {
    status: 409,
    detail: 'An account of this provider is linked already, to you or to another user.',
  },
  last_login_method: { status: 409, detail: 'The last way to sign in cannot be removed.' },
  factor_already_enrolled: { status: 409, detail: 'This factor is enrolled already.' },
  last_factor_required: { status: 409, detail: 'The last factor cannot be removed.' },
  credential_limit_reached: {
    status: 409,
    detail: 'The account has two active credentials. Revoke one first.',
  },
  'config.revision_conflict': {
    status: 409,
    detail: 'The environment was changed meanwhile. Read it again and retry.',
  },
  'config.roster_conflict': {
    status: 409,
    detail: 'The elements of a list were changed meanwhile. Read the environment again and retry.',
  },
  payload_too_large: { status: 413, detail: 'The request body is larger than 64 KiB.' },
  unsupported_media_type: { status: 415, detail: 'The request body must be JSON.' },
  password_policy: { status: 422, detail: 'The password does not meet the policy.' },
  terms_not_accepted: { status: 422, detail: 'The current terms were not accepted.' },
  email_not_allowed: { status: 422, detail: 'This e-mail address cannot be used.' },
  'config.unknown_key': { status: 422, detail: 'The module declares no such field.' },
  'config.membership_not_allowed': {
    status: 422,
    detail: 'Elements are added and removed by recordLists of an environment alone.',
  },
  'config.removal_requires_revision': {
    status: 422,
    detail: 'Removing elements needs the revision they were seen at.',
  },
  'config.duplicate_field': { status: 422, detail: 'recordLists names a field more than once.' },
  'config.create_and_remove': {
    status: 422,
    detail: 'An element cannot be created and removed by one request.',
  },
  'config.too_many_elements': { status: 422, detail: 'The list would have too many elements.' },
  'config.invalid_slug': { status: 422, detail: 'A slug is malformed or named twice.' },
  rate_limited: { status: 429, detail: 'Too many requests. Try again later.' },
  internal_error: { status: 500, detail: 'Something went wrong.' },
  session_enforcement_unavailable: {
    status: 503,
    detail: 'The session cannot be checked right now. Keep your tokens and try again.',
  },
  authorization_unavailable: { status: 503, detail: 'Permission cannot be checked right now.' },
  server_busy: { status: 503, detail: 'The server is busy. Try again in a moment.' },
  service_unavailable: { status: 503, detail: 'The service is not available right now.' },
} as const satisfies Readonly<Record<string, CatalogueEntry>>

/** A code of the catalogue. */
export type ErrorCode = keyof typeof errorCatalogue

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Entity',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

/** The reason phrase of a status this library answers with. */
export function titleOf(status: number): string {
  return titles[status] ?? 'Error'
}
