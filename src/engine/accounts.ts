import {
  canonicalEmail,
  type DomainRule,
  domainOf,
  isDomainAllowed,
  isUndeliverable,
} from './addresses.js'
import { keysIn } from './login-risk-rules.js'
import { type SettingsOfBoth, settingsFor } from './surface-settings.js'
import { isSingleLine, isStorable, utf8Length } from './text.js'

/** What a provider says of the address of one of its accounts. */
interface VouchedAddress {
  readonly provider: string
  /** As the provider wrote it; null when it gave none. */
  readonly email: string | null
  /** Google: the mailbox was confirmed once. Microsoft: the tenant owns the domain (`xms_edov`). */
  readonly emailVerified: boolean
  /** Google's `hd`: the Workspace domain of the account; null where it has none. */
  readonly hostedDomain: string | null
  /** The domains of which a declared provider is the directory. */
  readonly authoritativeFor?: readonly string[]
}

/** The domains whose mailboxes the provider runs itself. */
const ownDomains: ReadonlyMap<string, readonly string[]> = new Map([
  ['google', ['gmail.com']],
  ['apple', ['icloud.com', 'me.com', 'mac.com', 'privaterelay.appleid.com']],
])

/**
 * Whether the provider vouches for an address: it runs the mailbox, or its owner's directory, so that no earlier owner
 * of the address can sign in there. Any other address was confirmed once, and may belong to another person by now.
 * GitHub vouches for none.
 */
export function isVouchedFor({
  provider,
  email: given,
  emailVerified,
  hostedDomain,
  authoritativeFor = [],
}: VouchedAddress): boolean {
  const email = emailVerified ? canonicalEmail(given ?? '') : null
  if (email === null) return false
  const domain = domainOf(email)
  if (ownDomains.get(provider)?.includes(domain)) return true
  if (authoritativeFor.includes(domain)) return true
  if (provider === 'microsoft') return true
  return provider === 'google' && hostedDomain?.toLowerCase() === domain
}

/** The ways in which an account is made or opened. */
export type AccountEntry =
  /** Registration with a password, and the confirmation that makes the account of it. */
  | 'register'
  /** A sign-up by a provider, and the confirmation that makes the account of it. */
  | 'providerSignUp'
  /** The host's own code. */
  | 'create'
  /** A move of an account to another address. */
  | 'addressChange'
  | 'passwordLogin'
  | 'passkeyLogin'
  | 'providerLogin'
  /** A mailed code, from asking for it to using it. */
  | 'codeLogin'
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
  readonly systemRole?: string
  readonly enabled: boolean
  readonly emailVerifiedAt: number | null
}

/** What is known so far: a condition on what is not known yet is left for the next question. */
export interface EntryFacts {
  readonly applicant?: Applicant
  readonly account?: Standing
}

type Condition = (rules: EntryRules, facts: EntryFacts) => EntryRefusal | null

/** Roles whose accounts are worth more than a mailbox shows. */
const withoutCodes: readonly string[] = ['service', 'super_admin', 'administrator', 'developer']

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
  unprivileged: (_, { account: { systemRole = '' } = {} }) =>
    withoutCodes.includes(systemRole.trim().toLowerCase()) ? 'invalid_credentials' : null,
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
  codeLogin: ['inGoodStanding', 'unprivileged', 'mailboxProved'],
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

/** A mailed code as the first factor. No provider can have this id. */
export const codeMethod = 'email_code'

/** The way in of a login, by its first factor: `password`, `webauthn`, `email_code` or the id of a provider. */
export function loginEntry(method: string): AccountEntry {
  if (method === 'password') return 'passwordLogin'
  if (method === codeMethod) return 'codeLogin'
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

/**
 * Whether a sign-up by a provider waits for a mailed link. A domain is a rule about who somebody is: an address that was
 * confirmed once does not say that.
 */
export function isLinkRequired({ allowedDomains }: EntryRules, isVouchedFor: boolean): boolean {
  return allowedDomains.length > 0 && !isVouchedFor
}

/** What of an account decides how its mailbox may be proved. */
interface Provable {
  readonly kind?: string | null
  readonly enabled: boolean
  readonly selfRegistered: boolean
  readonly emailVerifiedAt: number | null
  readonly systemRole: string
  readonly passwordHash: string | null
  readonly memberships: readonly unknown[]
}

/**
 * True if the mailbox must be proved before the first login. A policy that requires a second factor
 * implies it: an account takes no factor before.
 */
export function isVerificationRequired(
  { emailVerificationRequired }: { readonly emailVerificationRequired: boolean },
  { mfaPolicy }: { readonly mfaPolicy: 'off' | 'optional' | 'required' },
): boolean {
  return emailVerificationRequired || mfaPolicy === 'required'
}

/**
 * How a mailed link confirms an account that exists:
 * - `alone`: there is no password, and the token is enough
 * - `clear`: passwords are switched off, so the one there is goes
 * - `ask`: the account has a password, and the caller must name one
 * - `compare`: the present password stays if it is the one named, else the named one replaces it
 * - `choose`: there is no password, and the caller names one
 */
export type LinkProof = 'alone' | 'clear' | 'ask' | 'compare' | 'choose'

/** The caller who shows the link proves the mailbox, and not that the password there is theirs. */
export function linkProof(
  { passwordHash }: Pick<Provable, 'passwordHash'>,
  { passwordLoginEnabled }: { readonly passwordLoginEnabled: boolean },
  namesPassword: boolean,
): LinkProof {
  if (passwordHash === null) return namesPassword && passwordLoginEnabled ? 'choose' : 'alone'
  if (!passwordLoginEnabled) return 'clear'
  return namesPassword ? 'compare' : 'ask'
}

/** What else an account has that tells whether a provider may open it. */
interface Attached {
  readonly bindings: number
  readonly identities: number
  readonly factors: number
}

/**
 * Whether a provider that vouches for the address may open the account that has it:
 * - `prove`: the mailbox was never proved; what was planted on the account goes
 * - `join`: it was proved, and nothing can sign in to it: an earlier proof was cut short before the
 *   identity was stored, or passwords are switched off
 * - `refuse`: the owner signs in as before, and links the provider then
 */
export function providerProof(user: Provable, has: Attached): 'prove' | 'join' | 'refuse' {
  const isPlain =
    (user.kind ?? '') === '' &&
    user.enabled &&
    user.selfRegistered &&
    user.systemRole === 'guest' &&
    user.memberships.length === 0 &&
    has.bindings === 0
  if (!isPlain) return 'refuse'
  if (user.emailVerifiedAt === null) return 'prove'
  const hasWayIn = user.passwordHash !== null || has.identities > 0 || has.factors > 0
  return hasWayIn ? 'refuse' : 'join'
}

/** An account whose mailbox is being proved. */
interface Unproved extends Pick<Provable, 'selfRegistered'> {
  readonly email: string
  readonly name: string
  readonly termsVersion: string | null
  /** The counters that void what hangs on an account. */
  readonly sessionEpoch: number
  readonly credentialEpoch: number
  readonly deviceEpoch: number
  readonly secretsEpoch: number
}

/** What the owner of the mailbox brings. */
interface Proved {
  /** Null for an account without a password. */
  readonly passwordHash: string | null
  /** Their name, where it is known; else empty. */
  readonly name: string
  /** The terms that they accept with the proof; null for none. */
  readonly termsVersion: string | null
  readonly lastIntentId: string | null
}

/**
 * The one write by which an account comes to the owner of its mailbox. It retires all that could have
 * been planted before: password, sessions, mailed links and half-finished logins, and the name and the terms of a
 * registration that another person may have made. Its guard lets it through once in the life of an account.
 */
export function ownerProvedWrite(
  { sessionEpoch, credentialEpoch, deviceEpoch, secretsEpoch, email, ...before }: Unproved,
  { passwordHash, name, termsVersion, lastIntentId }: Proved,
  now: number,
) {
  // An account that the host made has the name that the host gave it.
  const typed = before.selfRegistered ? { name, termsVersion } : {}
  return {
    guard: {
      emailVerifiedAt: null,
      enabled: true,
      kind: '',
      email,
      sessionEpoch,
      credentialEpoch,
      deviceEpoch,
    },
    set: {
      ...typed,
      emailVerifiedAt: now,
      passwordHash,
      passwordChangedAt: passwordHash === null ? null : now,
      sessionEpoch: sessionEpoch + 1,
      credentialEpoch: credentialEpoch + 1,
      deviceEpoch: deviceEpoch + 1,
      secretsEpoch: secretsEpoch + 1,
      secretsChangedIn: null,
      ...sparesNone,
      lastIntentId,
      updatedAt: now,
    },
  }
}

/**
 * What the account gets that a mailed link makes:
 * - `registered`: what was registered in the same browser or app
 * - `named`: the password that comes with the link; the rest is what was registered in the same browser
 *   or app, and nothing where that was not there
 * - `ask`: nothing says which password its owner wants
 */
export type Beginning = 'registered' | 'named' | 'ask'

/**
 * The link proves the mailbox, and not that a registration is its owner's: a stranger can register any
 * address. That shows in the browser or app, which registered and now has the link.
 */
export function beginning(hasRegistration: boolean, namesPassword: boolean): Beginning {
  if (namesPassword) return 'named'
  return hasRegistration ? 'registered' : 'ask'
}

/**
 * How long registrations and links that confirm an address live, in milliseconds. Never shorter than the window in which
 * mails to an address are counted: a stranger who uses up an owner's mails leaves them with live links.
 */
export function registrationLifeMs(linkMs: number, mailWindowMs: number): number {
  return Math.max(linkMs, mailWindowMs)
}

/**
 * The keys in what a browser or app keeps of its registrations: one for each, so that several
 * addresses can be registered in one browser.
 */
export function registrationKeys(kept: string | null): readonly string[] {
  return keysIn(kept, 43)
}

/** What an end of all sessions writes that spares none, neither a session nor a login that waits. */
export const sparesNone = { keptSessionId: null, keptIntentId: null } as const

/** Whether an import of the account was cut off, or is under way. */
export function isUnfinishedImport({
  enabled,
  importState,
}: {
  readonly enabled: boolean
  readonly importState: string | null
}): boolean {
  return !enabled && importState !== null
}

/** What a host's code may say of a user, before anything is known of it but the names. */
interface Given {
  readonly name?: unknown
  readonly enabled?: unknown
  readonly emailVerified?: unknown
  readonly systemRole?: unknown
  readonly memberships?: unknown
}

/**
 * Every access token carries the memberships, and a token has to fit into a header: a user with more
 * could not sign in. The limit is in bytes, because 100 memberships can take up to 35 KB in base64url.
 */
const maxMembershipBytes = 4096

/**
 * The problem of a user's members, including values that a cast let through, as the end of a sentence
 * for the developer; null for correct members. Absent members are fine. It repeats no value.
 */
export function userProblem(given: Given): string | null {
  if (given.name !== undefined && !isStorable(given.name)) {
    return 'name must be a text, well-formed and without NUL.'
  }
  if (given.systemRole !== undefined && !isRoleName(given.systemRole)) {
    return `systemRole must be ${roleNameForm}.`
  }
  if (given.name !== undefined && !isSingleLine(String(given.name))) {
    return 'name must be a single line, without control characters and without those of bidirectional text.'
  }
  for (const key of ['enabled', 'emailVerified'] as const) {
    const flag = given[key]
    if (flag !== undefined && typeof flag !== 'boolean') return `${key} must be true or false.`
  }
  return given.memberships === undefined ? null : membershipsProblem(given.memberships)
}

function membershipsProblem(memberships: unknown): string | null {
  if (!Array.isArray(memberships) || !memberships.every((one) => isTenantId(one?.tenantId))) {
    return 'memberships must be an array of { tenantId }, each a text of 1 to 64 characters.'
  }
  if (utf8Length(JSON.stringify(memberships)) <= maxMembershipBytes) return null
  return `memberships must be ${maxMembershipBytes} bytes at most, written as JSON: access tokens carry them.`
}

/** The list with one tenant more, or one less; the same list where that changes nothing. */
export function membershipsAfter<T extends { readonly tenantId: string }>(
  memberships: readonly T[],
  change: { readonly add: T } | { readonly remove: string },
): readonly T[] {
  if ('add' in change) {
    const { tenantId } = change.add
    return memberships.some((one) => one.tenantId === tenantId)
      ? memberships
      : [...memberships, change.add]
  }
  const left = memberships.filter(({ tenantId }) => tenantId !== change.remove)
  return left.length === memberships.length ? memberships : left
}

/** A tenant's id is the host's: any text of 1 to 64 characters that a store can hold. */
export function isTenantId(id: unknown): id is string {
  return isStorable(id) && /^.{1,64}$/su.test(id)
}

/** Controls, separators and spaces but the usual one, and what is not seen (UAX #44). */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/u

/** How names of roles are, as the end of a sentence for the developer. */
export const roleNameForm =
  'a text of 1 to 100 characters in Unicode form NFC, without blanks around it and without characters that are not seen'

/**
 * Whether it may name a role, of a user or defined. Roles are compared exactly, so that two which look alike have to be
 * one: what a person reads in a list is what was granted.
 */
export function isRoleName(name: unknown): name is string {
  if (!isStorable(name) || !/^[^ ](?:.{0,98}[^ ])?$/su.test(name)) return false
  return name === name.normalize('NFC') && !unseen.test(name)
}

const maxPermissions = 200

/**
 * The problem of a role's name or permissions, as a sentence for the developer; null for a correct
 * role.
 */
export function roleProblem(name: unknown, permissions: unknown): string | null {
  if (!isRoleName(name)) return `name must be ${roleNameForm}.`
  if (!Array.isArray(permissions) || permissions.length > maxPermissions) {
    return `permissions must be an array of at most ${maxPermissions} keys.`
  }
  const odd = permissions.some((key) => !isStorable(key) || !/^[^\s*]{1,100}$/u.test(key))
  if (!odd) return null
  return 'permissions must be keys of 1 to 100 characters without white space. There are no wildcards: name each key.'
}

const peopleOnly: readonly string[] = ['super_admin', 'administrator']

/**
 * Whether a role is one that no service account may ever have. Roles that read alike are
 * alike: by the trimmed, lower-cased name.
 */
export function isPeopleOnlyRole(role: string): boolean {
  return peopleOnly.includes(role.trim().toLowerCase())
}
