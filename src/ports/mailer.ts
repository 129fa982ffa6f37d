import type { Surface } from './surface.js'

/** A mail the library asks for. The host renders and sends it. */
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
      /** Somebody tried to register this address, which has an account already. */
      readonly template: 'accountExists'
      readonly data: { readonly url: string }
    }
  | {
      readonly template: 'resetPassword'
      readonly data: { readonly url: string; readonly token: string; readonly expiresAt: number }
    }
  | {
      /** Sent after the fact (S-59). */
      readonly template: 'passwordChanged'
      readonly data: { readonly at: number }
    }
)

/** Sends mail. A rejection is logged and reported as an event; it never fails the request. */
export interface Mailer {
  send(mail: Mail): Promise<void>
}
