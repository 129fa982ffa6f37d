import { randomToken } from '../../crypto/secrets.js'
import { AuthError } from '../../errors/index.js'
import type { PasskeyCeremony } from '../../model/intents.js'
import type { User } from '../../model/user.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { openAnonymousIntent, openIntent, type SpentIntent, spendIntent } from './intent-judge.js'

// Challenges for passkeys. Each is spent by the first response to it, right or wrong.

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

/** WebAuthn §15.1 recommends five to ten minutes for an authenticator that verifies its user. */
export const challengeLifeMs = 5 * 60 * 1000

const passwordless = {
  ceremony: 'passkeyLogin',
  userId: '',
  boundTo: '',
  deviceEpoch: 0,
  credentialEpoch: 0,
} as const

function factsOf({ kind, user, boundTo }: Ceremony) {
  return {
    ceremony: kind,
    userId: user.id,
    boundTo,
    deviceEpoch: user.deviceEpoch,
    credentialEpoch: user.credentialEpoch,
  }
}

async function store(ctx: SurfaceContext, facts: ReturnType<typeof factsOf> | typeof passwordless) {
  const challengeId = randomToken(ctx.random, 16)
  const challenge = randomToken(ctx.random)
  const expiresAt = ctx.clock.now() + challengeLifeMs
  const stored = await ctx.collections.passkeyChallenges.insert({
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

export function issueChallenge(ctx: SurfaceContext, ceremony: Ceremony): Promise<IssuedChallenge> {
  return store(ctx, factsOf(ceremony))
}

/** For a login without a password: whose it is, the response says. */
export function issuePasswordlessChallenge(ctx: SurfaceContext): Promise<IssuedChallenge> {
  return store(ctx, passwordless)
}

/**
 * The challenge, to one caller and within five minutes; null for any other. One of another
 * ceremony, person, session or login stays where it is; a change of factors or password since
 * voids it. Throws `mfa_method_disabled`.
 */
export async function spendChallenge<K extends UsersCeremony>(
  ctx: SurfaceContext,
  challengeId: string,
  ceremony: Ceremony<K>,
): Promise<SpentIntent<K> | null> {
  const { kind, user } = ceremony
  const taken = await ctx.collections.passkeyChallenges.take(challengeId, factsOf(ceremony))
  if (taken === null) return null
  const { userId, deviceEpoch, credentialEpoch, expiresAt } = taken
  const facts = { id: taken.id, userId, deviceEpoch, credentialEpoch, expiresAt }
  const opened = await orNull(openIntent(ctx, kind, facts, taken, user))
  return opened === null ? null : spendIntent(opened)
}

/** The same for a login without a password. */
export async function spendPasswordlessChallenge(
  ctx: SurfaceContext,
  challengeId: string,
): Promise<SpentIntent<'passkeyLogin', null> | null> {
  const taken = await ctx.collections.passkeyChallenges.take(challengeId, passwordless)
  if (taken === null) return null
  const { id, expiresAt } = taken
  const opened = await orNull(openAnonymousIntent(ctx, 'passkeyLogin', { id, expiresAt }, taken))
  return opened === null ? null : spendIntent(opened)
}

const refusals: ReadonlySet<string> = new Set([
  'invalid_credentials',
  'invalid_mfa_code',
  'webauthn_failed',
])
