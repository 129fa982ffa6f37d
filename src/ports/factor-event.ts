/** How a second factor is shown. */
export type MfaMethod = 'totp' | 'backupCode' | 'webauthn'

/** What became different about somebody's second factors. */
export type MfaChange =
  | 'totpEnrolled'
  | 'totpRemoved'
  | 'backupCodesRegenerated'
  | 'passkeyAdded'
  | 'passkeyRemoved'
  /** All of them were taken away, by somebody who may. */
  | 'factorsReset'

export type MfaEvent =
  | {
      /** A first factor was right, and the login waits for a second, or for one to be enrolled. */
      readonly type: 'mfa.required'
      readonly userId: string
      /** How the first factor was shown: `password`, `webauthn`, or a provider's name. */
      readonly method: string
      readonly missing: 'secondFactor' | 'enrollment'
    }
  | {
      /** A second factor was shown again within a session. */
      readonly type: 'mfa.steppedUp'
      readonly userId: string
      readonly sessionId: string
      readonly method: MfaMethod
    }
  | {
      /** Earlier step-up proofs and trusted devices of the person are void from here on. */
      readonly type: 'mfa.changed'
      readonly userId: string
      readonly change: MfaChange
      /** Who did it: the person, whoever reset their factors, or null where the host named nobody. */
      readonly actorId: string | null
    }
  | {
      /** What was shown of this method was refused. */
      readonly type: 'mfa.failed'
      readonly userId: string
      readonly method: MfaMethod
    }
  | {
      /** The last allowed guess at the method failed. Once a lockout. */
      readonly type: 'mfa.lockedOut'
      readonly userId: string
      readonly method: MfaMethod
      /** Epoch milliseconds. */
      readonly until: number
    }
  | {
      readonly type: 'mfa.backupCodeUsed'
      readonly userId: string
      /** Codes left: remind the person in time. */
      readonly remaining: number
    }
  | {
      /**
       * A genuine response of a passkey whose signature counter went back: the authenticator may
       * have been copied. It was refused.
       */
      readonly type: 'mfa.passkeyCounterRegressed'
      readonly userId: string
      readonly credentialId: string
      readonly storedCounter: number
      readonly shownCounter: number
    }
  | {
      /** A passkey that was on one device alone is synced now, or the other way round. */
      readonly type: 'mfa.passkeyBackupChanged'
      readonly userId: string
      readonly credentialId: string
      readonly backedUp: boolean
    }

export type DeviceEvent = {
  /** A device that skips the second factor from now on, or no more. */
  readonly type: 'device.trusted' | 'device.revoked'
  readonly userId: string
  readonly sessionId: string
  readonly deviceId: string
}
