export type PasswordEvent =
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
