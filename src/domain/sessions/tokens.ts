import type { LoadedKeyRing } from '../../crypto/key-ring.js'
import { keyedHash, uuidv7 } from '../../crypto/secrets.js'
import type { AccessClaims, RefreshClaims } from '../../crypto/token-format.js'
import {
  signAccess,
  signRefresh,
  unknownKeyOf,
  type Verified,
  verifyToken,
} from '../../crypto/tokens.js'
import {
  agentOf,
  clientMark,
  loginNetworkOf,
  recognitionIds,
} from '../../engine/login-risk-rules.js'
import { acceptedAudiences } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import type { RefreshFamily } from '../../model/sessions.js'
import { isHuman, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../surface/surface-context.js'

/** An access token, as the token endpoints answer it (RFC 6749 section 5.1). */
export interface AccessGrant {
  readonly accessToken: string
  readonly tokenType: 'Bearer'
  /** Whole seconds, equal to the token's `exp − iat`. */
  readonly expiresIn: number
}

export interface RefreshGrant {
  readonly refreshToken: string
  /** Whole seconds from now to the row's deadline, which is the token's `exp`. */
  readonly expiresIn: number
}

/** How and when the person of a session proved who they are. */
export interface Authentication {
  /** RFC 8176 */
  readonly amr: readonly string[]
  /** Epoch seconds of the login. */
  readonly authTime: number
}

/**
 * A verdict on a token. `unknownKey` is one of a key that is not in the ring, also after it was read
 * again: nothing in it can be believed, and it may be genuine all the same.
 */
export type Judged<C> = Verified<C> | { readonly ok: false; readonly reason: 'unknownKey' }

type Verify<C> = (ring: LoadedKeyRing) => Verified<C>

/** The way in which a user got a token. */
type Via =
  | {
      readonly kind: 'session'
      readonly sessionId: string
      readonly how: Authentication
      readonly ttlMs: number
    }
  | { readonly kind: 'clientCredentials'; readonly clientId: string; readonly ttlMs: number }

/** Whether an access token of the one, as they were read before, says the same of the other. */
export function hasSameClaims(one: User, other: User): boolean {
  const tenantsOf = ({ memberships }: User) => memberships.map(({ tenantId }) => tenantId)
  const claimsOf = (user: User) => JSON.stringify([user.id, user.kind, tenantsOf(user)])
  return claimsOf(one) === claimsOf(other)
}

/** A `jti` for a refresh token about to be minted. */
export function newJti(ctx: SurfaceContext): string {
  return uuidv7(ctx.clock.now(), ctx.random)
}

/**
 * The one place access tokens are minted. A machine never has a session, whatever a planted row
 * may claim, and a person never comes by client credentials.
 */
async function mint(ctx: SurfaceContext, user: User, via: Via): Promise<AccessGrant> {
  const isService = via.kind === 'clientCredentials'
  if (isService && user.kind !== 'service') throw new AuthError('invalid_client')
  if (!isService && !isHuman(user)) throw new AuthError('refresh_token_invalid')
  const iat = Math.floor(ctx.clock.now() / 1000)
  // Also near the end of a session: whoever refreshes after that ends it, and its tokens with it.
  const exp = iat + Math.floor(via.ttlMs / 1000)
  const accessToken = await signAccess(
    {
      iss: ctx.issuer,
      aud: isService ? 'service' : ctx.surface,
      sub: user.id,
      jti: newJti(ctx),
      iat,
      exp,
      tokenUse: 'access',
      memberships: user.memberships.map(({ tenantId }) => ({ tenantId })),
      ...(isService ? { amr: [], authTime: iat } : { sid: via.sessionId, ...via.how }),
    },
    await ctx.keys.ring(),
    isService ? via.clientId : ctx.surface,
  )
  return { accessToken, tokenType: 'Bearer', expiresIn: exp - iat }
}

function judge<C>(
  ctx: SurfaceContext,
  token: string,
  verify: Verify<C>,
): Judged<C> | Promise<Judged<C>> {
  const ring = ctx.keys.ringAtHand()
  if (ring === null) return ctx.keys.ring().then((read) => judgeBy(ctx, read, token, verify))
  return judgeBy(ctx, ring, token, verify)
}

function judgeBy<C>(
  ctx: SurfaceContext,
  ring: LoadedKeyRing,
  token: string,
  verify: Verify<C>,
): Judged<C> | Promise<Judged<C>> {
  const verified = verify(ring)
  const unknown = verified.ok ? null : unknownKeyOf(token, ring)
  return unknown === null ? verified : judgeByNewer(ctx, unknown, verify)
}

/** Another replica may sign with a key that this one has yet to hear of. */
async function judgeByNewer<C>(
  ctx: SurfaceContext,
  unknown: string,
  verify: Verify<C>,
): Promise<Judged<C>> {
  const newer = await ctx.keys.ringFor(unknown)
  const isKnown = newer.verifyingKeys.has(unknown)
  return isKnown ? verify(newer) : { ok: false, reason: 'unknownKey' }
}

/**
 * Whether the key of this `kid` is still in the ring. For what was let in earlier: a signing key that was stolen is
 * replaced meanwhile. At once, unless the key ring has to be read first, also because the key is not in it.
 */
export function isKeyInForce(ctx: SurfaceContext, kid: string): boolean | Promise<boolean> {
  if (ctx.keys.ringAtHand()?.verifyingKeys.has(kid) === true) return true
  return ctx.keys.ringFor(kid).then(({ verifyingKeys }) => verifyingKeys.has(kid))
}

/**
 * Throws `service_unavailable` while no key may sign: to be asked before anything is spent or written. True where the
 * key is kept elsewhere, so that signing may fail later all the same.
 */
export function requireSigner(ctx: SurfaceContext): Promise<boolean> {
  return ctx.keys.requireSigner()
}

/** Its lifetime is given, because those who mint must know every setting before they write. */
export function mintAccess(
  ctx: SurfaceContext,
  user: User,
  sessionId: string,
  { amr, authTime }: Authentication,
  ttlMs: number,
): Promise<AccessGrant> {
  return mint(ctx, user, { kind: 'session', sessionId, how: { amr, authTime }, ttlMs })
}

/** For a service account, after the client-credentials grant and nothing else. */
export function mintServiceAccess(
  ctx: SurfaceContext,
  account: User,
  clientId: string,
  ttlMs: number,
): Promise<AccessGrant> {
  return mint(ctx, account, { kind: 'clientCredentials', clientId, ttlMs })
}

export async function mintRefresh(
  ctx: SurfaceContext,
  family: Pick<RefreshFamily, 'id' | 'userId' | 'generation' | 'expiresAt'>,
  jti: string,
  { amr, authTime }: Authentication,
): Promise<RefreshGrant> {
  const iat = Math.floor(ctx.clock.now() / 1000)
  const exp = Math.floor(family.expiresAt / 1000)
  const refreshToken = await signRefresh(
    {
      iss: ctx.issuer,
      aud: ctx.surface,
      sub: family.userId,
      jti,
      iat,
      exp,
      tokenUse: 'refresh',
      sid: family.id,
      gen: family.generation,
      amr,
      authTime,
    },
    await ctx.keys.ring(),
  )
  return { refreshToken, expiresIn: exp - iat }
}

/** At once, unless the key ring has to be read first: a guarded request waits for its denylist alone. */
export function verifyAccess(
  ctx: SurfaceContext,
  token: string,
): Judged<AccessClaims> | Promise<Judged<AccessClaims>> {
  const digest = ctx.tokenMemo.digestOf(token)
  return judge(ctx, token, (ring) => {
    const wanted = {
      ring,
      issuer: ctx.issuer,
      accepts: acceptedAudiences[ctx.surface],
      now: ctx.clock.now(),
    }
    const known = ctx.tokenMemo.find(digest, wanted)
    if (known !== null) return { ok: true, claims: known.claims, kid: known.kid }
    const expected = { ...wanted, use: 'access', leewaySeconds: ctx.clockLeeway } as const
    const verified = verifyToken(token, expected)
    if (verified.ok) ctx.tokenMemo.store(digest, verified)
    return verified
  })
}

export async function verifyRefresh(
  ctx: SurfaceContext,
  token: string,
): Promise<Judged<RefreshClaims>> {
  return judge(ctx, token, (ring) => {
    const now = ctx.clock.now()
    const expected = {
      ring,
      issuer: ctx.issuer,
      use: 'refresh',
      now,
      leewaySeconds: ctx.clockLeeway,
    } as const
    const verified = verifyToken(token, { ...expected, accepts: [ctx.surface] })
    if (verified.ok) ctx.memory.signedBy.set(verified.claims, verified.kid)
    return verified
  })
}

/** The same of the key that signed these claims; true for claims that were not verified here, such as a copy. */
export function isSignerInForce(
  ctx: SurfaceContext,
  claims: RefreshClaims,
): boolean | Promise<boolean> {
  const kid = ctx.memory.signedBy.get(claims)
  return kid === undefined || isKeyInForce(ctx, kid)
}

/** What is stored of a recognition id. The hashes of two accounts in one browser differ, and nothing stored connects them. */
export function recognitionHash(userId: string, id: string): string {
  return keyedHash(id, JSON.stringify(['device', userId]))
}

/** Of each id in what a browser or app sends. */
export function devicesIn(userId: string, recognitionId: string | null): readonly string[] {
  return recognitionIds(recognitionId).map((id) => recognitionHash(userId, id))
}

/**
 * What tells the clients of one session apart. A thief with a copy of the refresh token rarely has the
 * user agent and the recognition id as well. The digests of two users of one browser differ.
 */
function clientDigest(
  userId: string,
  { userAgent }: RequestSource,
  recognitionId: string | null,
): string {
  return keyedHash(recognitionId ?? '', JSON.stringify(['client', userId, userAgent]))
}

/** What a rotation writes of the client that has the newest token; its places too where refreshes are judged by them. */
export function clientFingerprint(
  userId: string,
  source: RequestSource,
  recognitionId: string | null,
  withPlaces: boolean,
): string {
  const digest = (kind: string, text: string | null) =>
    keyedHash('', JSON.stringify([kind, userId, text]))
  const client = clientDigest(userId, source, recognitionId)
  const places = () => [
    digest('network', loginNetworkOf(source.ip)),
    digest('agent', agentOf(source.userAgent)),
  ]
  return clientMark(client, withPlaces ? places() : [])
}
