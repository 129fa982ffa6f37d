import {
  type CreationOptions,
  creationOptions,
  type RegistrationResponse,
  requestOptions,
  verifyRegistration,
} from '../../crypto/webauthn.js'
import { enrollmentStands, hasFactor } from '../../engine/factors.js'
import { AuthError } from '../../errors/index.js'
import type { EnrollmentNotice, Passkey } from '../../model/factors.js'
import { isHuman, type User } from '../../model/user.js'
import type { LoginFailure, PasskeyRefusal } from '../../ports/events.js'
import type { RequestSource } from '../../ports/surface.js'
import { enrolledFactors, passkeysOfUser } from '../context/enrolled-factors.js'
import {
  factorEnrolled,
  requireProvedMailbox,
  type Spared,
  sparing,
} from '../factors/factor-changes.js'
import { type EnrolledUser, enrollFactor, type FactorWrite } from '../factors/factor-enrollment.js'
import { requireReAuthentication } from '../factors/step-up.js'
import { requireDeviceTrustAllowed } from '../factors/trusted-devices.js'
import type { SpentIntent } from '../intents/intents.js'
import {
  attemptLoginTicket,
  loginTicketIdOf,
  openLoginTicket,
  type ShownTicket,
} from '../intents/login-intents.js'
import {
  challengeLifeMs,
  issueChallenge,
  spendChallenge,
  spendPasswordlessChallenge,
} from '../intents/passkey-challenges.js'
import {
  completeLogin,
  type DeliveredLogin,
  type FirstFactor,
  proceedLogin,
  type TrustRequest,
} from '../login/login-pipeline.js'
import type { ShownRecognition } from '../login/login-risk.js'
import type { Enrollee } from '../login/password-login.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import {
  findPasskey,
  mayShowPasskey,
  type NewPasskey,
  noteAssertion,
  passkeyFactor,
  requirePasskeyRoom,
  type ShownPasskey,
  type StartedAssertion,
  showPasskey,
  storePasskey,
  userHandleOf,
  type VerifiedAssertion,
  verifyPasskey,
} from './passkeys.js'

// How a person adds a passkey (WebAuthn §7.1).

export interface RegisteredPasskey {
  readonly passkey: Pick<Passkey, 'id' | 'name' | 'createdAt' | 'lastUsedAt'>
  /** The result of the login that waited for the passkey; null for a signed-in user. */
  readonly login: DeliveredLogin | null
}

/** What a client sends back of a ceremony. */
export interface MadePasskey {
  readonly challengeId: string
  readonly response: RegistrationResponse
  readonly name: string
  /** Left out: if it is the first factor. */
  readonly endOtherSessions?: boolean | undefined
  /** For a login that it completes: what the browser or app sent to be known by. */
  readonly recognition: ShownRecognition
}

/** A person, and the session or the login they register in. */
interface Registrant {
  readonly user: User
  readonly boundTo: string
  readonly spared: Spared
}

/** A passkey that is not stored yet. */
type MadeCredential = Omit<NewPasskey, keyof EnrollmentNotice>

interface Registered extends EnrolledUser {
  readonly intent: SpentIntent<'passkeyRegistration'>
  readonly passkey: MadeCredential
  readonly userVerified: boolean
}

async function allowed(ctx: SurfaceContext) {
  const settings = await ctx.settings()
  if (settings.webauthnMode === 'off') throw new AuthError('mfa_method_disabled')
  return settings
}

async function registrantOf(ctx: SurfaceContext, enrollee: Enrollee): Promise<Registrant> {
  if (enrollee.kind === 'session') {
    const { user, sessionId } = enrollee.who
    return { user, boundTo: sessionId, spared: sparing(sessionId) }
  }
  const { user } = await openLoginTicket(ctx, enrollee, 'enrollment')
  return loginRegistrant(user, enrollee)
}

function loginRegistrant(user: User, shown: ShownTicket): Registrant {
  const keptIntentId = loginTicketIdOf(shown)
  return { user, boundTo: keptIntentId, spared: { keptSessionId: null, keptIntentId } }
}

/** Null for a response that is refused, which an event tells with the reason. */
async function register(
  ctx: SurfaceContext,
  registrant: Registrant,
  made: MadePasskey,
  source: RequestSource,
): Promise<Registered | null> {
  const registered = await verifiedFactor(ctx, registrant, made)
  if (typeof registered !== 'string') return registered
  const { user, spared } = registrant
  const facts = { userId: user.id, method: 'webauthn', sessionId: spared.keptSessionId } as const
  ctx.emit('mfa.failed', source, { ...facts, reason: registered })
  return null
}

async function verifiedFactor(
  ctx: SurfaceContext,
  { user, boundTo, spared }: Registrant,
  { challengeId, response, name, endOtherSessions }: MadePasskey,
): Promise<Registered | PasskeyRefusal> {
  requireProvedMailbox(user)
  const { webauthnUserVerification } = await allowed(ctx)
  const ceremony = { kind: 'passkeyRegistration', user, boundTo } as const
  const intent = await spendChallenge(ctx, challengeId, ceremony)
  if (intent === null) return 'challenge_unknown'
  const { deviceEpoch, credentialEpoch, payload } = intent.stored
  const { challenge } = payload
  const requireUserVerification = webauthnUserVerification === 'required'
  const expected = { ...ctx.relyingParty, challenge, requireUserVerification }
  const credential = await verifyRegistration(response, expected)
  if (typeof credential === 'string') return credential
  await requirePasskeyRoom(ctx, user.id)
  const { userVerified, ...facts } = credential
  const passkey = {
    ...facts,
    userId: user.id,
    deviceEpoch,
    credentialEpoch,
    name,
    uvInitialized: userVerified,
    removingBy: null,
    createdAt: ctx.clock.now(),
    lastUsedAt: null,
    lastChallenge: challenge,
  }
  const place = { spared, endOtherSessions }
  const enrolled = await enrollFactor(ctx, intent, writeOf(ctx, passkey), place)
  // Void by now, as before it was spent.
  return enrolled === null ? 'challenge_unknown' : { ...enrolled, intent, passkey, userVerified }
}

function writeOf(ctx: SurfaceContext, passkey: MadeCredential): FactorWrite {
  const { id, userId } = passkey
  return {
    async store(notice) {
      // These codes are of a factor that is gone: a new one must not revive them. Codes made from here on are another
      // factor's.
      const older = await ctx.collections.backupCodes.get(userId)
      if (older !== null && !hasFactor(await enrolledFactors(ctx.collections, userId))) {
        await ctx.collections.backupCodes.take(userId, { setId: older.setId })
      }
      await storePasskey(ctx, { ...passkey, ...notice })
      return true
    },
    takeBack: ({ enrollmentId }) => ctx.collections.passkeys.take(id, { enrollmentId }),
    mark: ({ enrollmentId }, to) =>
      ctx.collections.passkeys.update(id, { enrollmentId }, { enrollmentId: to }),
    told: ({ expiresAt }) =>
      ctx.collections.passkeys.update(
        id,
        { userId, expiresAt },
        { expiresAt: null, enrollmentId: null },
      ),
  }
}

/** By a login that lacks a factor: it goes on with the one that it added. */
async function finishInLogin(
  ctx: SurfaceContext,
  shown: ShownTicket,
  made: MadePasskey,
  source: RequestSource,
): Promise<RegisteredPasskey> {
  const all: Registered[] = []
  const waiting = await attemptLoginTicket(ctx, shown, 'enrollment', async ({ user }) => {
    const registered = await register(ctx, loginRegistrant(user, shown), made, source)
    if (registered !== null) all.push(registered)
    return registered !== null
  }).catch((error: unknown) => {
    const isWrong = error instanceof AuthError && error.code === 'invalid_mfa_code'
    throw isWrong ? new AuthError('webauthn_failed') : error
  })
  const [registered] = all
  if (registered === undefined) throw new AuthError('webauthn_failed')
  const { user, others, told, intent, passkey, userVerified } = registered
  await factorEnrolled(ctx, user, { change: 'passkeyAdded', source, ...others, told })
  const { recognition } = made
  const factor = { ...passkeyFactor(userVerified), enrolled: intent, trust: null, recognition }
  return { passkey, login: await completeLogin(ctx, waiting, factor, source) }
}

/**
 * For `navigator.credentials.create`. Throws `mfa_method_disabled`, `email_not_verified`, `factor_already_enrolled` when
 * there are as many as there may be, and what re-authentication throws.
 */
export async function startPasskeyRegistration(
  ctx: SurfaceContext,
  enrollee: Enrollee,
  currentPassword: string | undefined,
  source: RequestSource,
): Promise<{ readonly challengeId: string; readonly options: CreationOptions }> {
  const { webauthnMode, webauthnUserVerification, totpIssuer } = await allowed(ctx)
  const { user, boundTo } = await registrantOf(ctx, enrollee)
  requireProvedMailbox(user)
  if (enrollee.kind === 'session') {
    await requireReAuthentication(ctx, enrollee.who, currentPassword, source)
  }
  const exclude = await requirePasskeyRoom(ctx, user.id)
  const { challengeId, challenge } = await issueChallenge(ctx, 'passkeyRegistration', {
    user,
    boundTo,
  })
  const options = await creationOptions({
    rpId: ctx.relyingParty.rpId,
    rpName: totpIssuer,
    challenge,
    userHandle: userHandleOf(user.id),
    userName: user.email,
    displayName: user.name,
    exclude,
    residentKey: webauthnMode === 'passwordless' ? 'required' : 'preferred',
    userVerification: webauthnUserVerification,
    timeoutMs: challengeLifeMs,
  })
  return { challengeId, options }
}

/**
 * Throws `webauthn_failed` for a response that does not verify, `factor_already_enrolled` for a
 * credential that an account already has, `mfa_ticket_invalid`, and `session_revoked` or `session_max_age_reached` where the session
 * has ended. Voids earlier proofs, and ends the other sessions as `endOtherSessions` says.
 */
export async function finishPasskeyRegistration(
  ctx: SurfaceContext,
  enrollee: Enrollee,
  made: MadePasskey,
  source: RequestSource,
): Promise<RegisteredPasskey> {
  if (enrollee.kind === 'ticket') return finishInLogin(ctx, enrollee, made, source)
  const registered = await register(ctx, await registrantOf(ctx, enrollee), made, source)
  if (registered === null) throw new AuthError('webauthn_failed')
  const { user, others, told, passkey } = registered
  await factorEnrolled(ctx, user, { change: 'passkeyAdded', source, ...others, told })
  return { passkey, login: null }
}

export interface PasskeyLoginTerms {
  /** The ticket of the login that waits; null for one without a password. */
  readonly waiting: ShownTicket | null
  /** For a login with a ticket: whether to trust the device it comes from. */
  readonly trust: TrustRequest | null
  /** For a login without one: where its refresh token goes. */
  readonly delivery: DeliveredLogin['delivery']
  /** What the browser or app sent to be known by. */
  readonly recognition: ShownRecognition
}

/** A passkey that signed the challenge it was asked for. */
interface Signed {
  readonly user: User
  readonly verified: VerifiedAssertion
}

async function verification(
  ctx: SurfaceContext,
  waiting: ShownTicket | null,
): Promise<'preferred' | 'required'> {
  const { webauthnMode, webauthnUserVerification } = await ctx.settings()
  if (waiting === null && webauthnMode !== 'passwordless') {
    throw new AuthError('mfa_method_disabled')
  }
  // In place of both factors it has to be both: what the person has, and what they know or are.
  return waiting === null ? 'required' : webauthnUserVerification
}

async function requireMayShow(ctx: SurfaceContext, { id }: User): Promise<void> {
  if (!(await mayShowPasskey(ctx, id))) throw new AuthError('mfa_method_disabled')
}

async function asSecondFactor(
  ctx: SurfaceContext,
  shown: ShownPasskey,
  { waiting, trust, recognition }: PasskeyLoginTerms & { readonly waiting: ShownTicket },
  userVerification: 'preferred' | 'required',
  source: RequestSource,
): Promise<DeliveredLogin> {
  if (trust !== null) await requireDeviceTrustAllowed(ctx)
  let isProof = false
  const login = await attemptLoginTicket(ctx, waiting, 'secondFactor', async ({ user }, budget) => {
    await requireMayShow(ctx, user)
    const boundTo = loginTicketIdOf(waiting)
    const ceremony = { kind: 'passkeySecondFactor', user, boundTo } as const
    const terms = { userVerification, besideFactor: true, budget }
    isProof = (await showPasskey(ctx, ceremony, shown, terms, source)).userVerified
    return true
  }).catch((error: unknown) => {
    const isWrong = error instanceof AuthError && error.code === 'invalid_mfa_code'
    throw isWrong ? new AuthError('invalid_credentials') : error
  })
  const factor = { ...passkeyFactor(isProof), enrolled: null, trust, recognition }
  return completeLogin(ctx, login, factor, source)
}

/**
 * The challenge and the signature come first: until both are right, nothing is known of the caller,
 * nothing is counted against an account, and nothing is told about it.
 */
async function signed(
  ctx: SurfaceContext,
  { challengeId, response }: ShownPasskey,
): Promise<Signed | PasskeyRefusal> {
  const intent = await spendPasswordlessChallenge(ctx, challengeId)
  // Discoverable credentials come with the handle; a caller without one was not asked (WebAuthn §7.2).
  if (intent === null) return 'challenge_unknown'
  if (!response.response.userHandle) return 'user_handle_mismatch'
  const passkey = await findPasskey(ctx, response.id)
  if (passkey === null) return 'credential_unknown'
  const { challenge } = intent.stored.payload
  const terms = { challenge, userVerification: 'required', besideFactor: false } as const
  const verified = await verifyPasskey(ctx, passkey, response, terms)
  if (typeof verified === 'string') return verified
  const user = await ctx.collections.users.get(passkey.userId)
  if (user === null || !enrollmentStands(passkey, user)) return 'credential_unknown'
  return { user, verified }
}

function refuse(
  ctx: SurfaceContext,
  userId: string | null,
  reason: LoginFailure,
  source: RequestSource,
): never {
  ctx.emit('login.failed', source, { userId, method: 'webauthn', reason })
  throw new AuthError('invalid_credentials')
}

async function asBothFactors(
  ctx: SurfaceContext,
  shown: ShownPasskey,
  { trust, delivery, recognition }: PasskeyLoginTerms,
  source: RequestSource,
): Promise<DeliveredLogin> {
  if (trust !== null) {
    const detail = 'trustDevice goes with mfaToken: without a ticket no second factor is asked for.'
    throw new AuthError('invalid_request', { detail })
  }
  const found = await signed(ctx, shown)
  if (typeof found === 'string') return refuse(ctx, null, found, source)
  const { user, verified } = found
  // As after a right password.
  if (!user.enabled || !isHuman(user)) return refuse(ctx, user.id, 'invalid_credentials', source)
  // Nothing is counted: no guess is signed, and a counter that others can reach would keep the owner out.
  const noted = await noteAssertion(ctx, verified, source)
  if (typeof noted === 'string') return refuse(ctx, user.id, noted, source)
  const second = passkeyFactor(true)
  const { method, amr } = second
  const first: FirstFactor = { user, method, amr, delivery, recognition, factors: null, second }
  return { result: await proceedLogin(ctx, first, source), delivery }
}

/**
 * With a ticket: options for the passkeys of the person whose login waits. Without: for any
 * that the person chooses, the same for every caller. Throws `mfa_method_disabled`, `mfa_ticket_invalid` and
 * `factor_not_found`.
 */
export async function startPasskeyLogin(
  ctx: SurfaceContext,
  waiting: ShownTicket | null,
): Promise<StartedAssertion> {
  const userVerification = await verification(ctx, waiting)
  const asked = { rpId: ctx.relyingParty.rpId, userVerification, timeoutMs: challengeLifeMs }
  if (waiting === null) {
    const nobody = { user: null, boundTo: null }
    const { challengeId, challenge } = await issueChallenge(ctx, 'passkeyLogin', nobody)
    return { challengeId, options: await requestOptions({ ...asked, challenge, allow: null }) }
  }
  const { user } = await openLoginTicket(ctx, waiting, 'secondFactor')
  await requireMayShow(ctx, user)
  const allow = await passkeysOfUser(ctx.collections, user.id)
  if (allow.length === 0) throw new AuthError('factor_not_found')
  const of = { user, boundTo: loginTicketIdOf(waiting) }
  const { challengeId, challenge } = await issueChallenge(ctx, 'passkeySecondFactor', of)
  return { challengeId, options: await requestOptions({ ...asked, challenge, allow }) }
}

/**
 * Throws `invalid_credentials` alike for whatever is wrong with the response, `mfa_ticket_invalid`,
 * `rate_limited`, `mfa_method_disabled`, and what the pipeline throws.
 */
export async function finishPasskeyLogin(
  ctx: SurfaceContext,
  shown: ShownPasskey,
  how: PasskeyLoginTerms,
  source: RequestSource,
): Promise<DeliveredLogin> {
  const { waiting } = how
  const userVerification = await verification(ctx, waiting)
  return waiting === null
    ? asBothFactors(ctx, shown, how, source)
    : asSecondFactor(ctx, shown, { ...how, waiting }, userVerification, source)
}
