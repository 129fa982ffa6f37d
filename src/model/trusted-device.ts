import type { Doc } from '../ports/store.js'
import type { SurfaceSpec } from './surface-spec.js'

/** That a person trusts one device to skip the second factor. It stands in for nothing else. */
export interface TrustedDevice extends Doc {
  readonly userId: string
  /** SHA-256 of the secret half of the token. */
  readonly secretHash: string
  /** As the person named it; empty when they did not. */
  readonly name: string
  /** The user's `deviceEpoch` then: any other value voids the grant. */
  readonly deviceEpoch: number
  readonly createdAt: number
  /** When it last stood for a second factor, to within an hour; null before it did. */
  readonly lastUsedAt: number | null
  readonly expiresAt: number
}

export const trustedDevicesSpec: SurfaceSpec<TrustedDevice> = {
  fields: {
    userId: { kind: 'text' },
    secretHash: { kind: 'text' },
    name: { kind: 'text' },
    deviceEpoch: { kind: 'integer' },
    createdAt: { kind: 'time' },
    lastUsedAt: { kind: 'time', nullable: true },
  },
  indexes: [{ on: ['userId'] }],
  expires: 'fixed',
}
