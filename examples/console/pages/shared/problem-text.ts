import { isPosternError, type PasswordViolation, type PosternProblem } from 'postern/client'

const texts: Readonly<Record<string, string>> = {
  invalid_credentials: 'The e-mail address or the password is not right.',
  invalid_mfa_code: 'This code is not right, or it was used before. Wait for the next one.',
  mfa_ticket_invalid: 'This sign-in took too long or had too many tries. Begin again.',
  invalid_token: 'This link was used before, or a newer one replaced it.',
  token_expired: 'This link is too old. Ask for a new one.',
  current_password_required: 'Your password is needed for this.',
  password_choice_required: 'Choose a password to go on.',
  password_policy: 'This password cannot be used.',
  terms_not_accepted: 'Please accept the terms.',
  email_not_verified: 'This address is not confirmed yet. Open the link in the mail.',
  email_not_allowed: 'No mail can be sent to this address.',
  email_domain_not_allowed: 'Addresses of this domain cannot be used here.',
  registration_disabled: 'New accounts are not made here.',
  password_login_disabled: 'Signing in with a password is switched off.',
  account_deletion_disabled: 'Accounts cannot be deleted here.',
  mfa_method_disabled: 'This method is switched off.',
  mfa_enrollment_required:
    'Add an authenticator app or a passkey first: this asks for a second factor.',
  step_up_required: 'This asks for a recent proof. Sign out and in again.',
  factor_already_enrolled: 'There is an authenticator app already.',
  last_factor_required: 'A second factor is required: add another one before you remove this.',
  last_login_method: 'It is the last way to sign in to this account.',
  webauthn_failed: 'This passkey could not be checked.',
  session_revoked: 'You were signed out.',
  session_max_age_reached: 'Your session reached its greatest age. Sign in again.',
  refresh_token_expired: 'You were away for long. Sign in again.',
  refresh_token_invalid: 'Your session has ended. Sign in again.',
  refresh_token_reused: 'Your session was used from two places and was ended. Sign in again.',
  oauth_denied: 'The provider did not let you sign in.',
  oauth_failed: 'The provider could not be asked. Try again.',
  account_exists_link_required:
    'There is an account with this address. Sign in with it, then link the provider.',
  identity_already_linked: 'This account of the provider is linked already.',
  server_busy: 'The server is busy. Try again in a moment.',
  service_unavailable: 'The server cannot do this at the moment. Try again.',
  session_enforcement_unavailable: 'Your session cannot be checked at the moment. Try again.',
  authorization_unavailable: 'Permissions cannot be checked at the moment. Try again.',
}

const violations: Readonly<Record<PasswordViolation, string>> = {
  too_short: 'it is too short',
  too_long: 'it is too long',
  common: 'it is a common password',
  contextual: 'it is made of your name, your address or the name of this site',
  breached: 'it is known from a data breach',
  reused: 'you have used it before',
}

/** What to tell a person about anything that a call rejected with, at the field of this name where it has one. */
export function problemText(error: unknown, field?: string): string {
  if (!isPosternError(error)) return unexpected(error)
  if (error.kind === 'network') return 'The server cannot be reached. Check the connection.'
  if (error.kind === 'abort') return 'This was given up.'
  return error.kind === 'problem' ? refusalText(error, field) : unexpected(error)
}

/** A reason by its code alone, such as the reason of a sign-out; null where there is nothing to tell. */
export function codeText(code: string | null): string | null {
  return code === null ? null : (texts[code] ?? null)
}

function refusalText(problem: PosternProblem, field?: string): string {
  const { code, detail, status, retryAfter } = problem
  // Who is signed in gives no address.
  if (code === 'invalid_credentials' && field === 'currentPassword')
    return 'The password is not right.'
  if (code === 'invalid_credentials' && field === 'mailedCode')
    return 'This code is not right, or it is used up. Ask for another one.'
  if (code === 'password_policy' && problem.violations.length > 0) {
    const reasons = problem.violations.map((one) => violations[one] ?? one)
    return `This password cannot be used: ${reasons.join(', and ')}.`
  }
  if (code === 'rate_limited') return `Too many tries. Try again ${after(retryAfter)}.`
  if (code === 'permission_denied') return 'You may not do this: a permission is missing.'
  return texts[code] ?? (detail || `The server refused (${status}).`)
}

function after(seconds: number | null): string {
  if (seconds === null) return 'later'
  return seconds < 90 ? `in ${seconds} seconds` : `in ${Math.ceil(seconds / 60)} minutes`
}

/** The browser's own errors, such as those of passkeys, which end with what the user did. */
function unexpected(error: unknown): string {
  if (!(error instanceof Error)) return 'Something went wrong.'
  if (error.name === 'NotAllowedError')
    return 'The passkey was not used: it was cancelled, or none fits.'
  if (error.name === 'InvalidStateError')
    return 'This device has a passkey of this account already.'
  return `Something went wrong: ${error.message}`
}
