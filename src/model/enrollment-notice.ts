/** That the owner of a factor was not told of it yet; it is part of the factor's own document. */
export interface EnrollmentNotice {
  /** When the process that sweeps has to look at it; null once the owner was told. */
  readonly expiresAt: number | null
  /** The intent that stored the factor; null once the owner was told. */
  readonly enrollmentId: string | null
}
