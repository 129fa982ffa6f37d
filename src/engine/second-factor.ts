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
