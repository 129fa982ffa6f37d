import type { MfaChange } from './factor-event.js'
import type { Surface } from './surface.js'

/**
 * A mail that the library asks the host to render and send. Times are epoch milliseconds. `url` is a
 * page of the host; it carries the `token`, if there is one, in its fragment (`#token=…`).
 */
export type Mail = {
  readonly surface: Surface
  readonly to: string
  /** The account's name; empty in mails to an unconfirmed address. */
  readonly name: string
  /**
   * The languages of the browser or app that asked for this mail, the most wanted first: language ranges in lower case
   * (RFC 4647 §2.1), such as `de-at`, at most ten. Only in mails with a link, and left out where the request named none
   * (`Accept-Language`). A notice to the owner has none: a thief may have caused it.
   */
  readonly languages?: readonly string[]
} & (
  | {
      /** Confirms the address of a new account. */
      readonly template: 'verifyEmail'
      readonly data: { readonly url: string; readonly token: string; readonly expiresAt: number }
    }
  | {
      /** Confirms a change of address. Goes to the new address. */
      readonly template: 'changeEmail'
      readonly data: { readonly url: string; readonly token: string; readonly expiresAt: number }
    }
  | {
      /** A registration or a change of address named this address, which already has an account. */
      readonly template: 'accountExists'
      readonly data: { readonly url: string }
    }
  | {
      readonly template: 'resetPassword'
      readonly data: { readonly url: string; readonly token: string; readonly expiresAt: number }
    }
  | {
      /** A login that differs from those of the last ninety days. Null stands for unknown. */
      readonly template: 'newDevice'
      readonly data: {
        readonly at: number
        readonly ip: string | null
        readonly userAgent: string | null
      }
    }
  | {
      /** Sent after the change. */
      readonly template: 'passwordChanged'
      readonly data: { readonly at: number }
    }
  | {
      /**
       * A signed-in session asked to move the account from this address to another. Nothing has
       * changed yet; changing the password stops it.
       */
      readonly template: 'emailChangeRequested'
      readonly data: { readonly at: number }
    }
  | {
      /** Sent after the change, to the old address. */
      readonly template: 'emailChanged'
      readonly data: { readonly at: number; readonly newEmail: string }
    }
  | {
      /** Sent after the owner deleted the account. */
      readonly template: 'accountDeleted'
      readonly data: { readonly at: number }
    }
  | {
      /** Sent after a change of second factors: an app, a passkey, backup codes, or a reset of all. */
      readonly template: 'mfaChanged'
      readonly data: { readonly at: number; readonly change: MfaChange }
    }
  | {
      /**
       * Too many wrong second-factor codes were shown by a caller who knows the password or has a session
       * of the account: the owner should change the password. Sent for the first lockout in a month.
       */
      readonly template: 'secondFactorLockedOut'
      readonly data: {
        readonly at: number
        readonly method: 'totp' | 'backupCode'
        /** Right codes of this method are refused until then. */
        readonly until: number
      }
    }
  | {
      /**
       * Guesses at the account, by a caller who showed the right password. `password`: it came after three
       * wrong ones or more. `secondFactor`: three wrong codes or responses of passkeys came after it, or within
       * a session. One of each a day, at most. Null stands for unknown.
       */
      readonly template: 'loginSuspicious'
      readonly data: {
        readonly at: number
        readonly reason: 'password' | 'secondFactor'
        readonly ip: string | null
        readonly userAgent: string | null
      }
    }
  | {
      /** Sent after a device became trusted to skip the second factor. Null stands for unknown. */
      readonly template: 'deviceTrusted'
      readonly data: {
        readonly at: number
        readonly ip: string | null
        readonly userAgent: string | null
      }
    }
  | {
      /** Sent after a provider's account became a way to sign in, or stopped being one. */
      readonly template: 'identityChanged'
      readonly data: {
        readonly at: number
        /** The id of the provider, such as `google`. */
        readonly provider: string
        readonly change: 'linked' | 'unlinked'
      }
    }
)

/** Sends mail. A rejection is logged and emitted as an event; it never fails the request. */
export interface Mailer {
  send(mail: Mail): Promise<void>
}
