import {
  type CreationOptions,
  creationOptions,
  type RegistrationResponse,
  verifyRegistration,
} from '../../crypto/webauthn.js'
import { hasFactor } from '../../engine/factors.js'
import { AuthError } from '../../errors/index.js'
import type { EnrollmentNotice, Passkey } from '../../model/factors.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { enrolledFactors } from '../context/enrolled-factors.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { FactorChanges } from '../factors/factor-changes.js'
import type { EnrolledUser, FactorEnrollment, FactorWrite } from '../factors/factor-enrollment.js'
import type { ReAuthentication } from '../factors/re-authentication.js'
import { requireProvedMailbox } from '../factors/require-proved-mailbox.js'
import type { ShownLinkKey } from '../intents/link-offers.js'
import type { LoginIntents, ShownTicket } from '../intents/login-intents.js'
import { challengeLifeMs, type PasskeyChallenges } from '../intents/passkey-challenges.js'
import type { SpentIntent } from '../intents/spent-intent.js'
import type { LoginPipeline } from '../login/login-pipeline.js'
import type { DeliveredLogin } from '../login/login-result.js'
import type { Enrollee } from '../login/mfa-login.js'
import type { ShownRecognition } from '../login/recognition.js'
import { passkeyFactor } from './passkey-factor.js'
import { createPasskeySlots, type NewPasskey } from './passkey-slots.js'
import { userHandleOf } from './user-handle.js'

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
  /** And what it brings of a sign-in by a provider that bounced. */
  readonly linkKey: ShownLinkKey
}

/** How a person adds a passkey (WebAuthn §7.1). */
export interface PasskeyRegistration {
  /**
   * For `navigator.credentials.create`. Throws `mfa_method_disabled`, `email_not_verified`, `factor_already_enrolled` when
   * there are as many as there may be, and what re-authentication throws.
   */
  start(
    enrollee: Enrollee,
    currentPassword: string | undefined,
    source: RequestSource,
  ): Promise<{ readonly challengeId: string; readonly options: CreationOptions }>
  /**
   * Throws `webauthn_failed` for a response that does not verify, `factor_already_enrolled` for a
   * credential that an account already has, `mfa_ticket_invalid`, and `session_revoked` or `session_max_age_reached` where the session
   * has ended. Voids earlier proofs, and ends the other sessions as `endOtherSessions` says.
   */
  finish(enrollee: Enrollee, made: MadePasskey, source: RequestSource): Promise<RegisteredPasskey>
}

type Deps = Pick<SurfaceContext, 'collections' | 'clock' | 'settings' | 'relyingParty'>

interface Services {
  readonly challenges: PasskeyChallenges
  readonly changes: FactorChanges
  readonly enrollment: FactorEnrollment
  readonly loginIntents: LoginIntents
  readonly pipeline: LoginPipeline
  readonly reAuthentication: ReAuthentication
}

/** A person, and the session or the login they register in. */
interface Registrant {
  readonly user: User
  readonly boundTo: string
  /** The session; null for a login, which has none yet. */
  readonly askedIn: string | null
}

/** A passkey that is not stored yet. */
type MadeCredential = Omit<NewPasskey, keyof EnrollmentNotice>

interface Registered extends EnrolledUser {
  readonly intent: SpentIntent<'passkeyRegistration'>
  readonly passkey: MadeCredential
  readonly userVerified: boolean
}

export function createPasskeyRegistration(deps: Deps, services: Services): PasskeyRegistration {
  const { collections, clock, relyingParty } = deps
  const { challenges, changes, enrollment, loginIntents } = services
  const slots = createPasskeySlots(deps)

  async function allowed() {
    const settings = await deps.settings()
    if (settings.webauthnMode === 'off') throw new AuthError('mfa_method_disabled')
    return settings
  }

  async function registrantOf(enrollee: Enrollee): Promise<Registrant> {
    if (enrollee.kind === 'session') {
      const { user, sessionId } = enrollee.who
      return { user, boundTo: sessionId, askedIn: sessionId }
    }
    const { user } = await loginIntents.open(enrollee, 'enrollment')
    return { user, boundTo: loginIntents.idOf(enrollee), askedIn: null }
  }

  /** Null for a response that does not verify. */
  async function register(
    { user, boundTo, askedIn }: Registrant,
    { challengeId, response, name, endOtherSessions }: MadePasskey,
  ): Promise<Registered | null> {
    requireProvedMailbox(user)
    const { webauthnUserVerification } = await allowed()
    const ceremony = { kind: 'passkeyRegistration', user, boundTo } as const
    const intent = await challenges.spend(challengeId, ceremony)
    if (intent === null) return null
    const { challenge, deviceEpoch, credentialEpoch } = intent.payload
    const requireUserVerification = webauthnUserVerification === 'required'
    const expected = { ...relyingParty, challenge, requireUserVerification }
    const credential = await verifyRegistration(response, expected)
    if (credential === null) return null
    await slots.requireRoom(user.id)
    const { userVerified, ...facts } = credential
    const passkey = {
      ...facts,
      userId: user.id,
      deviceEpoch,
      credentialEpoch,
      name,
      uvInitialized: userVerified,
      removingBy: null,
      createdAt: clock.now(),
      lastUsedAt: null,
      lastChallenge: challenge,
    }
    const place = { sessionId: boundTo, endOtherSessions, askedIn }
    const enrolled = await enrollment.enroll(intent, writeOf(passkey), place)
    return enrolled === null ? null : { ...enrolled, intent, passkey, userVerified }
  }

  function writeOf(passkey: MadeCredential): FactorWrite {
    const { id, userId } = passkey
    return {
      async store(notice) {
        // These codes are of a factor that is gone: a new one must not revive them. Codes made from here on are another
        // factor's.
        const older = await collections.backupCodes.get(userId)
        if (older !== null && !hasFactor(await enrolledFactors(collections, userId))) {
          await collections.backupCodes.take(userId, { setId: older.setId })
        }
        await slots.store({ ...passkey, ...notice })
        return true
      },
      takeBack: ({ enrollmentId }) => collections.passkeys.take(id, { enrollmentId }),
      mark: ({ enrollmentId }, to) =>
        collections.passkeys.update(id, { enrollmentId }, { enrollmentId: to }),
      told: ({ expiresAt }) =>
        collections.passkeys.update(
          id,
          { userId, expiresAt },
          { expiresAt: null, enrollmentId: null },
        ),
    }
  }

  /** By a login that lacks a factor: it goes on with the one that it added. */
  async function finishInLogin(
    shown: ShownTicket,
    made: MadePasskey,
    source: RequestSource,
  ): Promise<RegisteredPasskey> {
    const all: Registered[] = []
    const waiting = await loginIntents
      .attempt(shown, 'enrollment', async ({ user }) => {
        const registrant = { user, boundTo: loginIntents.idOf(shown), askedIn: null }
        const registered = await register(registrant, made)
        if (registered !== null) all.push(registered)
        return registered !== null
      })
      .catch((error: unknown) => {
        const isWrong = error instanceof AuthError && error.code === 'invalid_mfa_code'
        throw isWrong ? new AuthError('webauthn_failed') : error
      })
    const [registered] = all
    if (registered === undefined) throw new AuthError('webauthn_failed')
    const { user, others, told, intent, passkey, userVerified } = registered
    await changes.enrolled(user, { change: 'passkeyAdded', source, ...others, told })
    const { recognition, linkKey } = made
    const factor = { ...passkeyFactor(userVerified), enrolled: intent, trust: null }
    const completing = { ...factor, recognition, linkKey }
    return { passkey, login: await services.pipeline.complete(waiting, completing, source) }
  }

  return {
    async start(enrollee, currentPassword, source) {
      const { webauthnMode, webauthnUserVerification, totpIssuer } = await allowed()
      const { user, boundTo } = await registrantOf(enrollee)
      requireProvedMailbox(user)
      if (enrollee.kind === 'session') {
        await services.reAuthentication.require(enrollee.who, currentPassword, source)
      }
      const exclude = await slots.requireRoom(user.id)
      const { challengeId, challenge } = await challenges.issue({
        kind: 'passkeyRegistration',
        user,
        boundTo,
      })
      const options = await creationOptions({
        rpId: relyingParty.rpId,
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
    },

    async finish(enrollee, made, source) {
      if (enrollee.kind === 'ticket') return finishInLogin(enrollee, made, source)
      const registered = await register(await registrantOf(enrollee), made)
      if (registered === null) throw new AuthError('webauthn_failed')
      const { user, others, told, passkey } = registered
      await changes.enrolled(user, { change: 'passkeyAdded', source, ...others, told })
      return { passkey, login: null }
    },
  }
}
