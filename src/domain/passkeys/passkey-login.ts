import { type RequestOptions, requestOptions } from '../../crypto/webauthn.js'
import { enrollmentStands } from '../../engine/factors.js'
import { AuthError } from '../../errors/index.js'
import { isHuman, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { passkeysOfUser } from '../context/enrolled-factors.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { TrustedDevices } from '../factors/trusted-devices.js'
import type { ShownLinkKey } from '../intents/link-offers.js'
import type { LoginIntents, ShownTicket } from '../intents/login-intents.js'
import { challengeLifeMs, type PasskeyChallenges } from '../intents/passkey-challenges.js'
import type { FirstFactor } from '../login/first-factor.js'
import type { TrustRequest } from '../login/login-effects.js'
import type { LoginPipeline } from '../login/login-pipeline.js'
import type { DeliveredLogin } from '../login/login-result.js'
import type { ShownRecognition } from '../login/recognition.js'
import { mayShowPasskey } from './may-show-passkey.js'
import type { PasskeyAssertions, VerifiedAssertion } from './passkey-assertions.js'
import { passkeyFactor } from './passkey-factor.js'
import type { PasskeyProofs, ShownPasskey } from './passkey-proofs.js'

export interface StartedAssertion {
  readonly challengeId: string
  readonly options: RequestOptions
}

/** Passkeys at a login: behind a first factor, or in place of both (WebAuthn §7.2). */
export interface PasskeyLogin {
  /**
   * With a ticket: options for the passkeys of the person whose login waits. Without: for any
   * that the person chooses, the same for every caller. Throws `mfa_method_disabled`, `mfa_ticket_invalid` and
   * `factor_not_found`.
   */
  start(waiting: ShownTicket | null): Promise<StartedAssertion>
  /**
   * Throws `invalid_credentials` alike for whatever is wrong with the response, `mfa_ticket_invalid`,
   * `rate_limited`, `mfa_method_disabled`, and what the pipeline throws.
   */
  finish(
    shown: ShownPasskey,
    how: PasskeyLoginTerms,
    source: RequestSource,
  ): Promise<DeliveredLogin>
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
  /** What it brings of a sign-in by a provider that bounced. */
  readonly linkKey: ShownLinkKey
}

type Deps = Pick<SurfaceContext, 'collections' | 'settings' | 'emit' | 'relyingParty'>

interface Services {
  readonly assertions: PasskeyAssertions
  readonly challenges: PasskeyChallenges
  readonly devices: TrustedDevices
  readonly loginIntents: LoginIntents
  readonly pipeline: LoginPipeline
  readonly proofs: PasskeyProofs
}

/** A passkey that signed the challenge it was asked for. */
interface Signed {
  readonly user: User
  readonly verified: VerifiedAssertion
}

export function createPasskeyLogin(deps: Deps, services: Services): PasskeyLogin {
  const { collections } = deps
  const { assertions, challenges, loginIntents, pipeline } = services
  const { rpId } = deps.relyingParty

  async function verification(waiting: ShownTicket | null): Promise<'preferred' | 'required'> {
    const { webauthnMode, webauthnUserVerification } = await deps.settings()
    if (waiting === null && webauthnMode !== 'passwordless') {
      throw new AuthError('mfa_method_disabled')
    }
    // In place of both factors it has to be both: what the person has, and what they know or are.
    return waiting === null ? 'required' : webauthnUserVerification
  }

  async function requireMayShow({ id }: User): Promise<void> {
    if (!(await mayShowPasskey(deps, id))) throw new AuthError('mfa_method_disabled')
  }

  async function asSecondFactor(
    shown: ShownPasskey,
    { waiting, trust, recognition, linkKey }: PasskeyLoginTerms & { readonly waiting: ShownTicket },
    userVerification: 'preferred' | 'required',
    source: RequestSource,
  ): Promise<DeliveredLogin> {
    if (trust !== null) await services.devices.requireAllowed()
    let isProof = false
    const login = await loginIntents
      .attempt(waiting, 'secondFactor', async ({ user }) => {
        await requireMayShow(user)
        const boundTo = loginIntents.idOf(waiting)
        const ceremony = { kind: 'passkeySecondFactor', user, boundTo } as const
        const terms = { userVerification, besideFactor: true }
        isProof = (await services.proofs.show(ceremony, shown, terms, source)).userVerified
        return true
      })
      .catch((error: unknown) => {
        const isWrong = error instanceof AuthError && error.code === 'invalid_mfa_code'
        throw isWrong ? new AuthError('invalid_credentials') : error
      })
    const factor = { ...passkeyFactor(isProof), enrolled: null, trust, recognition, linkKey }
    return pipeline.complete(login, factor, source)
  }

  /**
   * The challenge and the signature come first: until both are right, nothing is known of the caller,
   * nothing is counted against an account, and nothing is told about it.
   */
  async function signed({ challengeId, response }: ShownPasskey): Promise<Signed | null> {
    const intent = await challenges.spendPasswordless(challengeId)
    // Discoverable credentials come with the handle; a caller without one was not asked (WebAuthn §7.2).
    if (intent === null || !response.response.userHandle) return null
    const passkey = await assertions.find(response.id)
    if (passkey === null) return null
    const { challenge } = intent.payload
    const terms = { challenge, userVerification: 'required', besideFactor: false } as const
    const verified = await assertions.verify(passkey, response, terms)
    const user = verified === null ? null : await collections.users.get(passkey.userId)
    if (verified === null || user === null || !enrollmentStands(passkey, user)) return null
    return { user, verified }
  }

  function refuse(userId: string | null, source: RequestSource): never {
    const reason = 'invalid_credentials'
    deps.emit('login.failed', source, { userId, method: 'webauthn', reason })
    throw new AuthError(reason)
  }

  async function asBothFactors(
    shown: ShownPasskey,
    { trust, delivery, recognition, linkKey }: PasskeyLoginTerms,
    source: RequestSource,
  ): Promise<DeliveredLogin> {
    if (trust !== null) {
      const detail =
        'trustDevice goes with mfaToken: without a ticket no second factor is asked for.'
      throw new AuthError('invalid_request', { detail })
    }
    const found = await signed(shown)
    if (found === null) return refuse(null, source)
    const { user, verified } = found
    const isStanding = user.enabled && isHuman(user)
    // Nothing is counted: no guess is signed, and a counter that others can reach would keep the owner out.
    const isNoted = isStanding && (await assertions.note(verified, source)) !== null
    if (!isNoted) return refuse(user.id, source)
    const second = passkeyFactor(true)
    const { method, amr } = second
    const how = { method, amr, delivery, recognition, linkKey }
    const first: FirstFactor = { user, ...how, factors: null, second }
    return { result: await pipeline.proceed(first, source), delivery }
  }

  return {
    async start(waiting) {
      const userVerification = await verification(waiting)
      const asked = { rpId, userVerification, timeoutMs: challengeLifeMs }
      if (waiting === null) {
        const { challengeId, challenge } = await challenges.issuePasswordless()
        return { challengeId, options: await requestOptions({ ...asked, challenge, allow: null }) }
      }
      const { user } = await loginIntents.open(waiting, 'secondFactor')
      await requireMayShow(user)
      const allow = await passkeysOfUser(collections, user.id)
      if (allow.length === 0) throw new AuthError('factor_not_found')
      const boundTo = loginIntents.idOf(waiting)
      const ceremony = { kind: 'passkeySecondFactor', user, boundTo } as const
      const { challengeId, challenge } = await challenges.issue(ceremony)
      return { challengeId, options: await requestOptions({ ...asked, challenge, allow }) }
    },

    async finish(shown, how, source) {
      const { waiting } = how
      const userVerification = await verification(waiting)
      return waiting === null
        ? asBothFactors(shown, how, source)
        : asSecondFactor(shown, { ...how, waiting }, userVerification, source)
    },
  }
}
