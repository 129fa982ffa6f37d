import type { SecondFactorMethod } from '../../engine/factors.js'
import { AuthError, describeError } from '../../errors/index.js'
import type { LoginTicketPurpose } from '../../model/intents.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { StepUp } from '../factors/step-up.js'
import type { DeviceGrant, TrustedDevices } from '../factors/trusted-devices.js'
import type { LinkOffersPart } from '../intents/assemble-intents.js'
import type { OfferedLink, ShownLinkKey } from '../intents/link-offers.js'
import type { IssuedLoginTicket, LoginIntents } from '../intents/login-intents.js'
import type { MailedIntents } from '../intents/mailed-intents.js'
import type { OauthCodes } from '../intents/oauth-codes.js'
import { clearedLogin, type LoginFacts } from '../sessions/cleared-login.js'
import type { OpenedSession, Sessions } from '../sessions/sessions.js'
import type { FirstFactor, ProviderFacts, ShownSecond } from './first-factor.js'
import type { LoginResult } from './login-result.js'

/** That the device a login comes from is to be trusted from now on. */
export interface TrustRequest {
  /** Empty when it has none. */
  readonly name: string
}

/** What a login leaves behind: what it still lacks is asked for, or its session is opened. */
export interface LoginEffects {
  askForFactor(
    methods: readonly SecondFactorMethod[],
    first: FirstFactor,
    source: RequestSource,
  ): Promise<LoginResult>
  askToEnroll(first: FirstFactor, source: RequestSource): Promise<LoginResult>
  askForPassword(
    how: Pick<FirstFactor, 'user' | 'method'>,
    source: RequestSource,
  ): Promise<LoginResult>
  /** A second factor that was shown is mostly a step-up proof of this moment as well. */
  open(
    login: Omit<LoginFacts, 'mfaMethod'>,
    second: ShownSecond | null,
    source: RequestSource,
  ): Promise<OpenedSession>
  /**
   * Call it before the session is handed out: an app's code that comes again has to find what it gave.
   * Throws the refusal when it came again already.
   */
  bind(
    session: OpenedSession,
    by: Pick<ProviderFacts, 'oauthCodeId'> | undefined,
    refusal: 'invalid_token' | 'mfa_ticket_invalid',
    source: RequestSource,
  ): Promise<void>
  /** Offers a link to an account at a provider that bounced before; null where that could not be done. */
  offerLink(
    session: OpenedSession,
    shown: ShownLinkKey,
    delivery: FirstFactor['delivery'],
  ): Promise<OfferedLink | null>
  /** Trusts the device of a login that showed a second factor; null where that could not be kept. */
  trustDevice(
    login: Pick<OpenedSession, 'user' | 'sessionId'>,
    deviceId: string,
    trust: TrustRequest,
    source: RequestSource,
  ): Promise<DeviceGrant | null>
}

type Deps = Pick<SurfaceContext, 'emit' | 'logger'>

interface Services {
  readonly devices: TrustedDevices
  readonly codes: Pick<OauthCodes, 'bindSession'>
  readonly linkOffers: LinkOffersPart
  readonly loginIntents: LoginIntents
  readonly sessions: Sessions
  readonly stepUp: StepUp
  readonly mailedIntents: MailedIntents
}

/** A token for a password that must be replaced now. */
const passwordTokenMs = 5 * 60 * 1000

const localLogin: ProviderFacts = { identityId: '', browserHash: '', oauthCodeId: '' }

export function createLoginEffects({ emit, logger }: Deps, services: Services): LoginEffects {
  const { codes, devices, linkOffers, loginIntents, mailedIntents, sessions, stepUp } = services

  async function issueTicket(
    { user, method, amr, delivery, federated: provider = localLogin }: FirstFactor,
    purpose: LoginTicketPurpose,
    source: RequestSource,
  ): Promise<IssuedLoginTicket> {
    const { id: userId, sessionEpoch, credentialEpoch, deviceEpoch } = user
    const issued = await loginIntents.issue({
      userId,
      purpose,
      loginMethod: method,
      amr,
      delivery,
      ...provider,
      sessionEpoch,
      credentialEpoch,
      deviceEpoch,
    })
    emit('mfa.required', source, { userId, method, missing: purpose })
    return issued
  }

  async function recordProof(
    { user, sessionId }: Pick<OpenedSession, 'user' | 'sessionId'>,
    method: SecondFactorMethod,
  ): Promise<void> {
    try {
      await stepUp.record(user, sessionId, method)
    } catch (error) {
      // The login stands; without the proof a later step-up asks once more.
      logger.warn('a login left no step-up proof', describeError(error))
    }
  }

  return {
    async askForFactor(methods, first, source) {
      const issued = await issueTicket(first, 'secondFactor', source)
      return { status: 'mfaRequired', ...issued, methods }
    },

    async askToEnroll(first, source) {
      const issued = await issueTicket(first, 'enrollment', source)
      return { status: 'mfaEnrollmentRequired', ...issued }
    },

    async askForPassword({ user, method }, source) {
      const terms = { ttlMs: passwordTokenMs, mailedTo: null, sessionId: null }
      const { token } = await mailedIntents.issue(user, { purpose: 'expiredPassword', ...terms })
      emit('login.failed', source, { userId: user.id, method, reason: 'password_expired' })
      return { status: 'passwordChangeRequired', passwordToken: token }
    },

    async open(login, second, source) {
      // A device is no factor: the session says of itself that it has shown one only.
      if (second === null) {
        return sessions.open(clearedLogin({ ...login, mfaMethod: null }), source)
      }
      const { method: mfaMethod, isProof } = second
      const amr = [...new Set([...login.amr, ...second.amr, 'mfa'])]
      const session = await sessions.open(clearedLogin({ ...login, mfaMethod, amr }), source)
      // The proof has the epoch that the factor was judged in: if it changed meanwhile, the proof does not count.
      if (isProof) await recordProof({ ...session, user: login.user }, mfaMethod)
      return session
    },

    async bind(session, { oauthCodeId } = localLogin, refusal, source) {
      if (!(await codes.bindSession(oauthCodeId, session, source))) throw new AuthError(refusal)
    },

    async offerLink(session, shown, delivery) {
      if (linkOffers === null || shown[delivery] === null) return null
      try {
        return await (await linkOffers()).claim(session, shown, delivery)
      } catch (error) {
        // The login stands; without the offer its user links as usual.
        logger.warn('a login was offered no link', describeError(error))
        return null
      }
    },

    async trustDevice({ user, sessionId }, deviceId, { name }, source) {
      try {
        const grant = await devices.issue(user, deviceId, name)
        devices.announce({ user, sessionId }, deviceId, source)
        return grant
      } catch (error) {
        // The login stands; without the grant the next one asks once more.
        logger.warn('a login left no trusted device', describeError(error))
        return null
      }
    },
  }
}
