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
 * Whether a provider that is authoritative for the address may open the account that has it:
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
  { sessionEpoch, credentialEpoch, deviceEpoch, email, ...before }: Unproved,
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
      keptSessionId: null,
      lastIntentId,
      updatedAt: now,
    },
  }
}
