import type { MfaMethod } from './factor-event.js'
import type { RiskSignal } from './risk-scorer.js'

/** The reason why a first factor was refused. */
export type LoginFailure =
  | 'invalid_credentials'
  | 'email_not_verified'
  | 'password_expired'
  | OauthFailure

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
      /** The first factor: `password`, `webauthn`, or the id of a provider. */
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
      /** The last allowed password failed. Emitted once per lockout. */
      readonly type: 'login.lockedOut'
      /** Null for an address without an account. */
      readonly userId: string | null
      /** Epoch milliseconds. */
      readonly until: number
    }
