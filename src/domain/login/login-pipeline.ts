import type { LoginTicketPurpose } from '../../model/intents.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { TrustedDevices } from '../factors/trusted-devices.js'
import type { ShownLinkKey } from '../intents/link-offers.js'
import type { EnrolledByLogin, LoginIntents } from '../intents/login-intents.js'
import type { OpenedIntent } from '../intents/spent-intent.js'
import { type FactorsOfUser, lookUpFactors } from './factors-of-user.js'
import type { FirstFactor, ShownSecond } from './first-factor.js'
import type { LoginChecks } from './login-checks.js'
import type { LoginEffects, TrustRequest } from './login-effects.js'
import type { DeliveredLogin, LoginResult } from './login-result.js'
import type { JudgedLogin, LoginRisk } from './login-risk.js'
import type { ShownRecognition } from './recognition.js'

/** What every login goes through, whatever its first factor was. */
export interface LoginPipeline {
  /** For a first factor to read ahead, beside a slower check of its own. */
  lookUp(userId: string): Promise<FactorsOfUser>
  /**
   * Account state, factor policy, trusted device, risk, password age, session, in this order. Throws
   * `invalid_credentials` and `email_not_verified`, and `invalid_token` for an app's code that came
   * again meanwhile.
   */
  proceed(first: FirstFactor, source: RequestSource): Promise<LoginResult>
  /**
   * Goes on where a ticket was issued, its second factor just accepted. Throws
   * `mfa_ticket_invalid` when the ticket was spent, or the account changed since, and
   * `email_not_verified`. With `trust`, call `TrustedDevices.requireAllowed` before the factor is
   * spent.
   */
  complete(
    waiting: WaitingLogin,
    shown: CompletingFactor,
    source: RequestSource,
  ): Promise<DeliveredLogin>
}

/** A login that waits for its second factor, as it was judged when the factor was accepted. */
export type WaitingLogin = OpenedIntent<LoginTicketPurpose>

/** The second factor of a login that waited for it. */
export interface CompletingFactor extends ShownSecond {
  /** Where the login added it itself; null of one that was there. */
  readonly enrolled: EnrolledByLogin | null
  /** Whether to trust the device from now on. */
  readonly trust: TrustRequest | null
  /** What the browser or app sent to be known by. */
  readonly recognition: ShownRecognition
  /** What it brings of a sign-in by a provider that bounced. */
  readonly linkKey: ShownLinkKey
}

interface Services {
  readonly checks: LoginChecks
  readonly devices: TrustedDevices
  readonly effects: LoginEffects
  readonly loginIntents: LoginIntents
  readonly risk: LoginRisk
}

export function createLoginPipeline(
  { collections }: Pick<SurfaceContext, 'collections'>,
  { checks, devices, effects, loginIntents, risk }: Services,
): LoginPipeline {
  const lookUp = (userId: string) => lookUpFactors(collections, risk, userId)
  const known = async ({ user, factors }: FirstFactor) =>
    factors?.userId === user.id ? factors : lookUp(user.id)

  function judge(
    { user, method, second, failedAttempts = 0, delivery, recognition }: FirstFactor,
    deviceId: string | null,
    history: FactorsOfUser['history'],
    source: RequestSource,
  ): Promise<JudgedLogin> {
    const mfaMethod = second?.method ?? null
    const recognitionId = recognition[delivery]
    const factors = { method, mfaMethod, deviceId, failedAttempts }
    return risk.judge(user, { ...factors, recognitionId, history }, source)
  }

  async function advance(first: FirstFactor, source: RequestSource): Promise<LoginResult> {
    await checks.requireStanding(first, source)
    const factors = await known(first)
    const decision = await checks.decide(factors, first)
    const asked = decision.kind === 'ask' ? decision.methods : null
    const device = asked === null ? null : await checks.trustedDevice(first)
    if (asked !== null && device === null) return effects.askForFactor(asked, first, source)
    const deviceId = device?.id ?? null
    const judged = await judge(first, deviceId, factors.history, source)
    if (asked !== null && judged.level === 'high') {
      return effects.askForFactor(asked, first, source)
    }
    // After the second factor, where there is one: a known password alone replaces no password.
    if (await checks.isPasswordTooOld(first)) return effects.askForPassword(first, source)
    if (decision.kind === 'enroll') return effects.askToEnroll(first, source)
    const { user, method: loginMethod, amr, second, delivery } = first
    const { recognition } = judged
    const login = { user, loginMethod, amr, deviceId, delivery, recognition }
    const session = await effects.open(login, second, source)
    await effects.bind(session, first.federated, 'invalid_token', source)
    risk.notify(session, judged, source)
    const linkOffer = await effects.offerLink(session, first.linkKey, delivery)
    return { status: 'authenticated', session, recognition, linkOffer }
  }

  return {
    lookUp,

    async proceed(first, source) {
      const result = await advance(first, source)
      if (result.status !== 'authenticated') {
        const { user, failedAttempts = 0, factors, delivery, recognition } = first
        const guesses = { failedAttempts, history: factors?.history ?? [] }
        risk.noteGuesses(user, { ...guesses, recognitionId: recognition[delivery] }, source)
      }
      return result
    },

    async complete(waiting, { enrolled, trust, recognition: sent, linkKey, ...shown }, source) {
      const [{ user, payload: ticket }, history] = await Promise.all([
        loginIntents.spend(waiting, enrolled),
        risk.historyOf(waiting.user.id),
      ])
      const { loginMethod, amr, delivery } = ticket
      const how = { user, method: loginMethod }
      await checks.requireStanding(how, source)
      if (await checks.isPasswordTooOld(how)) {
        return { result: await effects.askForPassword(how, source), delivery }
      }
      const deviceId = trust === null ? null : devices.nextId()
      const mfaMethod = shown.method
      const recognitionId = sent[delivery]
      const factors = { method: loginMethod, mfaMethod, deviceId, failedAttempts: 0 }
      const judged = await risk.judge(user, { ...factors, recognitionId, history }, source)
      const { recognition } = judged
      const login = { user, loginMethod, amr, deviceId, delivery, recognition }
      const session = await effects.open(login, shown, source)
      await effects.bind(session, ticket, 'mfa_ticket_invalid', source)
      risk.notify(session, judged, source)
      const { sessionId } = session
      const device =
        deviceId === null || trust === null
          ? null
          : await effects.trustDevice({ user, sessionId }, deviceId, trust, source)
      const linkOffer = await effects.offerLink(session, linkKey, delivery)
      const granted = device === null ? { linkOffer } : { linkOffer, device }
      return { result: { status: 'authenticated', session, recognition, ...granted }, delivery }
    },
  }
}
