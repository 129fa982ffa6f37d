import { otpauthUri } from '../crypto/totp.js'
import { settingsFor } from '../engine/surface-settings.js'
import { AuthError } from '../errors.js'
import type { LoginTicket } from '../model/login-ticket.js'
import type { User } from '../model/user.js'
import type { MfaChange } from '../ports/telemetry.js'
import type { BackupCodeSets } from './backup-code-sets.js'
import { enrolledFactors } from './enrolled-factors.js'
import type { LoginPipeline, LoginResult } from './login-pipeline.js'
import type { LoginTickets } from './login-tickets.js'
import type { Occasion } from './occasion.js'
import type { SignedIn } from './principal.js'
import { raiseDeviceEpoch } from './raise-device-epoch.js'
import type { ReAuthentication } from './re-authentication.js'
import type { CodeMethod, SecondFactors } from './second-factors.js'
import type { StepUp } from './step-up.js'
import type { SurfaceDeps } from './surface-deps.js'
import type { TotpFactors } from './totp-factors.js'

/** Who enrolls a factor: somebody signed in, or a login that lacks one. */
export type Enrollee =
  | { readonly kind: 'session'; readonly who: SignedIn }
  | { readonly kind: 'ticket'; readonly mfaToken: string }

export interface MfaStatus {
  readonly policy: 'off' | 'optional' | 'required'
  readonly totp: { readonly enrolled: boolean }
  readonly backupCodes: { readonly remaining: number }
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
    occasion: Occasion,
  ): Promise<{ readonly secret: string; readonly otpauthUri: string }>
  /** Throws `invalid_mfa_code` and `mfa_ticket_invalid`. Voids earlier proofs. */
  confirmTotp(enrollee: Enrollee, code: string, occasion: Occasion): Promise<TotpConfirmation>
  /** Throws `factor_not_found` and `last_factor_required`. The caller has shown a second factor. */
  removeTotp(who: SignedIn, occasion: Occasion): Promise<void>
  /** A new set; the old one is void. Throws `factor_not_found` for who has no factor. */
  regenerateBackupCodes(who: SignedIn, occasion: Occasion): Promise<readonly string[]>
  /** Throws `invalid_mfa_code`, `mfa_ticket_invalid` and `rate_limited`. */
  completeLogin(
    mfaToken: string,
    method: CodeMethod,
    code: string,
    occasion: Occasion,
  ): Promise<DeliveredLogin>
  /** Epoch milliseconds of the proof. Throws `factor_not_found`, `invalid_mfa_code`. */
  stepUp(who: SignedIn, method: CodeMethod, code: string, occasion: Occasion): Promise<number>
}

type Deps = Pick<SurfaceDeps, 'surface' | 'collections' | 'clock' | 'settings' | 'limits' | 'emit'>

interface Services {
  readonly pipeline: LoginPipeline
  readonly loginTickets: LoginTickets
  readonly reAuthentication: ReAuthentication
  readonly secondFactors: SecondFactors
  readonly stepUp: StepUp
  readonly totpFactors: TotpFactors
  readonly backupCodeSets: BackupCodeSets
}

const amr = ['otp']

export function createMfa(deps: Deps, services: Services): Mfa {
  const { surface, clock, collections } = deps
  const { loginTickets, totpFactors, backupCodeSets, stepUp } = services

  async function personOf(enrollee: Enrollee): Promise<User> {
    if (enrollee.kind === 'session') return enrollee.who.user
    const ticket = await loginTickets.read(enrollee.mfaToken, 'enrollment')
    await deps.limits.check('mfaPerUser', ticket.userId)
    return accountOf(ticket)
  }

  /** Whose ticket it is. Throws `mfa_ticket_invalid` when the account changed since: the password, say. */
  async function accountOf(ticket: LoginTicket): Promise<User> {
    const { userId, sessionEpoch, credentialEpoch } = ticket
    const user = await collections.users.get(userId)
    const isSame = user?.sessionEpoch === sessionEpoch && user.credentialEpoch === credentialEpoch
    if (!isSame || !user.enabled) throw new AuthError('mfa_ticket_invalid')
    return user
  }

  async function changed(userId: string, change: MfaChange, occasion: Occasion): Promise<void> {
    await raiseDeviceEpoch(collections.users, userId)
    const about = { surface, at: clock.now(), ...occasion, userId, actorId: userId }
    deps.emit({ type: 'mfa.changed', ...about, change })
  }

  /** Counts the guess at the ticket before `check` looks at it; the last wrong one destroys it. */
  async function guessed(
    mfaToken: string,
    purpose: 'secondFactor' | 'enrollment',
    check: (ticket: LoginTicket) => Promise<boolean>,
  ) {
    const { mfaMaxAttempts } = await deps.settings()
    const read = await loginTickets.read(mfaToken, purpose)
    await deps.limits.check('mfaPerUser', read.userId)
    const ticket = await loginTickets.countGuess(read, mfaMaxAttempts)
    const ok = await check(ticket).catch(async (error: unknown) => {
      if (error instanceof AuthError && error.code === 'invalid_mfa_code') return false
      // It could not be checked: the guess is handed back.
      await loginTickets.forgive(ticket)
      throw error
    })
    if (ok) return ticket
    if (ticket.attempts < mfaMaxAttempts) throw new AuthError('invalid_mfa_code')
    await loginTickets.take(ticket)
    throw new AuthError('mfa_ticket_invalid')
  }

  async function confirmed(
    userId: string,
    backupCodeCount: number,
    occasion: Occasion,
  ): Promise<readonly string[]> {
    // The codes of an earlier factor, if any are left, are void with this.
    const backupCodes = await backupCodeSets.regenerate(userId, backupCodeCount)
    await changed(userId, 'totpEnrolled', occasion)
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
        provedAt,
      }
    },

    async beginTotp(enrollee, currentPassword, occasion) {
      const { totpEnabled, totpIssuer } = await deps.settings()
      if (!totpEnabled) throw new AuthError('mfa_method_disabled')
      const user = await personOf(enrollee)
      if (enrollee.kind === 'session') {
        await services.reAuthentication.require(enrollee.who, currentPassword, occasion)
      }
      const secret = await totpFactors.begin(user.id)
      return { secret, otpauthUri: otpauthUri(secret, totpIssuer, user.email) }
    },

    async confirmTotp(enrollee, code, occasion) {
      // Both before the factor is confirmed: it must not be left without its codes.
      const { totpEnabled, backupCodeCount } = await deps.settings()
      if (!totpEnabled) throw new AuthError('mfa_method_disabled')
      if (enrollee.kind === 'session') {
        const { id } = enrollee.who.user
        if (!(await totpFactors.confirm(id, code))) throw new AuthError('invalid_mfa_code')
        return { backupCodes: await confirmed(id, backupCodeCount, occasion), login: null }
      }
      const ticket = await guessed(enrollee.mfaToken, 'enrollment', async (shown) => {
        // Before the factor is one: whoever lost the account meanwhile must not lock its owner out.
        const { id } = await accountOf(shown)
        return totpFactors.confirm(id, code)
      })
      const backupCodes = await confirmed(ticket.userId, backupCodeCount, occasion)
      const result = await services.pipeline.complete(ticket, { method: 'totp', amr }, occasion)
      return { backupCodes, login: { result, delivery: ticket.delivery } }
    },

    async removeTotp({ user }, occasion) {
      const { mfaPolicy } = settingsFor(surface, await deps.settings())
      const factor = await collections.totpFactors.get(user.id)
      if (!factor?.confirmed) throw new AuthError('factor_not_found')
      // It is the only kind of factor there is.
      if (mfaPolicy === 'required') throw new AuthError('last_factor_required')
      if (!(await totpFactors.remove(user.id))) throw new AuthError('factor_not_found')
      await changed(user.id, 'totpRemoved', occasion)
    },

    async regenerateBackupCodes({ user }, occasion) {
      const { backupCodeCount } = await deps.settings()
      const { totp } = await enrolledFactors(collections, user.id)
      if (!totp) throw new AuthError('factor_not_found')
      const backupCodes = await backupCodeSets.regenerate(user.id, backupCodeCount)
      await changed(user.id, 'backupCodesRegenerated', occasion)
      return backupCodes
    },

    async completeLogin(mfaToken, method, code, occasion) {
      const ticket = await guessed(mfaToken, 'secondFactor', async ({ userId }) => {
        await services.secondFactors.spend(userId, method, code, occasion)
        return true
      })
      const result = await services.pipeline.complete(ticket, { method, amr }, occasion)
      return { result, delivery: ticket.delivery }
    },

    async stepUp({ user, sessionId }, method, code, occasion) {
      const { totp } = await enrolledFactors(collections, user.id)
      if (!totp) throw new AuthError('factor_not_found')
      await services.secondFactors.spend(user.id, method, code, occasion)
      const provedAt = await stepUp.record(user, sessionId, method)
      const about = { surface, at: clock.now(), ...occasion, userId: user.id, sessionId }
      deps.emit({ type: 'mfa.steppedUp', ...about, method })
      return provedAt
    },
  }
}
