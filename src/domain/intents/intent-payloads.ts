import type { IntentFacts } from '../../engine/intents.js'
import type { TotpFactor } from '../../model/factors.js'
import type {
  LinkOffer,
  LoginTicket,
  OauthCode,
  OauthFlow,
  PasskeyChallenge,
  Ticket,
} from '../../model/intents.js'

/** What each kind of intent carries to its effect. */
export interface IntentPayloads {
  readonly verifyEmail: Ticket
  readonly register: Ticket
  readonly changeEmail: Ticket
  readonly resetPassword: Ticket
  readonly expiredPassword: Ticket
  readonly secondFactor: LoginTicket
  readonly enrollment: LoginTicket
  readonly oauthWeb: OauthFlow
  readonly oauthApp: OauthFlow
  readonly oauthLink: OauthFlow
  readonly linkOffer: LinkOffer
  readonly appCode: OauthCode
  readonly passkeyLogin: PasskeyChallenge
  readonly passkeySecondFactor: PasskeyChallenge
  readonly passkeyRegistration: PasskeyChallenge
  readonly passkeyStepUp: PasskeyChallenge
  readonly totpEnrollment: TotpFactor
}

/** What the judge has to read about an intent. */
export interface JudgedFacts extends IntentFacts {
  /** The account it is about; left out of one that names none. */
  readonly userId?: string
  /** The session it began in. */
  readonly sessionId?: string
  /** How the first factor of its login was shown. */
  readonly first?: {
    /** `password`, or the id of a provider. */
    readonly method: string
    /** The account at a provider that signed in; empty otherwise. */
    readonly identityId: string
    /** The code of the app that began it; empty without one. */
    readonly oauthCodeId: string
  }
  /** The enrolment by which this login added a factor itself. */
  readonly enrollmentId?: string
  /** The provider that it leads to. */
  readonly provider?: string
}
