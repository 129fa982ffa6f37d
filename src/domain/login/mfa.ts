import { otpauthUri } from '../../crypto/totp.js'
import { hasFactor } from '../../engine/second-factor.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { SignedIn } from '../context/principal.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { BackupCodeSets } from '../factors/backup-code-sets.js'
import type { CodeMethod, CodeVerification } from '../factors/code-verification.js'
import { enrolledFactors } from '../factors/enrolled-factors.js'
import type { FactorChanges } from '../factors/factor-changes.js'
import type { FactorRemoval } from '../factors/factor-removal.js'
import { isUnchanged } from '../factors/is-unchanged.js'
import type { ReAuthentication } from '../factors/re-authentication.js'
import type { StepUp } from '../factors/step-up.js'
import type { TotpFactors } from '../factors/totp-factors.js'
import type { TrustedDevices } from '../factors/trusted-devices.js'
import type { LoginPipeline, LoginResult, TrustRequest } from './login-pipeline.js'
import type { ShownTicket } from './login-tickets.js'
import type { TicketGuesses } from './ticket-guesses.js'

/** Who enrolls a factor: somebody signed in, or a login that lacks one. */
export type Enrollee =
  | { readonly kind: 'session'; readonly who: SignedIn }
  | ({ readonly kind: 'ticket' } & ShownTicket)

export interface MfaStatus {
  readonly policy: 'off' | 'optional' | 'required'
  readonly totp: { readonly enrolled: boolean }
  readonly backupCodes: { readonly remaining: number }
  /** How many there are. */
  readonly passkeys: number
  /** Epoch milliseconds of this session's last proof; null without one that counts. */
  readonly provedAt: number | null
}

/** What a login came to, and where its refresh token goes. */
export interface DeliveredLogin {
  readonly result: LoginResult
  readonly delivery: 'cookie' | 'body'
}

export interface TotpConfirmation {
  /** Shown this once. */
  readonly backupCodes: readonly string[]
  /** What the login came to that the factor was enrolled for; null for somebody signed in. */
  readonly login: DeliveredLogin | null
}

/** A person's authenticator app and backup codes, and the logins and step-ups they complete. */
export interface Mfa {
  status(who: SignedIn): Promise<MfaStatus>
  /** A secret to be scanned. Throws `mfa_method_disabled`, `factor_already_enrolled`, and what re-authentication throws. */
  beginTotp(
    enrollee: Enrollee,
    currentPassword: string | undefined,
    source: RequestSource,
  ): Promise<{ readonly secret: string; readonly otpauthUri: string }>
  /** Throws `invalid_mfa_code` and `mfa_ticket_invalid`. Voids earlier proofs. */
  confirmTotp(enrollee: Enrollee, code: string, source: RequestSource): Promise<TotpConfirmation>
  /** Throws `factor_not_found` and `last_factor_required`. The caller has shown a second factor. */
  removeTotp(who: SignedIn, source: RequestSource): Promise<void>
  /** A new set; the old one is void. Throws `factor_not_found` for who has no factor. */
  regenerateBackupCodes(who: SignedIn, source: RequestSource): Promise<readonly string[]>
  /**
   * Throws `invalid_mfa_code`, `mfa_ticket_invalid` and `rate_limited`; with `trust`, also
   * `mfa_method_disabled`, before the code is spent.
   */
  completeLogin(
    waiting: ShownTicket,
    method: CodeMethod,
    code: string,
    source: RequestSource,
    trust?: TrustRequest | null,
  ): Promise<DeliveredLogin>
  /** Epoch milliseconds of the proof. Throws `factor_not_found`, `invalid_mfa_code`. */
  stepUp(who: SignedIn, method: CodeMethod, code: string, source: RequestSource): Promise<number>
}

type Deps = Pick<SurfaceContext, 'surface' | 'collections' | 'clock' | 'settings' | 'emit'>

interface Services {
  readonly pipeline: LoginPipeline
  readonly changes: FactorChanges
  readonly guesses: TicketGuesses
  readonly removal: FactorRemoval
  readonly reAuthentication: ReAuthentication
  readonly codeVerification: CodeVerification
  readonly stepUp: StepUp
  readonly devices: TrustedDevices
  readonly totpFactors: TotpFactors
  readonly backupCodeSets: BackupCodeSets
}

const otp = { amr: ['otp'], isProof: true }

export function createMfa(deps: Deps, services: Services): Mfa {
  const { surface, clock, collections } = deps
  const { changes, guesses, totpFactors, backupCodeSets, stepUp } = services

  async function personOf(enrollee: Enrollee): Promise<User> {
    if (enrollee.kind === 'session') return enrollee.who.user
    return (await guesses.holder(enrollee, 'enrollment')).user
  }

  async function confirm(user: User, code: string): Promise<boolean> {
    if (!(await totpFactors.confirm(user.id, code))) return false
    if (await isUnchanged(collections.users, user)) return true
    // Who was let in by what holds no more must leave nothing behind to sign in with.
    await collections.totpFactors.take(user.id)
    return false
  }

  async function confirmed(
    userId: string,
    backupCodeCount: number,
    source: RequestSource,
  ): Promise<readonly string[]> {
    // The codes of an earlier factor, if any are left, are void with this.
    const backupCodes = await backupCodeSets.regenerate(userId, backupCodeCount)
    await changes.made(userId, 'totpEnrolled', source)
    return backupCodes
  }

  return {
    async status({ user, sessionId }) {
      const [settings, enrolled, provedAt] = await Promise.all([
        deps.settings(),
        enrolledFactors(collections, user.id),
        stepUp.provedAt(user, sessionId),
      ])
      return {
        policy: settingsFor(surface, settings).mfaPolicy,
        totp: { enrolled: enrolled.totp },
        backupCodes: { remaining: enrolled.backupCodes },
        passkeys: enrolled.passkeys,
        provedAt,
      }
    },

    async beginTotp(enrollee, currentPassword, source) {
      const { totpEnabled, totpIssuer } = await deps.settings()
      if (!totpEnabled) throw new AuthError('mfa_method_disabled')
      const user = await personOf(enrollee)
      if (enrollee.kind === 'session') {
        await services.reAuthentication.require(enrollee.who, currentPassword, source)
      }
      const secret = await totpFactors.begin(user.id)
      return { secret, otpauthUri: otpauthUri(secret, totpIssuer, user.email) }
    },

    async confirmTotp(enrollee, code, source) {
      // Both before the factor is confirmed: it must not be left without its codes.
      const { totpEnabled, backupCodeCount } = await deps.settings()
      if (!totpEnabled) throw new AuthError('mfa_method_disabled')
      if (enrollee.kind === 'session') {
        const { user } = enrollee.who
        const { id } = user
        if (!(await confirm(user, code))) throw new AuthError('invalid_mfa_code')
        return { backupCodes: await confirmed(id, backupCodeCount, source), login: null }
      }
      const ticket = await guesses.guess(enrollee, 'enrollment', async (shown) => {
        // Before the factor is one: whoever lost the account meanwhile must not lock its owner out.
        return confirm(await guesses.accountOf(shown), code)
      })
      const backupCodes = await confirmed(ticket.userId, backupCodeCount, source)
      const result = await services.pipeline.complete(ticket, { method: 'totp', ...otp }, source)
      return { backupCodes, login: { result, delivery: ticket.delivery } }
    },

    async removeTotp({ user }, source) {
      if (!(await services.removal.removeTotp(user.id))) throw new AuthError('factor_not_found')
      await changes.made(user.id, 'totpRemoved', source)
    },

    async regenerateBackupCodes({ user }, source) {
      const { backupCodeCount } = await deps.settings()
      const enrolled = await enrolledFactors(collections, user.id)
      if (!hasFactor(enrolled)) throw new AuthError('factor_not_found')
      const backupCodes = await backupCodeSets.regenerate(user.id, backupCodeCount)
      await changes.made(user.id, 'backupCodesRegenerated', source)
      return backupCodes
    },

    async completeLogin(waiting, method, code, source, trust = null) {
      if (trust !== null) await services.devices.requireAllowed()
      const ticket = await guesses.guess(waiting, 'secondFactor', async ({ userId }) => {
        await services.codeVerification.spend(userId, method, code, source)
        return true
      })
      const shown = { method, ...otp }
      const result = await services.pipeline.complete(ticket, shown, source, trust)
      return { result, delivery: ticket.delivery }
    },

    async stepUp({ user, sessionId }, method, code, source) {
      const enrolled = await enrolledFactors(collections, user.id)
      const has = method === 'totp' ? enrolled.totp : hasFactor(enrolled)
      if (!has) throw new AuthError('factor_not_found')
      await services.codeVerification.spend(user.id, method, code, source)
      const provedAt = await stepUp.record(user, sessionId, method)
      const about = { surface, at: clock.now(), ...source, userId: user.id, sessionId }
      deps.emit({ type: 'mfa.steppedUp', ...about, method })
      return provedAt
    },
  }
}
