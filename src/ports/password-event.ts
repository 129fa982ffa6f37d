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
