import { AuthError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { SignedIn } from '../context/principal.js'
import type { CodeVerification, ShownCode } from '../factors/code-verification.js'
import type { ReAuthentication } from '../factors/re-authentication.js'
import type { TotpEnrollment } from '../factors/totp-enrollment.js'
import type { TrustedDevices } from '../factors/trusted-devices.js'
import type { ShownTicket } from '../intents/login-intents.js'
import type { TrustRequest } from './login-effects.js'
import type { LoginPipeline } from './login-pipeline.js'
import type { LoginResult } from './login-result.js'
import type { TicketGuesses } from './ticket-guesses.js'

/** The enroller of a factor: a signed-in user, or a login that lacks one. */
export type Enrollee =
  | { readonly kind: 'session'; readonly who: SignedIn }
  | ({ readonly kind: 'ticket' } & ShownTicket)

/** What a login came to, and where its refresh token goes. */
export interface DeliveredLogin {
  readonly result: LoginResult
  readonly delivery: 'cookie' | 'body'
}

export interface TotpConfirmation {
  /** Shown this once. */
  readonly backupCodes: readonly string[]
  /** The result of the login that waited for the factor; null for a signed-in user. */
  readonly login: DeliveredLogin | null
}

/** Logins that a code completes, and the authenticator app that a login may lack. */
export interface MfaLogin {
  /** A secret to be scanned. Throws `mfa_method_disabled`, `factor_already_enrolled`, and what re-authentication throws. */
  beginTotp(
    enrollee: Enrollee,
    currentPassword: string | undefined,
    source: RequestSource,
  ): Promise<{ readonly secret: string; readonly otpauthUri: string }>
  /** Throws `invalid_mfa_code` and `mfa_ticket_invalid`. Voids earlier proofs. */
  confirmTotp(enrollee: Enrollee, code: string, source: RequestSource): Promise<TotpConfirmation>
  /**
   * Throws `invalid_mfa_code`, `mfa_ticket_invalid` and `rate_limited`; with `trust`, also
   * `mfa_method_disabled`, before the code is spent.
   */
  completeLogin(
    waiting: ShownTicket,
    shown: ShownCode,
    source: RequestSource,
    trust?: TrustRequest | null,
  ): Promise<DeliveredLogin>
}

interface Services {
  readonly codeVerification: CodeVerification
  readonly devices: TrustedDevices
  readonly guesses: TicketGuesses
  readonly pipeline: LoginPipeline
  readonly reAuthentication: ReAuthentication
  readonly totpEnrollment: TotpEnrollment
}

const otp = { amr: ['otp'], isProof: true }

export function createMfaLogin(services: Services): MfaLogin {
  const { codeVerification, devices, guesses, pipeline, totpEnrollment } = services
  return {
    async beginTotp(enrollee, currentPassword, source) {
      const terms = await totpEnrollment.terms()
      if (enrollee.kind === 'ticket') {
        const { user } = await guesses.holder(enrollee, 'enrollment')
        return totpEnrollment.begin(user, terms)
      }
      await services.reAuthentication.require(enrollee.who, currentPassword, source)
      return totpEnrollment.begin(enrollee.who.user, terms)
    },

    async confirmTotp(enrollee, code, source) {
      // Before the factor is confirmed: it must not be left without its codes.
      const terms = await totpEnrollment.terms()
      if (enrollee.kind === 'session') {
        const { user } = enrollee.who
        if (!(await totpEnrollment.confirm(user, code))) throw new AuthError('invalid_mfa_code')
        return { backupCodes: await totpEnrollment.finish(user.id, terms, source), login: null }
      }
      const ticket = await guesses.guess(enrollee, 'enrollment', async (shown) => {
        // Before the factor counts: a caller who lost the account meanwhile must not lock its owner out.
        return totpEnrollment.confirm(await guesses.accountOf(shown), code)
      })
      const backupCodes = await totpEnrollment.finish(ticket.userId, terms, source)
      const result = await pipeline.complete(ticket, { method: 'totp', ...otp }, source)
      return { backupCodes, login: { result, delivery: ticket.delivery } }
    },

    async completeLogin(waiting, code, source, trust = null) {
      if (trust !== null) await devices.requireAllowed()
      const ticket = await guesses.guess(waiting, 'secondFactor', async ({ userId }) => {
        await codeVerification.spend(userId, code, source)
        return true
      })
      const shown = { method: code.method, ...otp }
      const result = await pipeline.complete(ticket, shown, source, trust)
      return { result, delivery: ticket.delivery }
    },
  }
}
