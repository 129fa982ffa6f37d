import { entryRefusal, entryRules } from '../../engine/accounts.js'
import { AuthError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SignedIn } from '../context/actor.js'
import { readEmail } from '../context/email-address.js'
import { type ShownCode, spendCode } from '../factors/code-verification.js'
import { sparing } from '../factors/factor-changes.js'
import { requireReAuthentication } from '../factors/step-up.js'
import {
  beginTotpEnrollment,
  type ConfirmedTotp,
  confirmTotpEnrollment,
  type EnrollmentTerms,
  finishTotpEnrollment,
  totpTerms,
} from '../factors/totp-enrollment.js'
import { requireDeviceTrustAllowed } from '../factors/trusted-devices.js'
import {
  attemptLoginTicket,
  loginTicketIdOf,
  openLoginTicket,
  type ShownTicket,
} from '../intents/login-intents.js'
import { wasRegisteredBy } from '../intents/pending-registrations.js'
import { checkPasswordOfAddress } from '../passwords/password-check.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import {
  completeLogin,
  type DeliveredLogin,
  type FirstFactor,
  type LoginResult,
  lookUpFactors,
  proceedLogin,
  type TrustRequest,
} from './login-pipeline.js'
import type { ShownRecognition } from './login-risk.js'

/** What a login comes from, and where its tokens go. */
export interface LoginDevice extends Pick<FirstFactor, 'delivery' | 'deviceToken' | 'recognition'> {
  /** What the browser or app keeps of its registrations; null without. */
  readonly registrationKey: string | null
  /** What a reset gave; null without. */
  readonly signInKey: string | null
}

async function registeredHere(
  ctx: SurfaceContext,
  typed: string,
  shown: string | null,
): Promise<boolean> {
  const email = await readEmail(typed)
  if (email === null || shown === null) return false
  return wasRegisteredBy(ctx, shown, email)
}

async function provenUser(
  ctx: SurfaceContext,
  shown: Parameters<typeof checkPasswordOfAddress>[1],
  registrationKey: string | null,
  source: RequestSource,
) {
  const checked = await checkPasswordOfAddress(ctx, shown, source, (found) =>
    lookUpFactors(ctx, found?.id ?? ctx.memory.nobody),
  )
  const { ok, user, beside: factors, failedAttempts, upgrade, forgiven } = checked
  if (!ok || user === null) {
    ctx.emit('login.failed', source, {
      userId: user?.id ?? null,
      method: 'password',
      reason: 'invalid_credentials',
    })
    const isWaiting = await registeredHere(ctx, shown.email, registrationKey)
    throw new AuthError(isWaiting ? 'email_not_verified' : 'invalid_credentials')
  }
  return { proven: { user, factors, failedAttempts }, upgrade, forgiven }
}

/**
 * Throws `invalid_credentials` alike for an unknown address, a wrong password, a disabled
 * account, a machine account and one without a password, after exactly one hash verification and the
 * same reads.
 * Anything else that is wrong with an account is said only to a caller with its password. A caller who
 * registered the address in the same browser or app and did not confirm it gets `email_not_verified` in
 * place of `invalid_credentials`, whether or not the address has an account.
 */
export async function loginWithPassword(
  ctx: SurfaceContext,
  typed: string,
  password: string,
  device: LoginDevice,
  source: RequestSource,
): Promise<LoginResult> {
  const rules = entryRules(ctx.surface, await ctx.settings())
  const refusal = entryRefusal('passwordLogin', rules)
  if (refusal !== null) throw new AuthError(refusal)
  const { registrationKey, ...to } = device
  const { signInKey, recognition, delivery } = device
  const recognitionId = recognition[delivery]
  const { proven, upgrade, forgiven } = await provenUser(
    ctx,
    { email: typed, password, recognitionId, signInKey },
    registrationKey,
    source,
  )
  try {
    const how = { method: 'password', amr: ['pwd'], second: null, ...to }
    const result = await proceedLogin(ctx, { ...proven, ...how }, source)
    // A password that has to be replaced gets a new hash in any case.
    if (result.status !== 'passwordChangeRequired') await upgrade()
    return result
  } finally {
    await forgiven
  }
}

// Logins that a code completes, and the authenticator app that a login may lack.

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
}

/** What a login that a code completes is to do with its device. */
export interface CodeLoginTerms {
  readonly trust: TrustRequest | null
  /** What the browser or app sent to be known by. */
  readonly recognition: ShownRecognition
}

const otp = { amr: ['otp'], isProof: true }

/** By a login that lacks a factor: it goes on with the one that it added. */
async function confirmInLogin(
  ctx: SurfaceContext,
  shown: ShownTicket,
  { code, endOtherSessions, recognition }: ShownEnrollment,
  terms: EnrollmentTerms,
  source: RequestSource,
): Promise<TotpConfirmation> {
  const made: ConfirmedTotp[] = []
  const waiting = await attemptLoginTicket(ctx, shown, 'enrollment', async ({ user }) => {
    const keptIntentId = loginTicketIdOf(shown)
    const bound = { boundTo: keptIntentId, code }
    const place = { spared: { keptSessionId: null, keptIntentId }, endOtherSessions }
    const confirmed = await confirmTotpEnrollment(ctx, user, bound, place)
    if (confirmed !== null) made.push(confirmed)
    return confirmed !== null
  })
  const [confirmed] = made
  if (confirmed === undefined) throw new AuthError('invalid_mfa_code')
  const backupCodes = await finishTotpEnrollment(ctx, confirmed, terms, source)
  const factor = { method: 'totp', ...otp, enrolled: confirmed.intent, trust: null } as const
  const login = await completeLogin(ctx, waiting, { ...factor, recognition }, source)
  return { backupCodes, login }
}

/** A secret to be scanned. Throws `mfa_method_disabled`, `factor_already_enrolled`, and what re-authentication throws. */
export async function beginTotpAtLogin(
  ctx: SurfaceContext,
  enrollee: Enrollee,
  currentPassword: string | undefined,
  source: RequestSource,
): Promise<{ readonly secret: string; readonly otpauthUri: string }> {
  const terms = await totpTerms(ctx)
  if (enrollee.kind === 'ticket') {
    const { user } = await openLoginTicket(ctx, enrollee, 'enrollment')
    return beginTotpEnrollment(ctx, user, loginTicketIdOf(enrollee), terms)
  }
  const { user, sessionId } = enrollee.who
  await requireReAuthentication(ctx, enrollee.who, currentPassword, source)
  return beginTotpEnrollment(ctx, user, sessionId, terms)
}

/**
 * Throws `invalid_mfa_code` and `mfa_ticket_invalid`, and `session_revoked` where the session has ended. Voids earlier
 * proofs. Ends the other sessions as `endOtherSessions` says; left out, if this is the first factor.
 */
export async function confirmTotpAtLogin(
  ctx: SurfaceContext,
  enrollee: Enrollee,
  shown: ShownEnrollment,
  source: RequestSource,
): Promise<TotpConfirmation> {
  // Before the factor is confirmed: it must not be left without its codes.
  const terms = await totpTerms(ctx)
  if (enrollee.kind === 'ticket') return confirmInLogin(ctx, enrollee, shown, terms, source)
  const { user, sessionId } = enrollee.who
  const { code, endOtherSessions } = shown
  const bound = { boundTo: sessionId, code }
  const place = { spared: sparing(sessionId), endOtherSessions }
  const confirmed = await confirmTotpEnrollment(ctx, user, bound, place)
  if (confirmed === null) throw new AuthError('invalid_mfa_code')
  return { backupCodes: await finishTotpEnrollment(ctx, confirmed, terms, source), login: null }
}

/**
 * Throws `invalid_mfa_code`, `mfa_ticket_invalid` and `rate_limited`; with `trust`, also
 * `mfa_method_disabled`, before the code is spent.
 */
export async function completeMfaLogin(
  ctx: SurfaceContext,
  waiting: ShownTicket,
  code: ShownCode,
  terms: CodeLoginTerms,
  source: RequestSource,
): Promise<DeliveredLogin> {
  if (terms.trust !== null) await requireDeviceTrustAllowed(ctx)
  const login = await attemptLoginTicket(ctx, waiting, 'secondFactor', async ({ user }, budget) => {
    await spendCode(ctx, user.id, { ...code, budget }, source)
    return true
  })
  const shown = { method: code.method, ...otp, enrolled: null, ...terms }
  return completeLogin(ctx, login, shown, source)
}
