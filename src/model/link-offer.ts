import type { Doc } from '../ports/store.js'
import type { SurfaceSpec } from './surface-spec.js'

/**
 * An account at a provider whose sign-in bounced, because its address belongs to a user already. It is
 * offered to that user's next complete sign-in in the same browser or app. The id follows from what the
 * browser or app keeps. Single use: the link takes it.
 */
export interface LinkOffer extends Doc {
  /** The user whose address bounced. No other one can link it. */
  readonly userId: string
  readonly provider: string
  readonly issuer: string
  readonly subject: string
  /** The address that bounced, canonical: the user's then. */
  readonly email: string
  /** The session it was offered to; empty before that user signed in. */
  readonly sessionId: string
  /** The user's epochs at that sign-in; any other value voids the offer. 0 before. */
  readonly credentialEpoch: number
  readonly deviceEpoch: number
  readonly expiresAt: number
}

export const linkOffersSpec: SurfaceSpec<LinkOffer> = {
  fields: {
    userId: { kind: 'text' },
    provider: { kind: 'text' },
    issuer: { kind: 'text' },
    subject: { kind: 'text' },
    email: { kind: 'text' },
    sessionId: { kind: 'text' },
    credentialEpoch: { kind: 'integer' },
    deviceEpoch: { kind: 'integer' },
  },
  indexes: [{ on: ['userId'] }],
  expires: 'fixed',
}
