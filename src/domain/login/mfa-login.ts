import { AuthError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SignedIn } from '../context/principal.js'
import type { CodeVerification, ShownCode } from '../factors/code-verification.js'
import type { ReAuthentication } from '../factors/re-authentication.js'
import type { ConfirmedTotp, EnrollmentTerms, TotpEnrollment } from '../factors/totp-enrollment.js'
import type { TrustedDevices } from '../factors/trusted-devices.js'
import type { ShownLinkKey } from '../intents/link-offers.js'
import type { LoginIntents, ShownTicket } from '../intents/login-intents.js'
import type { TrustRequest } from './login-effects.js'
import type { LoginPipeline } from './login-pipeline.js'
import type { DeliveredLogin } from './login-result.js'
import type { ShownRecognition } from './recognition.js'

/** The caller who enrols a factor: a signed-in user, or a login that lacks one. */
export type Enrollee =
  | { readonly kind: 'session'; readonly who: SignedIn }
  | ({ readonly kind: 'ticket' } & ShownTicket)

export interface TotpConfirmation {
  /** Shown this once. */
  readonly backupCodes: readonly string[]
  /** The result of the login that waited for the factor; null for a signed-in user. */
  readonly login: DeliveredLogin | null
}

/** The first code of an app, and what is to become of the other sessions. */
export interface ShownEnrollment {
  readonly code: string
  readonly endOtherSessions?: boolean | undefined
  /** For a login that it completes. */
  readonly recognition: ShownRecognition
  readonly linkKey: ShownLinkKey
}

/** What a login that a code completes is to do with its device. */
export interface CodeLoginTerms {
  readonly trust: TrustRequest | null
  /** What the browser or app sent to be known by. */
  readonly recognition: ShownRecognition
  /** What it brings of a sign-in by a provider that bounced. */
  readonly linkKey: ShownLinkKey
}

/** Logins that a code completes, and the authenticator app that a login may lack. */
export interface MfaLogin {
  /** A secret to be scanned. Throws `mfa_method_disabled`, `factor_already_enrolled`, and what re-authentication throws. */
  beginTotp(
    enrollee: Enrollee,
    currentPassword: string | undefined,
    source: RequestSource,
  ): Promise<{ readonly secret: string; readonly otpauthUri: string }>
  /**
   * Throws `invalid_mfa_code` and `mfa_ticket_invalid`, and `session_revoked` where the session has ended. Voids earlier
   * proofs. Ends the other sessions as `endOtherSessions` says; left out, if this is the first factor.
   */
  confirmTotp(
    enrollee: Enrollee,
    shown: ShownEnrollment,
    source: RequestSource,
  ): Promise<TotpConfirmation>
  /**
   * Throws `invalid_mfa_code`, `mfa_ticket_invalid` and `rate_limited`; with `trust`, also
   * `mfa_method_disabled`, before the code is spent.
   */
  completeLogin(
    waiting: ShownTicket,
    shown: ShownCode,
    terms: CodeLoginTerms,
    source: RequestSource,
  ): Promise<DeliveredLogin>
}

interface Services {
  readonly codeVerification: CodeVerification
  readonly devices: TrustedDevices
  readonly loginIntents: LoginIntents
  readonly pipeline: LoginPipeline
  readonly reAuthentication: ReAuthentication
  readonly totpEnrollment: TotpEnrollment
}

const otp = { amr: ['otp'], isProof: true }

export function createMfaLogin(services: Services): MfaLogin {
  const { codeVerification, devices, loginIntents, pipeline, totpEnrollment } = services

  /** By a login that lacks a factor: it goes on with the one that it added. */
  async function confirmInLogin(
    shown: ShownTicket,
    { code, endOtherSessions, recognition, linkKey }: ShownEnrollment,
    terms: EnrollmentTerms,
    source: RequestSource,
  ): Promise<TotpConfirmation> {
    const made: ConfirmedTotp[] = []
    const waiting = await loginIntents.attempt(shown, 'enrollment', async ({ user }) => {
      const sessionId = loginIntents.idOf(shown)
      const bound = { boundTo: sessionId, code }
      const place = { sessionId, endOtherSessions, askedIn: null }
      const confirmed = await totpEnrollment.confirm(user, bound, place)
      if (confirmed !== null) made.push(confirmed)
      return confirmed !== null
    })
    const [confirmed] = made
    if (confirmed === undefined) throw new AuthError('invalid_mfa_code')
    const backupCodes = await totpEnrollment.finish(confirmed, terms, source)
    const factor = { method: 'totp', ...otp, enrolled: confirmed.intent, trust: null } as const
    const login = await pipeline.complete(waiting, { ...factor, recognition, linkKey }, source)
    return { backupCodes, login }
  }

  return {
    async beginTotp(enrollee, currentPassword, source) {
      const terms = await totpEnrollment.terms()
      if (enrollee.kind === 'ticket') {
        const { user } = await loginIntents.open(enrollee, 'enrollment')
        return totpEnrollment.begin(user, loginIntents.idOf(enrollee), terms)
      }
      const { user, sessionId } = enrollee.who
      await services.reAuthentication.require(enrollee.who, currentPassword, source)
      return totpEnrollment.begin(user, sessionId, terms)
    },

    async confirmTotp(enrollee, shown, source) {
      // Before the factor is confirmed: it must not be left without its codes.
      const terms = await totpEnrollment.terms()
      if (enrollee.kind === 'ticket') return confirmInLogin(enrollee, shown, terms, source)
      const { user, sessionId } = enrollee.who
      const { code, endOtherSessions } = shown
      const bound = { boundTo: sessionId, code }
      const place = { sessionId, endOtherSessions, askedIn: sessionId }
      const confirmed = await totpEnrollment.confirm(user, bound, place)
      if (confirmed === null) throw new AuthError('invalid_mfa_code')
      return { backupCodes: await totpEnrollment.finish(confirmed, terms, source), login: null }
    },

    async completeLogin(waiting, code, terms, source) {
      if (terms.trust !== null) await devices.requireAllowed()
      const login = await loginIntents.attempt(waiting, 'secondFactor', async ({ user }) => {
        await codeVerification.spend(user.id, code, source)
        return true
      })
      const shown = { method: code.method, ...otp, enrolled: null, ...terms }
      return pipeline.complete(login, shown, source)
    },
  }
}
