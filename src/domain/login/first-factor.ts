import type { SecondFactorMethod } from '../../engine/factors.js'
import type { LoginTicket } from '../../model/intents.js'
import type { User } from '../../model/user.js'
import type { ShownLinkKey } from '../intents/link-offers.js'
import type { FactorsOfUser } from './factors-of-user.js'
import type { ShownRecognition } from './recognition.js'

/** A first factor that was accepted, and how. */
export interface FirstFactor {
  readonly user: User
  /** `password`, `webauthn`, or the id of a provider. */
  readonly method: string
  /** RFC 8176 */
  readonly amr: readonly string[]
  /** Where the refresh token goes. */
  readonly delivery: 'cookie' | 'body'
  /** What `lookUp` gave for this user; null lets the pipeline look itself. */
  readonly factors: FactorsOfUser | null
  /** The second factor that came with it; null of a factor that is only a first one. */
  readonly second: ShownSecond | null
  /** What the device sent to be known by; left out where none can come along. */
  readonly deviceToken?: string | null
  /** What the browser or app sent to be known by. */
  readonly recognition: ShownRecognition
  /** What it brings of a sign-in by a provider that bounced. */
  readonly linkKey: ShownLinkKey
  /** The facts of a login through an identity provider; left out of all others. */
  readonly federated?: ProviderFacts
  /** Wrong guesses at it that were counted right before. */
  readonly failedAttempts?: number
}

/** What a login by a provider hangs on until it is complete. */
export type ProviderFacts = Pick<LoginTicket, 'identityId' | 'browserHash' | 'oauthCodeId'>

/** A second factor that was accepted, and how. */
export interface ShownSecond {
  readonly method: SecondFactorMethod
  /** RFC 8176 */
  readonly amr: readonly string[]
  /** Whether it is a step-up proof of this moment as well. */
  readonly isProof: boolean
}
