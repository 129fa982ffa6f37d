import type { RiskSignal } from './risk-scorer.js'

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

export type LoginEvent =
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
