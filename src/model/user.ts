import type { Doc } from '../ports/store.js'
import type { SurfaceSpec } from './surface-spec.js'

/** A tenant that a user belongs to. Tokens repeat it for the host; the library decides nothing by it. */
export interface Membership {
  readonly tenantId: string
}

export interface User extends Doc {
  /** Empty for a person, `service` for a machine. Set at creation, never updated. */
  readonly kind: string
  /** Canonical address: the one that is unique, compared and mailed to. */
  readonly email: string
  /** The address as typed, for display only. */
  readonly emailAsTyped: string
  readonly emailVerifiedAt: number | null
  readonly name: string
  readonly systemRole: string
  readonly enabled: boolean
  /** Made by the registration form, not by the host. */
  readonly selfRegistered: boolean
  /** PHC string; null for an account without a password. */
  readonly passwordHash: string | null
  readonly passwordChangedAt: number | null
  readonly termsVersion: string | null
  readonly memberships: readonly Membership[]
  /** Grows when all sessions are ended; a refresh family of an older epoch is refused. */
  readonly sessionEpoch: number
  /**
   * The one session the last "end all others" spared, or the id of the login ticket whose factor ended
   * them; null when it spared none.
   */
  readonly keptSessionId: string | null
  /**
   * Grows with every change of password, address or standing, except a change of password by a session while the
   * mailbox is not proved. Voids mailed tokens.
   */
  readonly credentialEpoch: number
  /**
   * Grows with every change of password, factors or standing, and when all sessions are ended. Voids step-up proofs and
   * trusted devices.
   */
  readonly deviceEpoch: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly lastLoginAt: number | null
  /** When its deletion began; such an account stays disabled, and nothing changes it any more. */
  readonly deletingAt: number | null
  /** What was issued before this time was ended with that of all users; null when that never was. */
  readonly endedBefore: number | null
  /**
   * The intent that had the last effect on the account, written together with it: the same request
   * again sees that its effect stands. Null before the first.
   */
  readonly lastIntentId: string | null
}

/** A record without the field is a person: `kind` was added later. */
export function isHuman({ kind }: { readonly kind?: string | null }): boolean {
  return (kind ?? '') === ''
}

export const usersSpec: SurfaceSpec<User> = {
  fields: {
    kind: { kind: 'text', default: '' },
    email: { kind: 'text' },
    emailAsTyped: { kind: 'text' },
    emailVerifiedAt: { kind: 'time', nullable: true },
    name: { kind: 'text' },
    systemRole: { kind: 'text' },
    enabled: { kind: 'boolean' },
    selfRegistered: { kind: 'boolean', default: false },
    passwordHash: { kind: 'text', nullable: true },
    passwordChangedAt: { kind: 'time', nullable: true },
    termsVersion: { kind: 'text', nullable: true },
    memberships: { kind: 'json', default: [] },
    sessionEpoch: { kind: 'integer', default: 0 },
    keptSessionId: { kind: 'text', nullable: true },
    credentialEpoch: { kind: 'integer', default: 0 },
    deviceEpoch: { kind: 'integer', default: 0 },
    createdAt: { kind: 'time' },
    updatedAt: { kind: 'time' },
    lastLoginAt: { kind: 'time', nullable: true },
    deletingAt: { kind: 'time', nullable: true },
    endedBefore: { kind: 'time', nullable: true },
    lastIntentId: { kind: 'text', nullable: true },
  },
  indexes: [{ on: ['email'], unique: true }, { on: ['kind'] }],
  expires: 'never',
}
