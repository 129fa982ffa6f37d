import type { AccountEvent } from './account-event.js'
import type { RiskSignal } from './risk-scorer.js'
import type { RoleEvent } from './role-event.js'
import type { Surface } from './surface.js'

interface EventContext {
  readonly surface: Surface
  /** Epoch milliseconds. */
  readonly at: number
  /** Null where no request was behind it, or its address is unknown. */
  readonly ip: string | null
  readonly userAgent: string | null
}

/** Why a session ended. */
export type EndReason = 'logout' | 'max_age' | 'admin' | 'replay' | 'password_change' | 'limit'

/** How a second factor is shown. */
export type MfaMethod = 'totp' | 'backupCode' | 'webauthn'

/** Why a first factor came to nothing. */
export type LoginFailure =
  | 'invalid_credentials'
  | 'email_not_verified'
  | 'password_expired'
  | OauthFailure

/** Why a flow to an identity provider came to nothing. */
export type OauthFailure =
  /** The person said no there. */
  | 'oauth_denied'
  /** The provider gave no good answer, or the account may not sign in. */
  | 'oauth_failed'
  | 'oauth_provider_disabled'
  | 'oauth_email_unverified'
  | 'account_exists_link_required'
  | 'identity_already_linked'
  | 'registration_disabled'
  | 'email_domain_not_allowed'
  | 'email_not_allowed'
  | 'email_not_verified'
  | 'terms_not_accepted'

type LoginEvent =
  | {
      readonly type: 'login.succeeded'
      readonly userId: string
      readonly sessionId: string
      /** How the first factor was shown: `password`, `webauthn`, or a provider's name. */
      readonly method: string
      /** The trusted device by which no second factor was asked for; null of any other login. */
      readonly deviceId: string | null
    }
  | {
      /** A login unlike those of the last ninety days. Its owner is mailed where `notifyNewDevice` is on. */
      readonly type: 'login.newDevice'
      readonly userId: string
      readonly sessionId: string
      readonly signals: readonly RiskSignal[]
    }
  | {
      readonly type: 'login.failed'
      /** Null for an address without an account. */
      readonly userId: string | null
      readonly method: string
      readonly reason: LoginFailure
    }
  | {
      /** The last allowed guess failed. Once a lockout; null for an unknown address. */
      readonly type: 'login.lockedOut'
      readonly userId: string | null
      /** Epoch milliseconds. */
      readonly until: number
    }

type SessionEvent =
  | {
      readonly type: 'session.terminated'
      readonly userId: string
      readonly sessionId: string
      readonly reason: EndReason
      /** Who ended it: its owner, whom the host's code named, or null for the library itself. */
      readonly actorId: string | null
    }
  | {
      /** From here on no session opened before can be refreshed; each one's end follows. */
      readonly type: 'session.allTerminated'
      readonly actorId: string | null
      readonly targetId: string
    }

type PasswordEvent =
  | { readonly type: 'password.changed'; readonly userId: string; readonly by: 'change' | 'reset' }
  | {
      /** Signed in, and the current password was wrong. */
      readonly type: 'password.changeFailed'
      readonly userId: string
      readonly sessionId: string
    }
  | {
      /** `actorId` is the administrator who asked, or null for whoever used the public form. */
      readonly type: 'password.resetRequested'
      readonly actorId: string | null
      /** Null when there is no such account: then nothing was mailed. */
      readonly userId: string | null
    }

/** What became different about somebody's second factors. */
export type MfaChange =
  | 'totpEnrolled'
  | 'totpRemoved'
  | 'backupCodesRegenerated'
  | 'passkeyAdded'
  | 'passkeyRemoved'
  /** All of them were taken away, by somebody who may. */
  | 'factorsReset'

type MfaEvent =
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

type DeviceEvent = {
  /** A device that skips the second factor from now on, or no more. */
  readonly type: 'device.trusted' | 'device.revoked'
  readonly userId: string
  readonly sessionId: string
  readonly deviceId: string
}

type RefreshEvent =
  | {
      /** Every ordinary refresh. Not audited: a second write would double its cost. */
      readonly type: 'refresh.rotated'
      readonly userId: string
      readonly sessionId: string
      readonly generation: number
    }
  | {
      /** A caller got a token of the current generation for one just retired: a second tab, a
       * lost reply, or somebody following the family. */
      readonly type: 'refresh.reissued'
      readonly userId: string
      readonly sessionId: string
      readonly generation: number
    }
  | {
      /** `storeRolledBack`: a token newer than its row; the store was restored from an older
       * copy. */
      readonly type: 'refresh.replayDetected' | 'refresh.storeRolledBack'
      readonly userId: string
      readonly sessionId: string
      readonly presentedGeneration: number
      readonly currentGeneration: number
    }

type ConfigEvent =
  | {
      /**
       * An environment has a new revision. `config.seeded`: first values, at the first start;
       * `config.reencrypted`: the same values under the current key. Keys, and never a value.
       */
      readonly type: 'config.changed' | 'config.seeded' | 'config.reencrypted'
      /** Null for the library itself. */
      readonly actorId: string | null
      readonly module: string
      readonly environment: string
      readonly revision: number
      readonly keys: readonly string[]
    }
  | {
      readonly type: 'config.activated'
      readonly actorId: string
      readonly module: string
      readonly environment: string
      /** The environment that was active before. */
      readonly previous: string
    }

/** Why a client-credentials grant was refused. Its caller is told none of it. */
export type GrantRefusal =
  | 'unknown_client'
  | 'wrong_secret'
  | 'credential_revoked'
  | 'account_disabled'
  | 'not_a_service_account'

/** Of service accounts: the machines among the operator users. */
type MachineEvent =
  | {
      /** Of one credential, address and client software, an audit record is left once an hour. */
      readonly type: 'serviceToken.issued'
      /** The account. */
      readonly userId: string
      readonly credentialId: string
    }
  | {
      readonly type: 'serviceToken.refused'
      /** Null for a client id nobody has. */
      readonly userId: string | null
      readonly credentialId: string | null
      readonly reason: GrantRefusal
    }
  | {
      readonly type: 'serviceCredential.issued' | 'serviceCredential.revoked'
      readonly actorId: string | null
      /** The account. */
      readonly targetId: string
      readonly credentialId: string
    }
  | {
      readonly type: 'serviceCredential.issueFailed' | 'serviceCredential.revokeFailed'
      readonly actorId: string | null
      readonly targetId: string
      /** The error's code. */
      readonly reason: string
    }

type ServiceEvent =
  | {
      /**
       * A request refused for who sent it, from where, how often, or with which one-time token.
       * Refusals with an event of their own (`login.failed`, a replay) are not repeated here;
       * `rate_limited` is told once per address, operation and window in each process.
       */
      readonly type: 'request.refused'
      /** Whose access token came along, where it was good. */
      readonly userId: string | null
      /** The operation's id, such as `changePassword`; on a host's route the guard's name. */
      readonly operation: string
      /** The error's code. */
      readonly reason: string
    }
  | { readonly type: 'mail.failed'; readonly template: string; readonly userId: string | null }
  | {
      /** An event that a webhook never acknowledged, and that is not sent to it any more. */
      readonly type: 'webhook.failed'
      /** The webhook's slug. */
      readonly webhook: string
      /** The type of the event. */
      readonly event: string
    }
  | {
      /** The act took place and its audit record is missing. */
      readonly type: 'audit.failed'
      /** The type of the event that was to be recorded. */
      readonly action: string
    }

/**
 * What the host is told through `onEvent`. Never holds a secret or an e-mail address. Delivery is
 * best effort. `userId` is the account an event is about; where somebody may act on somebody else,
 * `actorId` is who did and `targetId` on whom.
 */
export type AuthEvent = EventContext &
  (
    | AccountEvent
    | LoginEvent
    | SessionEvent
    | PasswordEvent
    | MfaEvent
    | DeviceEvent
    | RefreshEvent
    | ConfigEvent
    | MachineEvent
    | RoleEvent
    | ServiceEvent
  )

/** Structured log lines. Never given a password, token, hash or cookie. */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}
