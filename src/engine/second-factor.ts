/** The second factors there are. */
export type SecondFactorMethod = 'totp' | 'backupCode'

/** What an account has to show a second factor with. */
export interface EnrolledFactors {
  readonly totp: boolean
  /** Backup codes not used yet. They belong to a factor and are none by themselves. */
  readonly backupCodes: number
}

export interface SecondFactorQuestion {
  readonly policy: 'off' | 'optional' | 'required'
  readonly enrolled: EnrolledFactors
  /** Which methods the settings allow now. */
  readonly allowed: { readonly totp: boolean }
}

export type SecondFactorDecision =
  | { readonly kind: 'none' }
  | { readonly kind: 'ask'; readonly methods: readonly SecondFactorMethod[] }
  /** The policy wants a second factor and the account has none that may be used. */
  | { readonly kind: 'enroll' }

/**
 * What a login still lacks after its first factor. Recomputed from the factors at every login, never
 * from something remembered about them (MF-1).
 */
export function decideSecondFactor(question: SecondFactorQuestion): SecondFactorDecision {
  const { policy } = question
  if (policy === 'off') return { kind: 'none' }
  const methods = usableMethods(question)
  if (methods.length === 0) return { kind: policy === 'required' ? 'enroll' : 'none' }
  return { kind: 'ask', methods }
}

/** The methods an account can show a second factor with, in the order they are offered. */
export function usableMethods({
  enrolled,
  allowed,
}: Pick<SecondFactorQuestion, 'enrolled' | 'allowed'>): readonly SecondFactorMethod[] {
  const methods: SecondFactorMethod[] = []
  if (enrolled.totp && allowed.totp) methods.push('totp')
  // The way back for who lost the factor: also while the settings do not allow the factor itself.
  if (enrolled.totp && enrolled.backupCodes > 0) methods.push('backupCode')
  return methods
}
