import type { MfaChange } from './factor-event.js'
import type { Surface } from './surface.js'

/**
 * A mail the library asks for. The host renders and sends it. Times are milliseconds since the epoch;
 * `token` is in the fragment of `url` (`#token=…`), for a page of the host's.
 */
export type Mail = {
  readonly surface: Surface
  readonly to: string
  /** The account's name; empty in mails to an address that is not confirmed. */
  readonly name: string
} & (
  | {
      /** Confirms the address of a new account. `url` carries `token` in its fragment. */
      readonly template: 'verifyEmail'
      readonly data: { readonly url: string; readonly token: string; readonly expiresAt: number }
    }
  | {
      /** Confirms another address of an account; goes to that one. As `verifyEmail`. */
      readonly template: 'changeEmail'
      readonly data: { readonly url: string; readonly token: string; readonly expiresAt: number }
    }
  | {
      /** Somebody tried to register this address, or to move to it; it has an account already. */
      readonly template: 'accountExists'
      readonly data: { readonly url: string }
    }
  | {
      readonly template: 'resetPassword'
      readonly data: { readonly url: string; readonly token: string; readonly expiresAt: number }
    }
  | {
      /** Somebody signed in, unlike anybody in the last ninety days. Null where it is unknown. */
      readonly template: 'newDevice'
      readonly data: {
        readonly at: number
        readonly ip: string | null
        readonly userAgent: string | null
      }
    }
  | {
      /** Sent after the fact. */
      readonly template: 'passwordChanged'
      readonly data: { readonly at: number }
    }
  | {
      /**
       * Somebody signed in asked to move the account from this address to another. Nothing has
       * changed yet; a changed password stops it.
       */
      readonly template: 'emailChangeRequested'
      readonly data: { readonly at: number }
    }
  | {
      /** Sent after the fact, to the address the account had. */
      readonly template: 'emailChanged'
      readonly data: { readonly at: number; readonly newEmail: string }
    }
  | {
      /** Sent after the fact, when somebody deleted their own account. */
      readonly template: 'accountDeleted'
      readonly data: { readonly at: number }
    }
  | {
      /** Sent after the fact: an app, a passkey, backup codes, or everything after a reset. */
      readonly template: 'mfaChanged'
      readonly data: { readonly at: number; readonly change: MfaChange }
    }
  | {
      /** Sent after the fact: an account at a provider became, or is no longer, a way in. */
      readonly template: 'identityChanged'
      readonly data: {
        readonly at: number
        /** `google`, `microsoft`, `apple` or `github`. */
        readonly provider: string
        readonly change: 'linked' | 'unlinked'
      }
    }
)

/** Sends mail. A rejection is logged and reported as an event; it never fails the request. */
export interface Mailer {
  send(mail: Mail): Promise<void>
}
