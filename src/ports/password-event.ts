export type PasswordEvent =
  /** A new password is in use. */
  | { readonly type: 'password.changed'; readonly userId: string; readonly by: 'change' | 'reset' }
  | {
      /** A signed-in user gave a wrong current password. */
      readonly type: 'password.changeFailed'
      readonly userId: string
      readonly sessionId: string
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
