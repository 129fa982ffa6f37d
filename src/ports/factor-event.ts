/** The kinds of second factors. */
export type MfaMethod = 'totp' | 'backupCode' | 'webauthn'

/** A change of a user's second factors. */
export type MfaChange =
  | 'totpEnrolled'
  | 'totpRemoved'
  | 'backupCodesRegenerated'
  | 'passkeyAdded'
  | 'passkeyRemoved'
  /** An administrator or the host's code removed all of them. */
  | 'factorsReset'

export type MfaEvent =
  | {
      /** The first factor was accepted. The login waits for a second, or for its enrolment. */
      readonly type: 'mfa.required'
      readonly userId: string
      /** The first factor: `password`, `webauthn`, or the id of a provider. */
      readonly method: string
      readonly missing: 'secondFactor' | 'enrollment'
    }
  | {
      /** A second factor was shown again within a session (step-up). */
      readonly type: 'mfa.steppedUp'
      readonly userId: string
      readonly sessionId: string
      readonly method: MfaMethod
    }
  | {
      /** The second factors of a user changed. Earlier step-up proofs and trusted devices of the user are void from now on. */
      readonly type: 'mfa.changed'
      readonly userId: string
      readonly change: MfaChange
      /** The owner, or the actor of a reset; null when the host's code named none. */
      readonly actorId: string | null
    }
  | {
      /** A code or response of this method was refused. */
      readonly type: 'mfa.failed'
      readonly userId: string
      readonly method: MfaMethod
      /** The session in which it was shown; null at a login. */
      readonly sessionId: string | null
    }
  | {
      /**
       * The last allowed attempt with this method failed. Codes are counted at logins and within the sessions of the
       * user, each apart; passkeys are counted at logins. Emitted once per lockout.
       */
      readonly type: 'mfa.lockedOut'
      readonly userId: string
      readonly method: MfaMethod
      /** The session of that attempt; null at a login. */
      readonly sessionId: string | null
      /** Epoch milliseconds. */
      readonly until: number
    }
  | {
      /** A backup code was accepted. It is good for nothing more. */
      readonly type: 'mfa.backupCodeUsed'
      readonly userId: string
      /** The codes that are left, so that you can remind the user in time. */
      readonly remaining: number
    }
  | {
      /**
       * A valid response of a passkey was refused because its signature counter went back: the
       * authenticator may have been copied (WebAuthn §6.1.1).
       */
      readonly type: 'mfa.passkeyCounterRegressed'
      readonly userId: string
      readonly credentialId: string
      readonly storedCounter: number
      readonly shownCounter: number
    }
  | {
      /** A passkey that was bound to one device is synced now, or the other way round. */
      readonly type: 'mfa.passkeyBackupChanged'
      readonly userId: string
      readonly credentialId: string
      readonly backedUp: boolean
    }

export type DeviceEvent =
  | {
      /** A device may skip the second factor from now on. */
      readonly type: 'device.trusted'
      readonly userId: string
      readonly sessionId: string
      readonly deviceId: string
    }
  | {
      /** A device that could skip the second factor needs it again. */
      readonly type: 'device.revoked'
      readonly userId: string
      readonly sessionId: string
      readonly deviceId: string
    }
