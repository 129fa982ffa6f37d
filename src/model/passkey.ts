import type { Doc } from '../ports/store.js'
import type { EnrollmentNotice } from './enrollment-notice.js'
import type { SurfaceSpec } from './surface-spec.js'

/** A public key credential of a person (WebAuthn §4). The id is the credential's, base64url. */
export interface Passkey extends Doc, EnrollmentNotice {
  readonly userId: string
  /** 0 to 19; no other passkey of the user has it, which bounds how many there are. */
  readonly slot: number
  /** COSE key, base64url. */
  readonly publicKey: string
  /** The newest signature counter shown; 0 of authenticators that keep none. Never goes back. */
  readonly counter: number
  /** How to reach the authenticator, as it said itself: hints, and nothing to rely on. */
  readonly transports: readonly string[]
  /** Chosen by its owner. */
  readonly name: string
  /** Whether it may be synced to other devices. Never changes. */
  readonly backupEligible: boolean
  /** Whether it was synced when it was last used. */
  readonly backedUp: boolean
  /**
   * Whether its user verification counts: the authenticator verified the person at registration, or
   * at a login beside another factor (`uvInitialized`, WebAuthn §4). A stranger
   * who finds a key without a PIN can set one.
   */
  readonly uvInitialized: boolean
  /** Names the attempt to remove it that is under way, or that was cut off; see `FactorRemoval`. */
  readonly removingBy: string | null
  /** The user's epochs when the registration began. */
  readonly deviceEpoch: number
  readonly credentialEpoch: number
  readonly createdAt: number
  readonly lastUsedAt: number | null
  /** The challenge of the newest use, or of the registration: lets a request see that it was noted
   * although the store's answer was lost. */
  readonly lastChallenge: string
}

/** A passkey as it is stored: a long credential id (WebAuthn allows 1,023 bytes) is no key of a store. */
export interface StoredPasskey extends Passkey {
  /** The credential's id where the document's is a digest of it; null where both are the same. */
  readonly credentialId: string | null
}

/** Bounds the documents of a user and the size of WebAuthn options. */
export const maxPasskeys = 20

export const passkeysSpec: SurfaceSpec<StoredPasskey> = {
  fields: {
    userId: { kind: 'text' },
    slot: { kind: 'integer' },
    publicKey: { kind: 'text' },
    counter: { kind: 'integer' },
    transports: { kind: 'json' },
    name: { kind: 'text' },
    backupEligible: { kind: 'boolean' },
    backedUp: { kind: 'boolean' },
    uvInitialized: { kind: 'boolean' },
    removingBy: { kind: 'text', nullable: true },
    enrollmentId: { kind: 'text', nullable: true },
    deviceEpoch: { kind: 'integer' },
    credentialEpoch: { kind: 'integer' },
    createdAt: { kind: 'time' },
    lastUsedAt: { kind: 'time', nullable: true },
    lastChallenge: { kind: 'text' },
    credentialId: { kind: 'text', nullable: true },
  },
  indexes: [{ on: ['userId'] }, { on: ['userId', 'slot'], unique: true }],
  // When its owner has to be told of it.
  expires: 'due',
}
