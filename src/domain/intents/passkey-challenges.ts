import { randomToken, sha256 } from '../../crypto/secrets.js'
import type { User } from '../../model/user.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import {
  type IntentTerms,
  intentOf,
  issueIntent,
  openAnonymousIntent,
  openIntent,
  type SpentIntent,
  spendIntent,
  unlessRefused,
} from './intents.js'

// Challenges for passkeys. Each is spent by the first response to it, right or wrong.

/** A ceremony whose user is known by other means. */
export type UsersCeremony = 'passkeySecondFactor' | 'passkeyRegistration' | 'passkeyStepUp'

/** What a ceremony of a known user is about, the same when it begins and when it ends. */
export interface Ceremony<K extends UsersCeremony = UsersCeremony> {
  readonly kind: K
  readonly user: User
  /** The id of the session or the login ticket. */
  readonly boundTo: string
}

export interface IssuedChallenge {
  readonly challengeId: string
  /** 32 random bytes, base64url. */
  readonly challenge: string
}

/** WebAuthn §15.1 recommends five to ten minutes for an authenticator that verifies its user. */
export const challengeLifeMs = 5 * 60 * 1000

/** Of `passkeyLogin` neither is known: whose it is, the response says. */
export async function issueChallenge<K extends UsersCeremony | 'passkeyLogin'>(
  ctx: SurfaceContext,
  kind: K,
  of: Pick<IntentTerms<K>, 'user' | 'boundTo'>,
): Promise<IssuedChallenge> {
  const challengeId = randomToken(ctx.random, 16)
  const challenge = randomToken(ctx.random)
  const terms = { ...of, payload: { challenge }, lifeMs: challengeLifeMs }
  await issueIntent(ctx, kind, challengeId, terms)
  return { challengeId, challenge }
}

/**
 * The challenge, to one caller and within five minutes; null for any other. One of another
 * ceremony, person, session or login stays where it is; a change of factors or password since
 * voids it. Throws `mfa_method_disabled`.
 */
export async function spendChallenge<K extends UsersCeremony>(
  ctx: SurfaceContext,
  challengeId: string,
  { kind, user, boundTo }: Ceremony<K>,
): Promise<SpentIntent<K> | null> {
  const { id: userId, deviceEpoch, credentialEpoch } = user
  const guard = { kind, userId, boundTo, deviceEpoch, credentialEpoch }
  const taken = await ctx.collections.challenges.take(sha256(challengeId), guard)
  const challenge = intentOf(ctx, kind, taken)
  if (challenge === null) return null
  const opened = await unlessRefused(kind, openIntent(ctx, kind, challenge, { seen: user }))
  return opened === null ? null : spendIntent(opened)
}

/** The same for a login without a password. */
export async function spendPasswordlessChallenge(
  ctx: SurfaceContext,
  challengeId: string,
): Promise<SpentIntent<'passkeyLogin', null> | null> {
  const guard = { kind: 'passkeyLogin' }
  const taken = await ctx.collections.challenges.take(sha256(challengeId), guard)
  const challenge = intentOf(ctx, 'passkeyLogin', taken)
  if (challenge === null) return null
  const opening = openAnonymousIntent(ctx, 'passkeyLogin', challenge)
  const opened = await unlessRefused('passkeyLogin', opening)
  return opened === null ? null : spendIntent(opened)
}
