import type { Doc, SurfaceSpec } from '../ports/store.js'

/** That the owner of a factor was not told of it yet; it is part of the factor's own document. */
export interface EnrollmentNotice {
  /** When the process that sweeps has to look at it; null once the owner was told. */
  readonly expiresAt: number | null
  /** The intent that stored the factor; null once the owner was told. */
  readonly enrollmentId: string | null
}

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
  /** Names the attempt to remove it that is under way, or that was cut off; see `removeTotpFactor`. */
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
  /** Names the attempt to remove it that is under way, or that was cut off; see `removeTotpFactor`. */
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

/** A user's set of backup codes. It is one document, so that a new set replaces the old in one write. */
export interface BackupCodes extends Doc {
  readonly userId: string
  /** PHC strings, one for each code, in the order of the codes' first characters. */
  readonly hashes: readonly string[]
  /** Bit n is set once code n was used. */
  readonly usedMask: number
  /** A random mark of this set, so that a code checked against one set is never spent in another. */
  readonly setId: string
  readonly createdAt: number
}

export const backupCodesSpec: SurfaceSpec<BackupCodes> = {
  fields: {
    userId: { kind: 'text' },
    hashes: { kind: 'json' },
    usedMask: { kind: 'integer' },
    setId: { kind: 'text' },
    createdAt: { kind: 'time' },
  },
  indexes: [],
  expires: 'never',
}

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

/** The newest second-factor proof of a session, whose id it has. Never renewed by a refresh. */
export interface StepUpProof extends Doc {
  readonly userId: string
  readonly method: 'totp' | 'backupCode' | 'webauthn'
  /** The user's `deviceEpoch` then: any other value voids the proof. -1 in a void proof, see `voidProof`. */
  readonly deviceEpoch: number
  /** Epoch milliseconds. */
  readonly provedAt: number
  readonly expiresAt: number
}

export const stepUpProofsSpec: SurfaceSpec<StepUpProof> = {
  fields: {
    userId: { kind: 'text' },
    method: { kind: 'text' },
    deviceEpoch: { kind: 'integer' },
    provedAt: { kind: 'time' },
  },
  indexes: [{ on: ['userId'] }],
  expires: 'sliding',
}
