import type { AccountEvent } from './account-event.js'
import type { ConfigEvent } from './config-event.js'
import type { DeviceEvent, MfaEvent } from './factor-event.js'
import type { LoginEvent } from './login-event.js'
import type { PasswordEvent } from './password-event.js'
import type { RoleEvent } from './role-event.js'
import type { ServiceAccountEvent } from './service-account-event.js'
import type { RefreshEvent, SessionEvent } from './session-event.js'
import type { Surface } from './surface.js'

interface EventContext {
  readonly surface: Surface
  /** Epoch milliseconds. */
  readonly at: number
  /** Null where no request was behind it, or its address is unknown. */
  readonly ip: string | null
  readonly userAgent: string | null
}

type ServiceEvent =
  | {
      /**
       * A request refused for who sent it, from where, how often, or with which one-time token.
       * Refusals with an event of their own (`login.failed`, a replay) are not repeated here;
       * `rate_limited` is told once per address, operation and window in each process.
       */
      readonly type: 'request.refused'
      /** Whose access token came along, where it was good. */
      readonly userId: string | null
      /** The operation's id, such as `changePassword`; on a host's route the guard's name. */
      readonly operation: string
      /** The error's code. */
      readonly reason: string
    }
  | { readonly type: 'mail.failed'; readonly template: string; readonly userId: string | null }
  | {
      /** An event that a webhook never acknowledged, and that is not sent to it any more. */
      readonly type: 'webhook.failed'
      /** The webhook's slug. */
      readonly webhook: string
      /** The type of the event. */
      readonly event: string
    }
  | {
      /** The act took place and its audit record is missing. */
      readonly type: 'audit.failed'
      /** The type of the event that was to be recorded. */
      readonly action: string
    }

/**
 * What the host is told through `onEvent`. Never holds a secret or an e-mail address. Delivery is
 * best effort. `userId` is the account an event is about; where somebody may act on somebody else,
 * `actorId` is who did and `targetId` on whom.
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
