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
   * still signs in, but does not count as a remaining way to sign in. That of a request that is about to link it
   * begins with `link `: such an identity opens nothing yet.
   */
  readonly removingBy: string | null
}

const linkMark = 'link '

/** The mark of an identity that is being linked. */
export const linkMarkOf = (nonce: string): string => `${linkMark}${nonce}`

/** Whether the request that links it has still to look at the account once more, or died before it did. */
export function isBeingLinked({ removingBy }: Pick<OauthIdentity, 'removingBy'>): boolean {
  return removingBy?.startsWith(linkMark) ?? false
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
