import { codeMethod, entryRefusal, entryRules, loginEntry } from '../../engine/accounts.js'
import {
  allowedFactors,
  decideSecondFactor,
  type EnrolledFactors,
  type SecondFactorDecision,
  type SecondFactorMethod,
} from '../../engine/factors.js'
import { budgetOf, storedBudget } from '../../engine/guess-budgets.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError, describeError } from '../../errors/index.js'
import type { TrustedDevice } from '../../model/factors.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { enrolledFactors } from '../context/enrolled-factors.js'
import { recordStepUp } from '../factors/step-up.js'
import {
  announceTrustedDevice,
  type DeviceGrant,
  issueTrustedDevice,
  nextDeviceId,
  recogniseDevice,
} from '../factors/trusted-devices.js'
import type { OpenedIntent } from '../intents/intents.js'
import {
  type EnrolledByLogin,
  type IssuedLoginTicket,
  issueLoginTicket,
  issueMailedTicket,
  type LoginKind,
  spendLoginTicket,
} from '../intents/login-intents.js'
import { bindOauthCode } from '../intents/oauth-flows.js'
import { isSignInKey, knownLoginsOf, type StoredLogin } from '../passwords/guess-budgets.js'
import {
  clearedLogin,
  type LoginFacts,
  type OpenedSession,
  openSession,
} from '../sessions/sessions.js'
import { devicesIn } from '../sessions/tokens.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import {
  type JudgedLogin,
  judgeLoginRisk,
  noteGuesses,
  notifyLogin,
  type RecognitionGrant,
  type ShownRecognition,
} from './login-risk.js'

// What every login goes through, whatever its first factor was.

/** A login that waits for its second factor, as it was judged when the factor was accepted. */
export type WaitingLogin = OpenedIntent<LoginKind>

/** The second factor of a login that waited for it. */
export interface CompletingFactor extends ShownSecond {
  /** Where the login added it itself; null of one that was there. */
  readonly enrolled: EnrolledByLogin | null
  /** Whether to trust the device from now on. */
  readonly trust: TrustRequest | null
  /** What the browser or app sent to be known by. */
  readonly recognition: ShownRecognition
}

async function known(ctx: SurfaceContext, { user, factors }: FirstFactor) {
  return factors?.userId === user.id ? factors : lookUpFactors(ctx, user.id)
}

function judge(
  ctx: SurfaceContext,
  { user, method, second, failedAttempts = 0, delivery, recognition }: FirstFactor,
  deviceId: string | null,
  history: FactorsOfUser['history'],
  source: RequestSource,
): Promise<JudgedLogin> {
  const mfaMethod = second?.method ?? null
  const recognitionId = recognition[delivery]
  const factors = { method, mfaMethod, deviceId, failedAttempts }
  return judgeLoginRisk(ctx, user, { ...factors, recognitionId, history }, source)
}

async function advance(
  ctx: SurfaceContext,
  first: FirstFactor,
  source: RequestSource,
): Promise<LoginResult> {
  await requireActive(ctx, first, source)
  const factors = await known(ctx, first)
  const decision = await secondFactorFor(ctx, factors, first)
  const asked = decision.kind === 'ask' ? decision.methods : null
  const device = asked === null ? null : await trustedDeviceOf(ctx, first)
  if (asked !== null && device === null)
    return askForFactor(ctx, asked, { ...first, factors }, source)
  const deviceId = device?.id ?? null
  const judged = await judge(ctx, first, deviceId, factors.history, source)
  if (asked !== null && judged.level === 'high') {
    return askForFactor(ctx, asked, { ...first, factors }, source)
  }
  // After the second factor, where there is one: a known password alone replaces no password.
  if (await isPasswordTooOld(ctx, first)) return askForPassword(ctx, first, source)
  if (decision.kind === 'enroll') return askToEnroll(ctx, { ...first, factors }, source)
  const { user, method: loginMethod, amr, second, delivery } = first
  const { recognition } = judged
  const login = { user, loginMethod, amr, deviceId, delivery, recognition }
  const session = await openLoginSession(ctx, login, second, source)
  await bindLogin(ctx, session, first.federated, 'invalid_token', source)
  notifyLogin(ctx, session, judged, source)
  return { status: 'authenticated', session, recognition }
}

/**
 * Account state, factor policy, trusted device, risk, password age, session, in this order. Throws
 * `invalid_credentials` and `email_not_verified`, and `invalid_token` for an app's code that came
 * again meanwhile.
 */
export async function proceedLogin(
  ctx: SurfaceContext,
  first: FirstFactor,
  source: RequestSource,
): Promise<LoginResult> {
  const result = await advance(ctx, first, source)
  if (result.status !== 'authenticated') {
    const { user, failedAttempts = 0, factors, delivery, recognition } = first
    const guesses = { failedAttempts, history: factors?.history ?? [] }
    noteGuesses(ctx, user, { ...guesses, recognitionId: recognition[delivery] }, source)
  }
  return result
}

/**
 * Goes on where a ticket was issued, its second factor just accepted. Throws
 * `mfa_ticket_invalid` when the ticket was spent, or the account changed since, and
 * `email_not_verified`. With `trust`, call `requireDeviceTrustAllowed` before the factor is
 * spent.
 */
export async function completeLogin(
  ctx: SurfaceContext,
  waiting: WaitingLogin,
  { enrolled, trust, recognition: sent, ...shown }: CompletingFactor,
  source: RequestSource,
): Promise<DeliveredLogin> {
  const [{ user, stored }, history] = await Promise.all([
    spendLoginTicket(ctx, waiting, enrolled),
    knownLoginsOf(ctx, waiting.user.id),
  ])
  const { method: loginMethod, amr, delivery } = stored.payload
  const how = { user, method: loginMethod }
  await requireActive(ctx, how, source)
  if (await isPasswordTooOld(ctx, how)) {
    return { result: await askForPassword(ctx, how, source), delivery }
  }
  const deviceId = trust === null ? null : nextDeviceId(ctx)
  const mfaMethod = shown.method
  const recognitionId = sent[delivery]
  const factors = { method: loginMethod, mfaMethod, deviceId, failedAttempts: 0 }
  const judged = await judgeLoginRisk(ctx, user, { ...factors, recognitionId, history }, source)
  const { recognition } = judged
  const login = { user, loginMethod, amr, deviceId, delivery, recognition }
  const session = await openLoginSession(ctx, login, shown, source)
  await bindLogin(ctx, session, stored.payload, 'mfa_ticket_invalid', source)
  notifyLogin(ctx, session, judged, source)
  const { sessionId } = session
  const device =
    deviceId === null || trust === null
      ? null
      : await trustDeviceOfLogin(ctx, { user, sessionId }, deviceId, trust, source)
  const granted = device === null ? {} : { device }
  return { result: { status: 'authenticated', session, recognition, ...granted }, delivery }
}

// The checks that a login passes. None of them changes anything.

type HowFirst = Pick<FirstFactor, 'user' | 'method'>

/**
 * Called only after a first factor was shown. Throws `invalid_credentials`, `email_not_verified`, and
 * `password_login_disabled` or `mfa_method_disabled` where this first factor was switched off meanwhile.
 */
async function requireActive(
  ctx: SurfaceContext,
  { user, method }: HowFirst,
  source: RequestSource,
): Promise<void> {
  const rules = entryRules(ctx.surface, await ctx.settings())
  const refusal = entryRefusal(loginEntry(method), rules, { account: user })
  if (refusal === null) return
  if (refusal === 'email_not_verified') {
    ctx.emit('login.failed', source, { userId: user.id, method, reason: refusal })
  }
  throw new AuthError(refusal)
}

async function isPasswordTooOld(ctx: SurfaceContext, { user, method }: HowFirst): Promise<boolean> {
  const settings = await ctx.settings()
  const { passwordMaxAge } = settings
  // Only where it can be replaced: what a code opens may have no password, or a surface that takes none.
  const { passwordLoginEnabled } = settingsFor(ctx.surface, settings)
  const isAsked = method === codeMethod && user.passwordHash !== null && passwordLoginEnabled
  if (passwordMaxAge === null || !(method === 'password' || isAsked)) return false
  return ctx.clock.now() - (user.passwordChangedAt ?? user.createdAt) > passwordMaxAge
}

/** Whether the policy asks for a second factor, and for which. */
async function secondFactorFor(
  ctx: SurfaceContext,
  known: FactorsOfUser,
  { second }: FirstFactor,
): Promise<SecondFactorDecision> {
  if (second !== null) return { kind: 'none' }
  const settings = await ctx.settings()
  const { mfaPolicy: policy } = settingsFor(ctx.surface, settings)
  const allowed = allowedFactors(settings)
  return decideSecondFactor({ policy, enrolled: enrolledOf(known), allowed })
}

/** The device that stands for the second factor; never for one that would set a password. */
async function trustedDeviceOf(
  ctx: SurfaceContext,
  first: FirstFactor,
): Promise<TrustedDevice | null> {
  if (await isPasswordTooOld(ctx, first)) return null
  return recogniseDevice(ctx, first.user, first.deviceToken)
}

// What a login leaves behind: what it still lacks is asked for, or its session is opened.

/** That the device a login comes from is to be trusted from now on. */
export interface TrustRequest {
  /** Empty when it has none. */
  readonly name: string
}

/** A token for a password that must be replaced now. */
const passwordTokenMs = 5 * 60 * 1000

const localLogin: ProviderFacts = { identityId: null, browserHash: null, oauthCodeId: null }

async function issueTicket(
  ctx: SurfaceContext,
  { user, method, amr, delivery, federated = localLogin, ...first }: FirstFactor,
  missing: LoginKind,
  source: RequestSource,
): Promise<IssuedLoginTicket> {
  const { browserHash: boundTo, ...provider } = federated
  const hashes = ctx.recognisesDevices ? devicesIn(user.id, first.recognition[delivery]) : []
  const claim = { hashes, hasSignInKey: isSignInKey(ctx, user, first.signInKey ?? null) }
  const budget = storedBudget(budgetOf('secondFactor', claim, first.factors?.history ?? [], user))
  const payload = { method, amr: [...amr], delivery, ...provider, budget }
  const issued = await issueLoginTicket(ctx, missing, { user, boundTo, payload })
  ctx.emit('mfa.required', source, { userId: user.id, method, missing })
  return issued
}

async function recordProof(
  ctx: SurfaceContext,
  { user, sessionId }: Pick<OpenedSession, 'user' | 'sessionId'>,
  method: SecondFactorMethod,
): Promise<void> {
  try {
    await recordStepUp(ctx, user, sessionId, method)
  } catch (error) {
    // The login stands; without the proof a later step-up asks once more.
    ctx.logger.warn('a login left no step-up proof', describeError(error))
  }
}

async function askForFactor(
  ctx: SurfaceContext,
  methods: readonly SecondFactorMethod[],
  first: FirstFactor,
  source: RequestSource,
): Promise<LoginResult> {
  const issued = await issueTicket(ctx, first, 'secondFactor', source)
  return { status: 'mfaRequired', ...issued, methods }
}

async function askToEnroll(
  ctx: SurfaceContext,
  first: FirstFactor,
  source: RequestSource,
): Promise<LoginResult> {
  const issued = await issueTicket(ctx, first, 'enrollment', source)
  return { status: 'mfaEnrollmentRequired', ...issued }
}

async function askForPassword(
  ctx: SurfaceContext,
  { user, method }: Pick<FirstFactor, 'user' | 'method'>,
  source: RequestSource,
): Promise<LoginResult> {
  const terms = { user, boundTo: null, payload: {}, lifeMs: passwordTokenMs }
  const { token } = await issueMailedTicket(ctx, 'expiredPassword', terms)
  ctx.emit('login.failed', source, { userId: user.id, method, reason: 'password_expired' })
  return { status: 'passwordChangeRequired', passwordToken: token }
}

/** A second factor that was shown is mostly a step-up proof of this moment as well. */
async function openLoginSession(
  ctx: SurfaceContext,
  login: Omit<LoginFacts, 'mfaMethod'>,
  second: ShownSecond | null,
  source: RequestSource,
): Promise<OpenedSession> {
  // A device is no factor: the session says of itself that it has shown one only.
  if (second === null) {
    return openSession(ctx, clearedLogin({ ...login, mfaMethod: null }), source)
  }
  const { method: mfaMethod, isProof } = second
  const amr = [...new Set([...login.amr, ...second.amr, 'mfa'])]
  const session = await openSession(ctx, clearedLogin({ ...login, mfaMethod, amr }), source)
  // The proof has the epoch that the factor was judged in: if it changed meanwhile, the proof does not count.
  if (isProof) await recordProof(ctx, { ...session, user: login.user }, mfaMethod)
  return session
}

/**
 * Call it before the session is handed out: an app's code that comes again has to find what it gave.
 * Throws the refusal when it came again already.
 */
async function bindLogin(
  ctx: SurfaceContext,
  session: OpenedSession,
  { oauthCodeId }: Pick<ProviderFacts, 'oauthCodeId'> | undefined = localLogin,
  refusal: 'invalid_token' | 'mfa_ticket_invalid',
  source: RequestSource,
): Promise<void> {
  if (!(await bindOauthCode(ctx, oauthCodeId, session, source))) throw new AuthError(refusal)
}

/** Trusts the device of a login that showed a second factor; null where that could not be kept. */
async function trustDeviceOfLogin(
  ctx: SurfaceContext,
  { user, sessionId }: Pick<OpenedSession, 'user' | 'sessionId'>,
  deviceId: string,
  { name }: TrustRequest,
  source: RequestSource,
): Promise<DeviceGrant | null> {
  try {
    const grant = await issueTrustedDevice(ctx, user, deviceId, name)
    announceTrustedDevice(ctx, { user, sessionId }, deviceId, source)
    return grant
  } catch (error) {
    // The login stands; without the grant the next one asks once more.
    ctx.logger.warn('a login left no trusted device', describeError(error))
    return null
  }
}

/** A first factor that was accepted, and how. */
export interface FirstFactor {
  readonly user: User
  /** `password`, `webauthn`, `email_code`, or the id of a provider. */
  readonly method: string
  /** RFC 8176 */
  readonly amr: readonly string[]
  /** Where the refresh token goes. */
  readonly delivery: 'cookie' | 'body'
  /** What `lookUpFactors` gave for this user. `null` lets the pipeline look itself. */
  readonly factors: FactorsOfUser | null
  /** The second factor that came with it; null of a factor that is only a first one. */
  readonly second: ShownSecond | null
  /** What the device sent to be known by; left out where none can come along. */
  readonly deviceToken?: string | null
  /** What the browser or app sent to be known by. */
  readonly recognition: ShownRecognition
  /** What a reset gave; left out of a first factor that is no password. */
  readonly signInKey?: string | null
  /** The facts of a login through an identity provider; left out of all others. */
  readonly federated?: ProviderFacts
  /** Wrong guesses at it that were counted right before. */
  readonly failedAttempts?: number
}

/** What a login by a provider hangs on until it is complete. */
export interface ProviderFacts {
  /** The account at a provider that signed in; null for a login that began otherwise. */
  readonly identityId: string | null
  /** SHA-256 of what the browser keeps whose flow it is; null for a login that was no browser's flow. */
  readonly browserHash: string | null
  /** The app's code or the browser's flow that began the login; null if neither did. */
  readonly oauthCodeId: string | null
}

/** A second factor that was accepted, and how. */
export interface ShownSecond {
  readonly method: SecondFactorMethod
  /** RFC 8176 */
  readonly amr: readonly string[]
  /** Whether it is a step-up proof of this moment as well. */
  readonly isProof: boolean
}

export type LoginResult =
  | {
      readonly status: 'authenticated'
      readonly session: OpenedSession
      /** For the device to be known by; null where recognition is off. */
      readonly recognition: RecognitionGrant | null
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

const lookedUp = Symbol('lookedUp')

/** What a user can show a second factor with, and their past logins, as they were read here. */
export interface FactorsOfUser {
  readonly [lookedUp]: EnrolledFactors
  readonly history: readonly StoredLogin[]
  readonly userId: string
}

/** For a first factor to read ahead, beside a slower check of its own. */
export async function lookUpFactors(ctx: SurfaceContext, userId: string): Promise<FactorsOfUser> {
  const [enrolled, history] = await Promise.all([
    enrolledFactors(ctx.collections, userId),
    knownLoginsOf(ctx, userId),
  ])
  return { [lookedUp]: enrolled, history, userId }
}

function enrolledOf(factors: FactorsOfUser): EnrolledFactors {
  return factors[lookedUp]
}
