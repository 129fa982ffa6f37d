/** The second factors there are. */
export type SecondFactorMethod = 'totp' | 'backupCode' | 'webauthn'

/** What an account has to show a second factor with. */
export interface EnrolledFactors {
  readonly totp: boolean
  /** How many there are. */
  readonly passkeys: number
  /** How many of them verified the person at least once. The others may be unable to. */
  readonly verifyingPasskeys: number
  /** Backup codes not used yet. They belong to a factor and are none by themselves. */
  readonly backupCodes: number
}

/** Which kinds of factor are switched on. One that is off takes no new enrolment. */
export interface AllowedFactors {
  readonly totp: boolean
  readonly webauthn: boolean
  /** Whether a passkey has to verify the person. */
  readonly userVerification: boolean
}

export interface SecondFactorQuestion {
  readonly policy: 'off' | 'optional' | 'required'
  readonly enrolled: EnrolledFactors
  readonly allowed: AllowedFactors
}

export type SecondFactorDecision =
  | { readonly kind: 'none' }
  | { readonly kind: 'ask'; readonly methods: readonly SecondFactorMethod[] }
  /** The policy wants a second factor and the account has none. */
  | { readonly kind: 'enroll' }

/**
 * What a login still lacks after its first factor. Recomputed from the factors at every login, never
 * from something remembered about them.
 */
export function decideSecondFactor(question: SecondFactorQuestion): SecondFactorDecision {
  const { policy } = question
  if (policy === 'off') return { kind: 'none' }
  const methods = usableMethods(question)
  if (methods.length === 0) return { kind: policy === 'required' ? 'enroll' : 'none' }
  return { kind: 'ask', methods }
}

/**
 * The methods an account can show a second factor with, in the order they are offered. A kind that is switched off is
 * left out for a user with another one that works; a user without is asked for it all the same. Otherwise switching a kind
 * off would let its holders in by the password alone, or lock them out.
 */
export function usableMethods({
  enrolled,
  allowed,
}: Pick<SecondFactorQuestion, 'enrolled' | 'allowed'>): readonly SecondFactorMethod[] {
  const all = factorsOf(enrolled, { totp: true, webauthn: true })
  const works = (enrolled.totp && allowed.totp) || hasWorkingPasskey({ enrolled, allowed })
  const factors = works ? factorsOf(enrolled, allowed) : all
  // The way back for a user who lost the factor, whatever is switched off.
  return factors.length > 0 && enrolled.backupCodes > 0 ? [...factors, 'backupCode'] : factors
}

/** One that never verified the person may be refused where that is asked for. */
function hasWorkingPasskey({
  enrolled,
  allowed,
}: Pick<SecondFactorQuestion, 'enrolled' | 'allowed'>): boolean {
  if (!allowed.webauthn) return false
  return (allowed.userVerification ? enrolled.verifyingPasskeys : enrolled.passkeys) > 0
}

function factorsOf(
  enrolled: EnrolledFactors,
  allowed: Pick<AllowedFactors, 'totp' | 'webauthn'>,
): SecondFactorMethod[] {
  const factors: SecondFactorMethod[] = []
  if (enrolled.totp && allowed.totp) factors.push('totp')
  if (enrolled.passkeys > 0 && allowed.webauthn) factors.push('webauthn')
  return factors
}

/** Whether there is a factor that is one by itself. */
export function hasFactor({ totp, passkeys }: Pick<EnrolledFactors, 'totp' | 'passkeys'>): boolean {
  return totp || passkeys > 0
}

/** The settings that say so, a structural part of all settings. */
export function allowedFactors(settings: {
  readonly totpEnabled: boolean
  readonly webauthnMode: 'off' | 'secondFactor' | 'passwordless'
  readonly webauthnUserVerification: 'required' | 'preferred'
}): AllowedFactors {
  return {
    totp: settings.totpEnabled,
    webauthn: settings.webauthnMode !== 'off',
    userVerification: settings.webauthnUserVerification === 'required',
  }
}

const ending = ' stored'

/**
 * What an enrolment writes into the notice of its factor once that stands. Until then its own id stands there, which
 * lets a request that was cut off go on.
 */
export function enrolledMark(intentId: string): string {
  return intentId + ending
}

/** Whether this is the mark of any enrolment. */
export function isEnrolledMark(mark: string): boolean {
  return mark.endsWith(ending)
}

/** A factor as its enrolment stored it. `enrollmentId` is null once the owner was told. */
interface StoredFactor {
  readonly enrollmentId: string | null
  readonly deviceEpoch: number
  readonly credentialEpoch: number
}

/** The account as it is now. */
interface Account {
  readonly lastIntentId: string | null
  readonly settledEnrollmentId: string | null
  readonly deviceEpoch: number
  readonly credentialEpoch: number
}

/**
 * Whether the enrolment of a factor is complete, or may still be completed. It is neither where its request was cut off
 * and a reset, or anything else that voids it, came first: the sweep takes such a factor away, and until then no
 * sign-in succeeds by it.
 */
export function enrollmentStands(factor: StoredFactor, account: Account): boolean {
  const { enrollmentId } = factor
  if (enrollmentId === null || isEnrolledMark(enrollmentId)) return true
  if (account.settledEnrollmentId === enrollmentId) return true
  // Another intent had its effect since. Had this enrolment been complete by then, the factor would say so.
  if (account.lastIntentId !== enrollmentId) return false
  const hasSameCredentials = account.credentialEpoch === factor.credentialEpoch
  return hasSameCredentials && account.deviceEpoch === factor.deviceEpoch + 1
}

/** What a stored grant says of itself. Times are epoch milliseconds. */
interface Grant {
  readonly userId: string
  readonly deviceEpoch: number
  readonly createdAt: number
  readonly expiresAt: number
}

/** Under what the grant is looked at. */
interface Circumstances {
  readonly user: { readonly id: string; readonly deviceEpoch: number }
  readonly now: number
  /** How long trust lasts by the settings of now: shortened, it ends older grants as well. */
  readonly ttlMs: number
}

/**
 * Whether a grant may stand for this user's second factor: it is theirs, nothing voided it
 * since, and its time is not up. One from the future comes from a wrong clock or is forged.
 */
export function isTrusted(grant: Grant, { user, now, ttlMs }: Circumstances): boolean {
  if (grant.userId !== user.id || grant.deviceEpoch !== user.deviceEpoch) return false
  return grant.createdAt <= now && now < trustedUntil(grant, ttlMs)
}

/** Epoch milliseconds from which the grant counts for nothing. */
export function trustedUntil(
  { createdAt, expiresAt }: Pick<Grant, 'createdAt' | 'expiresAt'>,
  ttlMs: number,
): number {
  return Math.min(expiresAt, createdAt + ttlMs)
}

/** Crockford's alphabet: digits and letters without I, L, O and U. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * The `index`-th code of a set, as it is shown: `xxxxx-xxxxx`. Its first character names its place
 * in the set, so that a guess costs one hash however many codes there are; the other nine are 45
 * random bits.
 *
 * @param random at least nine random bytes
 */
export function formatBackupCode(index: number, random: Uint8Array): string {
  // 256 is a multiple of 32: every character is as likely as any other.
  const letters = Array.from(random.subarray(0, 9), (byte) => alphabet[byte % 32] ?? '')
  const code = (alphabet[index] ?? '') + letters.join('')
  return `${code.slice(0, 5)}-${code.slice(5)}`
}

/** A typed code and its place in the set. */
export interface TypedBackupCode {
  readonly index: number
  /** As it was hashed. */
  readonly code: string
}

/**
 * Reads what a person typed, in any case, with O for 0 and I or L for 1, as Crockford's alphabet has it. Null for
 * anything else.
 */
export function parseBackupCode(typed: string): TypedBackupCode | null {
  const plain = plainCode(typed).toUpperCase().replaceAll('O', '0').replaceAll(/[IL]/g, '1')
  if (!/^[0-9A-HJKMNP-TV-Z]{10}$/.test(plain)) return null
  const code = `${plain.slice(0, 5)}-${plain.slice(5)}`
  return { index: alphabet.indexOf(code.charAt(0)), code }
}

/**
 * A code without what keyboards, apps and the clipboard add to it: blanks, dashes and invisible marks. Its digits may
 * be of any script.
 */
export function plainCode(typed: string): string {
  const plain = typed.normalize('NFKC').replaceAll(/[\s\p{Pd}\p{Cf}\u2212]/gu, '')
  return plain.replaceAll(/\p{Nd}/gu, (digit) => String(digitValue(digit.codePointAt(0) ?? 0)))
}

/** Each script has its digits in ten places beside each other, from 0 to 9 (UAX #44, General_Category Nd). */
function digitValue(codePoint: number): number {
  let zero = codePoint
  while (/^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero -= 1
  return (codePoint - zero) % 10
}

/**
 * Whether a signature counter says that the authenticator was copied (WebAuthn §6.1.1). One that
 * stays at zero is of an authenticator that keeps none, such as a synced passkey.
 */
export function isRegressed(stored: number, shown: number): boolean {
  return (stored > 0 || shown > 0) && shown <= stored
}
