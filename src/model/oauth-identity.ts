import type { Doc } from '../ports/store.js'
import type { SurfaceSpec } from './surface-spec.js'

/**
 * An account at an identity provider by which a user of this surface signs in. The id is the
 * SHA-256 of provider, issuer and subject, so that one such account belongs to one user; a user has
 * at most one of each provider. An address is no part of it: addresses change hands.
 */
export interface OauthIdentity extends Doc {
  readonly userId: string
  /** The id of the provider, such as `google`. */
  readonly provider: string
  readonly issuer: string
  readonly subject: string
  /** Epoch milliseconds. */
  readonly linkedAt: number
  /**
   * The random mark of the request that is about to remove it; null without one. A marked identity
   * still signs in, but does not count as a remaining way to sign in.
   */
  readonly removingBy: string | null
}

export const oauthIdentitiesSpec: SurfaceSpec<OauthIdentity> = {
  fields: {
    userId: { kind: 'text' },
    provider: { kind: 'text' },
    issuer: { kind: 'text' },
    subject: { kind: 'text' },
    linkedAt: { kind: 'time' },
    removingBy: { kind: 'text', nullable: true },
  },
  indexes: [{ on: ['userId'] }, { on: ['userId', 'provider'], unique: true }],
  expires: 'never',
}
