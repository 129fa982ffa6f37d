import { type DomainRule, isDomainAllowed, isUndeliverable } from './email.js'

/** The settings' conditions for an account that is created without a password. */
interface SignUpRules {
  readonly registrationEnabled: boolean
  readonly allowedDomains: readonly DomainRule[]
  /** Empty = no terms have to be accepted. */
  readonly requiredTerms: string
}

interface SignUp {
  /** The canonical address that the provider confirmed; null without one. */
  readonly email: string | null
  readonly acceptedTerms: string
}

export type SignUpRefusal =
  | 'registration_disabled'
  | 'oauth_email_unverified'
  | 'email_not_allowed'
  | 'email_domain_not_allowed'
  | 'terms_not_accepted'

/** Why an account may not be made, whether or not the address is free; null when it may. */
export function signUpRefusal(
  rules: SignUpRules,
  { email, acceptedTerms }: SignUp,
): SignUpRefusal | null {
  const { requiredTerms } = rules
  if (!rules.registrationEnabled) return 'registration_disabled'
  if (email === null) return 'oauth_email_unverified'
  if (isUndeliverable(email)) return 'email_not_allowed'
  if (!isDomainAllowed(email, rules.allowedDomains)) return 'email_domain_not_allowed'
  return requiredTerms === '' || acceptedTerms === requiredTerms ? null : 'terms_not_accepted'
}
