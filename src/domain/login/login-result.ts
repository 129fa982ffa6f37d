import type { SecondFactorMethod } from '../../engine/factors.js'
import type { DeviceGrant } from '../factors/trusted-devices.js'
import type { OfferedLink } from '../intents/link-offers.js'
import type { IssuedLoginTicket } from '../intents/login-intents.js'
import type { OpenedSession } from '../sessions/sessions.js'
import type { RecognitionGrant } from './recognition.js'

export type LoginResult =
  | {
      readonly status: 'authenticated'
      readonly session: OpenedSession
      /** For the device to be known by; null where recognition is off. */
      readonly recognition: RecognitionGrant | null
      /** The link that its user may make now; null without one. */
      readonly linkOffer: OfferedLink | null
      /** For the device to keep, where it was to be trusted from now on. */
      readonly device?: DeviceGrant
    }
  /** The password is right but too old; the token is spent by a password reset. */
  | { readonly status: 'passwordChangeRequired'; readonly passwordToken: string }
  | (IssuedLoginTicket & {
      readonly status: 'mfaRequired'
      readonly methods: readonly SecondFactorMethod[]
    })
  /** The policy wants a second factor; the token is good for enrolling one and nothing else. */
  | (IssuedLoginTicket & { readonly status: 'mfaEnrollmentRequired' })

/** What a login came to, and where its refresh token goes. */
export interface DeliveredLogin {
  readonly result: LoginResult
  readonly delivery: 'cookie' | 'body'
}
