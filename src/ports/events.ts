import type { RiskSignal, SessionChange } from './risk-scorers.js'
import type { RequestSource, Surface } from './surface.js'

/** What every event says: where, when and from which client. */
export interface EventContext {
  readonly surface: Surface
  /** Epoch milliseconds. */
  readonly at: number
  /** Null when no request caused the event, or when its address is unknown. */
  readonly ip: string | null
  readonly userAgent: string | null
}

type ServiceEvent =
  | {
      /**
       * A request was refused because of its sender, its origin, its rate or its one-time token.
       * Refusals with an event of their own (`login.failed`, a replay) are not repeated here.
       * `rate_limited` is emitted once per network, operation and window in each process, and every other refusal once a
       * minute for each network, for eight networks of an account at most, or of a site where there is none: an IPv4 /24
       * or an IPv6 /48. On a host's route `session_revoked` and `audience_mismatch` are emitted
       * once an hour for each network and guard.
       */
      readonly type: 'request.refused'
      /** The user of the access token, if it was valid; else null. */
      readonly userId: string | null
      /** The operation's id, such as `changePassword`; on a host's route the name of the route guard. */
      readonly operation: string
      /** The error's code. */
      readonly reason: string
    }
  /** The host's mailer rejected a mail, which is not sent again. */
  | { readonly type: 'mail.failed'; readonly template: string; readonly userId: string | null }
  | {
      /** A webhook never acknowledged an event, which is not sent again. */
      readonly type: 'webhook.failed'
      /** The webhook's slug. */
      readonly webhook: string
      /** The type of that event. */
      readonly event: string
    }
  | {
      /** The event happened, but its audit record could not be written. */
      readonly type: 'audit.failed'
      /** The type of that event. */
      readonly action: string
    }

/**
 * A security event, as `onEvent` receives it. It never holds a secret or an e-mail address. Delivery is
 * best effort. `userId` is the account that the event is about. Where one user may act on another,
 * `actorId` is the user who acted and `targetId` the account concerned.
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
    | ServiceAccountEvent
    | RoleEvent
    | ServiceEvent
  )

type Header = 'type' | 'surface' | 'at' | keyof RequestSource

/** What an event says of its own, beside the header that all events have. */
export type EventFacts<Type extends AuthEvent['type']> = Omit<
  AuthEvent & { readonly type: Type },
  Header
>

/**
 * Emits an event of one surface. The source is null where no request is behind it. Its time is now,
 * unless the facts give the time of the act.
 */
export type Emit = <Type extends AuthEvent['type']>(
  type: Type,
  source: RequestSource | null,
  facts: EventFacts<Type> & { readonly at?: number },
) => void

/** The reason why a first factor was refused. */
export type LoginFailure =
  | 'invalid_credentials'
  | 'email_not_verified'
  | 'password_expired'
  | PasskeyRefusal
  | OauthFailure

/** Why a response of a passkey was refused (WebAuthn §7.1, §7.2). The reply never says it. */
export type PasskeyRefusal =
  /** No response can be given to this challenge: it was never issued, or it is spent, expired or void. */
  | 'challenge_unknown'
  /** The account has no such passkey. */
  | 'credential_unknown'
  | 'user_handle_mismatch'
  | 'malformed'
  | 'type_mismatch'
  | 'challenge_mismatch'
  | 'origin_mismatch'
  /** From a frame in a page of another origin. */
  | 'cross_origin'
  | 'rp_id_mismatch'
  | 'user_not_present'
  | 'user_not_verified'
  /** Backed up without being eligible. */
  | 'backup_state_invalid'
  | 'attestation_unsupported'
  | 'public_key_unsupported'
  | 'signature_invalid'
  | 'counter_regressed'

/** The reason why an OAuth flow failed. */
export type OauthFailure =
  /** The person declined at the provider. */
  | 'oauth_denied'
  /** The provider's answer was not valid, or the account may not sign in. */
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

export type LoginEvent =
  | {
      /** Every factor that was asked for was accepted, and a session began. */
      readonly type: 'login.succeeded'
      readonly userId: string
      readonly sessionId: string
      /** The first factor: `password`, `webauthn`, `email_code`, or the id of a provider. */
      readonly method: string
      /** The second factor; null for a login that showed none, and for a trusted device in its place. */
      readonly mfaMethod: MfaMethod | null
      /** RFC 8176, as the access token carries it: empty when a provider was the only factor. */
      readonly amr: readonly string[]
      /** The trusted device that replaced the second factor; null for any other login. */
      readonly deviceId: string | null
    }
  | {
      /** The login differs from those of the last ninety days. `notifyNewDevice` mails the owner. */
      readonly type: 'login.newDevice'
      readonly userId: string
      readonly sessionId: string
      readonly signals: readonly RiskSignal[]
    }
  | {
      /** A first factor was refused, or a sign-in through a provider came to nothing. */
      readonly type: 'login.failed'
      /** Null for an address without an account. */
      readonly userId: string | null
      readonly method: string
      readonly reason: LoginFailure
    }
  | {
      /** The last allowed password, or mailed code, failed. Emitted once per lockout. */
      readonly type: 'login.lockedOut'
      /** Null for an address without an account. */
      readonly userId: string | null
      /** Epoch milliseconds. */
      readonly until: number
      readonly budget: LockoutBudget
    }

/**
 * Whose wrong guesses were used up: `address` those of every caller without a budget of their own, `knownDevice` those of
 * one browser or app that signed in before, `signInKey` those of the caller who just set the password by a link, and
 * `sessions` those in all sessions of the user. The others go on.
 */
export type LockoutBudget = 'address' | 'knownDevice' | 'signInKey' | 'sessions'

/**
 * The reason why a session ended: `replay` a refresh token used twice, `limit` a newer session beyond
 * `maxConcurrentSessions`, `guesses` too many wrong passwords, codes or passkeys shown within it, `factor_change` a change of second factors
 * in another session, `risk` by the host's `sessionRiskScorer`.
 */
export type EndReason =
  | 'logout'
  | 'max_age'
  | 'admin'
  | 'replay'
  | 'password_change'
  | 'limit'
  | 'guesses'
  | 'factor_change'
  | 'risk'

export type SessionEvent =
  | {
      /** A session ended; its tokens are refused from now on. */
      readonly type: 'session.terminated'
      readonly userId: string
      readonly sessionId: string
      readonly reason: EndReason
      /** The owner, or the actor that the host's code named; null for the library itself. */
      readonly actorId: string | null
    }
  | {
      /** No session opened before can be refreshed any more. The end of each follows. */
      readonly type: 'session.allTerminated'
      readonly actorId: string | null
      readonly targetId: string
    }
  | {
      /**
       * `GET …/session` minted an access token, or `sessionOf` found the session: the first time within
       * an hour for this session, network and user agent, counted per process. It leaves no audit record.
       */
      readonly type: 'session.viewed'
      readonly userId: string
      readonly sessionId: string
    }
  | {
      /**
       * `sessionOf` met the cookie of a session that is due to end, and ended nothing: the next refresh ends it
       * for this reason, such as `replay` for a token that was replaced, or `max_age`. The first time within an
       * hour for this session, reason, network and user agent, counted per process. It leaves no audit record;
       * the end does.
       */
      readonly type: 'session.overdue'
      readonly userId: string
      readonly sessionId: string
      readonly reason: EndReason
    }

export type RefreshEvent =
  | {
      /** An ordinary refresh. It leaves no audit record, which would double its cost. */
      readonly type: 'refresh.rotated'
      readonly userId: string
      readonly sessionId: string
      readonly generation: number
    }
  | {
      /** A caller was answered for a token that had been replaced: a second tab, a lost reply, or a thief who follows
       * the family. */
      readonly type: 'refresh.reissued'
      readonly userId: string
      readonly sessionId: string
      readonly generation: number
      /** The token was rotated by another user agent than this caller's: rather a thief than a tab. */
      readonly otherClient: boolean
      /**
       * True after `refreshReuseGrace`, for the device that rotated last: its reply was lost, or it shares its cookies
       * with a thief. `GET …/session` and `sessionOf` tell of a session once an hour for each network and user agent.
       */
      readonly late: boolean
    }
  | {
      /** A refresh from another place, of which `sessionRiskScorer` thought something. */
      readonly type: 'refresh.unusual'
      readonly userId: string
      readonly sessionId: string
      /** Since the session's last refresh. */
      readonly changed: readonly SessionChange[]
      readonly outcome: 'stepUp' | 'end'
      /** False where the scorer gave no answer, so that the outcome is `stepUp`. */
      readonly assessed: boolean
    }
  | {
      /** A refresh token was shown after another had replaced it, so two callers hold it. The session ends. */
      readonly type: 'refresh.replayDetected'
      readonly userId: string
      readonly sessionId: string
      readonly presentedGeneration: number
      readonly currentGeneration: number
    }
  | {
      /** A refresh token is newer than its row, so the store was restored from an older copy. The session ends. */
      readonly type: 'refresh.storeRolledBack'
      readonly userId: string
      readonly sessionId: string
      readonly presentedGeneration: number
      readonly currentGeneration: number
    }

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
      /** Null for a code. */
      readonly reason: PasskeyRefusal | null
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
      readonly budget: LockoutBudget
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
      /** A passkey that was bound to one device is synced now or may be, or the other way round. */
      readonly type: 'mfa.passkeyBackupChanged'
      readonly userId: string
      readonly credentialId: string
      readonly backedUp: boolean
      readonly backupEligible: boolean
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

export type PasswordEvent =
  /** A new password is in use. */
  | { readonly type: 'password.changed'; readonly userId: string; readonly by: 'change' | 'reset' }
  | {
      /** A wrong current password was given in a session, or with the mailed link of a change of address. */
      readonly type: 'password.changeFailed'
      readonly userId: string
      /** Null for the link. */
      readonly sessionId: string | null
    }
  | {
      /**
       * A link to set a new password was asked for. `actorId` is the administrator who asked; null for a request by
       * the public form.
       */
      readonly type: 'password.resetRequested'
      readonly actorId: string | null
      /** Null when no account has the address; then no mail was sent. */
      readonly userId: string | null
    }

/** The fields of an account that the host's code can change. */
export type AccountField = 'name' | 'enabled' | 'systemRole' | 'memberships'

/** The fields that decide what an account may do; `before` or `after` a change. */
export interface AccountStanding {
  readonly enabled?: boolean
  readonly systemRole?: string
  readonly memberships?: readonly { readonly tenantId: string }[]
}

/** How the mailbox of an account was proved: a confirmation link or a mailed code, a reset link, or a provider. */
export type OwnerProofWay = 'link' | 'reset' | 'provider'

/** Events about accounts, their addresses and their links to identity providers. */
export type AccountEvent =
  /** An account began: confirmed, by a provider, or at once where no address has to be confirmed. */
  | { readonly type: 'account.registered'; readonly userId: string }
  /**
   * An address was registered, and its mailbox is not proved: it may be another person's. `userId` is that of the
   * user to be: there is none yet.
   */
  | { readonly type: 'account.registrationRequested'; readonly userId: string }
  /** A registration named an address that has an account. The owner gets a mail. */
  | { readonly type: 'account.registrationRepeated' }
  /** The host's code created it. `actorId` is null when that code named no actor. */
  | {
      readonly type: 'account.created'
      readonly actorId: string | null
      readonly targetId: string
    }
  | {
      /** The host's code asked for a new account, and none was made. */
      readonly type: 'account.createFailed'
      readonly actorId: string | null
      /** The error's code. */
      readonly reason: string
    }
  | {
      /** The host's code imported users of another product: one event for the whole batch. */
      readonly type: 'account.imported'
      readonly actorId: string | null
      readonly created: number
      readonly skipped: number
      readonly conflicts: number
      readonly refused: number
    }
  | {
      /** It was cut off: some of its users may have been made. */
      readonly type: 'account.importFailed'
      readonly actorId: string | null
      /** The error's code. */
      readonly reason: string
    }
  | {
      /** The owner changed it when `actorId` is `targetId`, else the host's code did. */
      readonly type: 'account.updated'
      readonly actorId: string | null
      readonly targetId: string
      readonly fields: readonly AccountField[]
      /** Those of `fields` that decide what the account may do; never the name. */
      readonly before: AccountStanding
      readonly after: AccountStanding
    }
  | {
      /**
       * The host's code or the owner asked for a deletion, and the request did not complete it. The library may still
       * complete it later: always if the account was already closed.
       */
      readonly type: 'account.deleteFailed'
      readonly actorId: string | null
      readonly targetId: string
      /** The error's code; `not_found` when the account does not exist. */
      readonly reason: string
    }
  | {
      /** The host's code or the owner asked for a change, and it was not made. */
      readonly type: 'account.updateFailed'
      readonly actorId: string | null
      readonly targetId: string
      /** The error's code; `not_found` when the account does not exist. */
      readonly reason: string
    }
  | {
      /**
       * The owner deleted it when `actorId` is `targetId`, else the host's code did. All of its
       * data is removed.
       */
      readonly type: 'account.deleted'
      readonly actorId: string | null
      readonly targetId: string
    }
  | {
      /** An account at a provider became a way to sign in, or stopped being one. */
      readonly type: 'identity.linked' | 'identity.unlinked'
      /** Its owner, or an administrator. */
      readonly actorId: string
      readonly targetId: string
      readonly provider: string
    }
  /** The address of an account is confirmed. */
  | { readonly type: 'email.verified'; readonly userId: string }
  | {
      /**
       * The owner of the mailbox proved it for the first time. A stranger may have made the account
       * before: drop what your own code attached to the id until now. Not emitted for an account
       * that began with the proof, and not where the proof came with the password of the account: then
       * the owner knows what its maker knows, and everything stays.
       */
      readonly type: 'account.ownerProved'
      readonly userId: string
      readonly by: OwnerProofWay
    }
  | {
      /**
       * Another confirmation link was asked for, or by `users.changeEmail` one of a new address. `actorId` is the
       * administrator who asked; null for a request by the public form.
       */
      readonly type: 'email.verificationRequested'
      readonly actorId: string | null
      /**
       * The user, or the user to be; null when no account and no registration of this address waits for
       * a link. Then no mail was sent.
       */
      readonly userId: string | null
    }
  | {
      /** The owner asked to move the account to another address. */
      readonly type: 'email.changeRequested'
      readonly userId: string
    }
  /** The new address is confirmed and in use. Links mailed before are void. */
  | { readonly type: 'email.changed'; readonly userId: string }

/** Why a client-credentials grant was refused. Its caller is told none of it. */
export type GrantRefusal =
  | 'unknown_client'
  | 'wrong_secret'
  | 'credential_revoked'
  | 'account_disabled'
  | 'not_a_service_account'

/** What happens to service accounts: the machines among the operator users. */
export type ServiceAccountEvent =
  | {
      /**
       * A service account got a token. For one credential, address and client software, an audit record is left once an
       * hour.
       */
      readonly type: 'serviceToken.issued'
      /** The account. */
      readonly userId: string
      readonly credentialId: string
    }
  | {
      /** A client-credentials grant was refused. */
      readonly type: 'serviceToken.refused'
      /** Null for an unknown client id. */
      readonly userId: string | null
      readonly credentialId: string | null
      readonly reason: GrantRefusal
    }
  | {
      /** A service account has a credential more, or one of its credentials is void from now on. */
      readonly type: 'serviceCredential.issued' | 'serviceCredential.revoked'
      readonly actorId: string | null
      /** The account. */
      readonly targetId: string
      readonly credentialId: string
    }
  | {
      /** The host's code or an administrator asked for it, and it was not done. */
      readonly type: 'serviceCredential.issueFailed' | 'serviceCredential.revokeFailed'
      readonly actorId: string | null
      readonly targetId: string
      /** The error's code. */
      readonly reason: string
    }

/** Events about roles and their bindings, all caused by the host's code. */
export type RoleEvent =
  | {
      /** The role was created, or its permissions were replaced. */
      readonly type: 'role.defined'
      readonly actorId: string | null
      readonly roleId: string
      /** The role's name. */
      readonly role: string
      /** The tenant that the role belongs to; null for a role without a tenant. */
      readonly tenantId: string | null
      readonly permissions: readonly string[]
    }
  | {
      /** The role is gone. */
      readonly type: 'role.deleted'
      readonly actorId: string | null
      readonly roleId: string
      readonly role: string
      readonly tenantId: string | null
    }
  | {
      /** A user has a role more, or a role less. */
      readonly type: 'role.bound' | 'role.unbound'
      readonly actorId: string | null
      /** The user who gained or lost the role. */
      readonly targetId: string
      readonly roleId: string
      /** The tenant in which the user holds it; null for everywhere. */
      readonly tenantId: string | null
    }
  | {
      /** A user was to get a role, and did not. */
      readonly type: 'role.bindFailed'
      readonly actorId: string | null
      readonly targetId: string
      readonly roleId: string
      /** The error's code. */
      readonly reason: string
    }

export type ConfigEvent =
  | {
      /**
       * An environment has a new revision. `config.seeded` stored first values at the first start;
       * `config.reencrypted` stored the same values under the current key. It holds keys, never values.
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
      /** Another environment of the module is the active one now. */
      readonly type: 'config.activated'
      readonly actorId: string
      readonly module: string
      readonly environment: string
      /** The environment that was active before. */
      readonly previous: string
    }
