import type { Surface } from './surface.js'

interface Occasion {
  readonly surface: Surface
  /** Epoch milliseconds. */
  readonly at: number
  readonly ip: string | null
  readonly userAgent: string | null
}

/** Why a session ended (G-04). */
export type EndReason = 'logout' | 'max_age' | 'admin' | 'replay' | 'password_change' | 'limit'

/** What the host is told through `onEvent`. Never holds a secret. Delivery is best effort. */
export type AuthEvent = Occasion &
  (
    | { readonly type: 'account.registered'; readonly userId: string }
    | { readonly type: 'email.verified'; readonly userId: string }
    | { readonly type: 'login.succeeded'; readonly userId: string; readonly sessionId: string }
    | { readonly type: 'login.failed'; readonly userId: string | null }
    | {
        readonly type: 'session.terminated'
        readonly userId: string
        readonly sessionId: string
        readonly reason: EndReason
      }
    | {
        readonly type: 'password.changed'
        readonly userId: string
        readonly by: 'change' | 'reset'
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
        readonly type: 'refresh.replayDetected'
        readonly userId: string
        readonly sessionId: string
        readonly presentedGeneration: number
        readonly currentGeneration: number
      }
    | {
        /** A token newer than its row: the store was restored from an older copy. */
        readonly type: 'refresh.storeRolledBack'
        readonly userId: string
        readonly sessionId: string
        readonly presentedGeneration: number
        readonly currentGeneration: number
      }
    | { readonly type: 'mail.failed'; readonly template: string; readonly userId: string | null }
  )

/** Structured log lines. Never given a password, token, hash or cookie. */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}
