import type { Doc } from '../ports/store.js'
import type { EnrollmentNotice } from './enrollment-notice.js'
import type { SurfaceSpec } from './surface-spec.js'

/** A user's authenticator app (RFC 6238). A user has at most one; the id is the user's. */
export interface TotpFactor extends Doc, EnrollmentNotice {
  readonly userId: string
  /** The shared secret, encrypted. */
  readonly sealedSecret: string
  /** The id of the configuration key that encrypted it. */
  readonly keyId: string
  /** False until a code of it was shown. An unconfirmed app does not count as a factor. */
  readonly confirmed: boolean
  /** The newest time step whose code was accepted; 0 before the first. Never goes back. */
  readonly lastStep: number
  /** Names the attempt to remove it that is under way, or that was cut off; see `FactorRemoval`. */
  readonly removingBy: string | null
  readonly createdAt: number
  /** The session or the login ticket that enrolls it; it counts until the app is confirmed. */
  readonly boundTo: string
  /** The user's epochs when the enrolment began; any other value voids it until it is confirmed. */
  readonly credentialEpoch: number
  readonly deviceEpoch: number
}

export const totpFactorsSpec: SurfaceSpec<TotpFactor> = {
  fields: {
    userId: { kind: 'text' },
    sealedSecret: { kind: 'text' },
    keyId: { kind: 'text' },
    confirmed: { kind: 'boolean' },
    lastStep: { kind: 'integer' },
    removingBy: { kind: 'text', nullable: true },
    enrollmentId: { kind: 'text', nullable: true },
    createdAt: { kind: 'time' },
    boundTo: { kind: 'text', default: '' },
    credentialEpoch: { kind: 'integer', default: 0 },
    deviceEpoch: { kind: 'integer', default: 0 },
  },
  indexes: [{ on: ['keyId'] }],
  // When its owner has to be told of it.
  expires: 'due',
}
