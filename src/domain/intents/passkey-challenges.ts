import { randomToken } from '../../crypto/secrets.js'
import { AuthError } from '../../errors/index.js'
import type { PasskeyCeremony } from '../../model/passkey-challenge.js'
import type { User } from '../../model/user.js'
import type { SurfaceContext } from '../context/surface-context.js'

/** What a ceremony is about, the same when it begins and when it ends. */
export interface Ceremony {
  readonly kind: PasskeyCeremony
  /** Null for a passwordless login: whose it is, the response says. */
  readonly user: Pick<User, 'id' | 'deviceEpoch'> | null
  /** The id of the session or the login ticket; empty for a passwordless login. */
  readonly boundTo: string
}

export interface IssuedChallenge {
  readonly challengeId: string
  /** 32 random bytes, base64url. */
  readonly challenge: string
}

export interface PasskeyChallenges {
  issue(ceremony: Ceremony): Promise<IssuedChallenge>
  /**
   * The challenge, to one caller and within five minutes; null for any other. One of another
   * ceremony, person, session or login stays where it is; a change of factors or password since
   * voids it.
   */
  take(challengeId: string, ceremony: Ceremony): Promise<string | null>
}

/** WebAuthn §15.1 recommends five to ten minutes for an authenticator that verifies its user. */
export const challengeLifeMs = 5 * 60 * 1000

type Deps = Pick<SurfaceContext, 'collections' | 'clock' | 'random'>

export function createPasskeyChallenges({ collections, clock, random }: Deps): PasskeyChallenges {
  const { passkeyChallenges } = collections

  const factsOf = ({ kind, user, boundTo }: Ceremony) => ({
    ceremony: kind,
    userId: user?.id ?? '',
    boundTo,
    deviceEpoch: user?.deviceEpoch ?? 0,
  })

  return {
    async issue(ceremony) {
      const challengeId = randomToken(random, 16)
      const challenge = randomToken(random)
      const stored = await passkeyChallenges.insert({
        id: challengeId,
        challenge,
        ...factsOf(ceremony),
        expiresAt: clock.now() + challengeLifeMs,
      })
      if (!stored) throw new AuthError('service_unavailable')
      return { challengeId, challenge }
    },

    async take(challengeId, ceremony) {
      const taken = await passkeyChallenges.take(challengeId, factsOf(ceremony))
      return taken !== null && taken.expiresAt > clock.now() ? taken.challenge : null
    },
  }
}
