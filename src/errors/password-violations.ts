/** The rules that a new password can violate, as a `password_policy` refusal lists them. */
export const passwordViolations = [
  'too_short',
  'too_long',
  'common',
  'contextual',
  'breached',
  'reused',
] as const

/** One of the rules of the password policy. */
export type PasswordViolation = (typeof passwordViolations)[number]
