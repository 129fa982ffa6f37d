import { randomToken } from '../../crypto/secrets.js'
import { AuthError } from '../../errors/index.js'
import type { PasskeyCeremony } from '../../model/intents.js'
import type { User } from '../../model/user.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { IntentJudge } from './intent-judge.js'
import type { SpentIntent } from './spent-intent.js'

/** What a ceremony of a known user is about, the same when it begins and when it ends. */
export interface Ceremony<K extends UsersCeremony = UsersCeremony> {
  readonly kind: K
  readonly user: User
  /** The id of the session or the login ticket. */
  readonly boundTo: string
}

/** A ceremony whose user is known by other means. */
export type UsersCeremony = Exclude<PasskeyCeremony, 'passkeyLogin'>

export interface IssuedChallenge {
  readonly challengeId: string
  /** 32 random bytes, base64url. */
  readonly challenge: string
}

/** Challenges for passkeys. Each is spent by the first response to it, right or wrong. */
export interface PasskeyChallenges {
  issue(ceremony: Ceremony): Promise<IssuedChallenge>
  /** For a login without a password: whose it is, the response says. */
  issuePasswordless(): Promise<IssuedChallenge>
  /**
   * The challenge, to one caller and within five minutes; null for any other. One of another
   * ceremony, person, session or login stays where it is; a change of factors or password since
   * voids it. Throws `mfa_method_disabled`.
   */
  spend<K extends UsersCeremony>(
    challengeId: string,
    ceremony: Ceremony<K>,
  ): Promise<SpentIntent<K> | null>
  /** The same for a login without a password. */
  spendPasswordless(challengeId: string): Promise<SpentIntent<'passkeyLogin', null> | null>
}

/** WebAuthn §15.1 recommends five to ten minutes for an authenticator that verifies its user. */
export const challengeLifeMs = 5 * 60 * 1000

const passwordless = {
  ceremony: 'passkeyLogin',
  userId: '',
  boundTo: '',
  deviceEpoch: 0,
  credentialEpoch: 0,
} as const

type Deps = Pick<SurfaceContext, 'collections' | 'clock' | 'random'>

export function createPasskeyChallenges(
  { collections, clock, random }: Deps,
  judge: IntentJudge,
): PasskeyChallenges {
  const { passkeyChallenges } = collections

  const factsOf = ({ kind, user, boundTo }: Ceremony) => ({
    ceremony: kind,
    userId: user.id,
    boundTo,
    deviceEpoch: user.deviceEpoch,
    credentialEpoch: user.credentialEpoch,
  })

  async function store(facts: ReturnType<typeof factsOf> | typeof passwordless) {
    const challengeId = randomToken(random, 16)
    const challenge = randomToken(random)
    const expiresAt = clock.now() + challengeLifeMs
    const stored = await passkeyChallenges.insert({
      id: challengeId,
      challenge,
      ...facts,
      expiresAt,
    })
    if (!stored) throw new AuthError('service_unavailable')
    return { challengeId, challenge }
  }

  /** Null for the refusal of its kind: callers say the same of whatever is wrong with a response. */
  async function orNull<T>(opening: Promise<T>): Promise<T | null> {
    try {
      return await opening
    } catch (error) {
      const isRefused = error instanceof AuthError && refusals.has(error.code)
      if (isRefused) return null
      throw error
    }
  }

  return {
    issue: (ceremony) => store(factsOf(ceremony)),

    issuePasswordless: () => store(passwordless),

    async spend(challengeId, ceremony) {
      const { kind, user } = ceremony
      const taken = await passkeyChallenges.take(challengeId, factsOf(ceremony))
      if (taken === null) return null
      const { userId, deviceEpoch, credentialEpoch, expiresAt } = taken
      const facts = { id: taken.id, userId, deviceEpoch, credentialEpoch, expiresAt }
      const opened = await orNull(judge.open(kind, facts, taken, user))
      return opened === null ? null : judge.spend(opened)
    },

    async spendPasswordless(challengeId) {
      const taken = await passkeyChallenges.take(challengeId, passwordless)
      if (taken === null) return null
      const { id, expiresAt } = taken
      const opened = await orNull(judge.openAnonymous('passkeyLogin', { id, expiresAt }, taken))
      return opened === null ? null : judge.spend(opened)
    },
  }
}

const refusals: ReadonlySet<string> = new Set([
  'invalid_credentials',
  'invalid_mfa_code',
  'webauthn_failed',
])
