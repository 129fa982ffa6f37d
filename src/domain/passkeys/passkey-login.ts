import { requestOptions } from '../../crypto/webauthn.js'
import { enrollmentStands } from '../../engine/factors.js'
import { AuthError } from '../../errors/index.js'
import { isHuman, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { passkeysOfUser } from '../context/enrolled-factors.js'
import { requireDeviceTrustAllowed } from '../factors/trusted-devices.js'
import {
  attemptLoginTicket,
  loginTicketIdOf,
  openLoginTicket,
  type ShownTicket,
} from '../intents/login-intents.js'
import {
  challengeLifeMs,
  issueChallenge,
  issuePasswordlessChallenge,
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
import type { SurfaceContext } from '../surface/surface-context.js'
import {
  findPasskey,
  mayShowPasskey,
  noteAssertion,
  passkeyFactor,
  type ShownPasskey,
  type StartedAssertion,
  showPasskey,
  type VerifiedAssertion,
  verifyPasskey,
} from './passkeys.js'

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
  const login = await attemptLoginTicket(ctx, waiting, 'secondFactor', async ({ user }) => {
    await requireMayShow(ctx, user)
    const boundTo = loginTicketIdOf(waiting)
    const ceremony = { kind: 'passkeySecondFactor', user, boundTo } as const
    const terms = { userVerification, besideFactor: true }
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
): Promise<Signed | null> {
  const intent = await spendPasswordlessChallenge(ctx, challengeId)
  // Discoverable credentials come with the handle; a caller without one was not asked (WebAuthn §7.2).
  if (intent === null || !response.response.userHandle) return null
  const passkey = await findPasskey(ctx, response.id)
  if (passkey === null) return null
  const { challenge } = intent.payload
  const terms = { challenge, userVerification: 'required', besideFactor: false } as const
  const verified = await verifyPasskey(ctx, passkey, response, terms)
  const user = verified === null ? null : await ctx.collections.users.get(passkey.userId)
  if (verified === null || user === null || !enrollmentStands(passkey, user)) return null
  return { user, verified }
}

function refuse(ctx: SurfaceContext, userId: string | null, source: RequestSource): never {
  const reason = 'invalid_credentials'
  ctx.emit('login.failed', source, { userId, method: 'webauthn', reason })
  throw new AuthError(reason)
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
  if (found === null) return refuse(ctx, null, source)
  const { user, verified } = found
  const isStanding = user.enabled && isHuman(user)
  // Nothing is counted: no guess is signed, and a counter that others can reach would keep the owner out.
  const isNoted = isStanding && (await noteAssertion(ctx, verified, source)) !== null
  if (!isNoted) return refuse(ctx, user.id, source)
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
    const { challengeId, challenge } = await issuePasswordlessChallenge(ctx)
    return { challengeId, options: await requestOptions({ ...asked, challenge, allow: null }) }
  }
  const { user } = await openLoginTicket(ctx, waiting, 'secondFactor')
  await requireMayShow(ctx, user)
  const allow = await passkeysOfUser(ctx.collections, user.id)
  if (allow.length === 0) throw new AuthError('factor_not_found')
  const boundTo = loginTicketIdOf(waiting)
  const ceremony = { kind: 'passkeySecondFactor', user, boundTo } as const
  const { challengeId, challenge } = await issueChallenge(ctx, ceremony)
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
