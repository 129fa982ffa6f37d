import { type DomainRule, isDomainAllowed, isUndeliverable } from './email.js'
import { isVerificationRequired } from './owner-proof.js'
import { type SettingsOfBoth, settingsFor } from './surface-settings.js'

/** The ways in which an account is made or opened. */
export type AccountEntry =
  /** Registration with a password, and the confirmation that makes the account of it. */
  | 'register'
  | 'providerSignUp'
  /** The host's own code. */
  | 'create'
  /** A move of an account to another address. */
  | 'addressChange'
  | 'passwordLogin'
  | 'passkeyLogin'
  | 'providerLogin'
  /** A mailed link that sets a password, from asking for it to using it. */
  | 'recovery'

export type EntryRefusal =
  | 'registration_disabled'
  | 'password_login_disabled'
  | 'mfa_method_disabled'
  | 'oauth_email_unverified'
  | 'email_not_allowed'
  | 'email_domain_not_allowed'
  | 'terms_not_accepted'
  | 'invalid_credentials'
  | 'email_not_verified'

/** The settings of a surface that decide about all ways in. */
export interface EntryRules {
  readonly registrationEnabled: boolean
  readonly passwordLoginEnabled: boolean
  /** Whether a passkey takes the place of both factors. */
  readonly passwordlessEnabled: boolean
  readonly allowedDomains: readonly DomainRule[]
  /** Empty = no terms have to be accepted. */
  readonly requiredTerms: string
  readonly verificationRequired: boolean
}

/** Whose account is to be made. */
interface Applicant {
  /** The canonical address, and null where a provider does not vouch for one. */
  readonly email: string | null
  readonly acceptedTerms: string
}

/** The account that is to be opened. */
interface Standing {
  readonly kind?: string | null
  readonly enabled: boolean
  readonly emailVerifiedAt: number | null
}

/** What is known so far: a condition on what is not known yet is left for the next question. */
export interface EntryFacts {
  readonly applicant?: Applicant
  readonly account?: Standing
}

type Condition = (rules: EntryRules, facts: EntryFacts) => EntryRefusal | null

const conditions = {
  registrationOpen: ({ registrationEnabled }) =>
    registrationEnabled ? null : 'registration_disabled',
  passwordsOn: ({ passwordLoginEnabled }) =>
    passwordLoginEnabled ? null : 'password_login_disabled',
  passwordlessOn: ({ passwordlessEnabled }) => (passwordlessEnabled ? null : 'mfa_method_disabled'),
  vouchedFor: (_, { applicant }) => (applicant?.email === null ? 'oauth_email_unverified' : null),
  deliverable: (_, { applicant }) =>
    isUndeliverable(applicant?.email ?? '') ? 'email_not_allowed' : null,
  domainAllowed: ({ allowedDomains }, { applicant }) =>
    applicant === undefined || isDomainAllowed(applicant.email ?? '', allowedDomains)
      ? null
      : 'email_domain_not_allowed',
  termsAccepted: ({ requiredTerms }, { applicant }) =>
    applicant === undefined || requiredTerms === '' || applicant.acceptedTerms === requiredTerms
      ? null
      : 'terms_not_accepted',
  inGoodStanding: (_, { account }) =>
    account === undefined || (account.enabled && (account.kind ?? '') === '')
      ? null
      : 'invalid_credentials',
  mailboxProved: ({ verificationRequired }, { account }) =>
    account?.emailVerifiedAt === null && verificationRequired ? 'email_not_verified' : null,
} as const satisfies Readonly<Record<string, Condition>>

/** The conditions of each way in, in the order in which they are judged. */
const conditionsOf: Readonly<Record<AccountEntry, readonly (keyof typeof conditions)[]>> = {
  register: ['registrationOpen', 'passwordsOn', 'deliverable', 'domainAllowed', 'termsAccepted'],
  // Not the password switch: such an account has none.
  providerSignUp: [
    'registrationOpen',
    'vouchedFor',
    'deliverable',
    'domainAllowed',
    'termsAccepted',
  ],
  // The host decides the rest; what gets no mail could never be proved.
  create: ['deliverable'],
  // Asked for and done: an account is not moved to where none could be made.
  addressChange: ['deliverable', 'domainAllowed'],
  passwordLogin: ['passwordsOn', 'inGoodStanding', 'mailboxProved'],
  passkeyLogin: ['passwordlessOn', 'inGoodStanding', 'mailboxProved'],
  providerLogin: ['inGoodStanding', 'mailboxProved'],
  recovery: ['passwordsOn'],
}

/** The settings that the conditions read. */
export function entryRules(
  surface: 'operator' | 'client',
  settings: SettingsOfBoth & {
    readonly registrationTermsVersion: string
    readonly emailVerificationRequired: boolean
    readonly webauthnMode: 'off' | 'secondFactor' | 'passwordless'
  },
): EntryRules {
  const own = settingsFor(surface, settings)
  return {
    registrationEnabled: own.registrationEnabled,
    passwordLoginEnabled: own.passwordLoginEnabled,
    passwordlessEnabled: settings.webauthnMode === 'passwordless',
    allowedDomains: own.allowedDomains,
    requiredTerms: settings.registrationTermsVersion,
    verificationRequired: isVerificationRequired(settings, own),
  }
}

/** The way in of a login, by its first factor: `password`, `webauthn` or the id of a provider. */
export function loginEntry(method: string): AccountEntry {
  if (method === 'password') return 'passwordLogin'
  return method === 'webauthn' ? 'passkeyLogin' : 'providerLogin'
}

/**
 * Why an account cannot be made or opened in this way; null when it can, as far as the facts go. Whether an address is
 * free is no part of it: the insert decides that.
 */
export function entryRefusal(
  entry: AccountEntry,
  rules: EntryRules,
  facts: EntryFacts = {},
): EntryRefusal | null {
  for (const name of conditionsOf[entry]) {
    const refusal = conditions[name](rules, facts)
    if (refusal !== null) return refusal
  }
  return null
}
