import type { AccountEvent } from './account-event.js'
import type { ConfigEvent } from './config-event.js'
import type { DeviceEvent, MfaEvent } from './factor-event.js'
import type { LoginEvent } from './login-event.js'
import type { PasswordEvent } from './password-event.js'
import type { RoleEvent } from './role-event.js'
import type { ServiceAccountEvent } from './service-account-event.js'
import type { RefreshEvent, SessionEvent } from './session-event.js'
import type { Surface } from './surface.js'

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
       * `rate_limited` is emitted once per address, operation and window in each process, and the same refusal of an
       * account once a minute for each network. On a host's route `session_revoked` and `audience_mismatch` are emitted
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
