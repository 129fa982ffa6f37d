import type { LoadedKeyRing } from '../../crypto/key-ring.js'
import type { TokenMemo } from '../../crypto/memos.js'
import { uuidv7 } from '../../crypto/secrets.js'
import {
  type AccessClaims,
  type RefreshClaims,
  signAccess,
  signRefresh,
  unknownKeyOf,
  type Verified,
  verifyToken,
} from '../../crypto/tokens.js'
import { type AccessBounds, accessExpiry } from '../../engine/refresh-rules.js'
import { acceptedAudiences } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import type { RefreshFamily } from '../../model/sessions.js'
import { isHuman, type User } from '../../model/user.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { SigningKeys } from './signing-keys.js'

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

export interface Tokens {
  /**
   * Throws `service_unavailable` while no key may sign: to be asked before anything is spent or written. True where the
   * key is kept elsewhere, so that signing may fail later all the same.
   */
  requireKey(): Promise<boolean>
  /** A `jti` for a refresh token about to be minted. */
  nextJti(): string
  /**
   * Its bounds are given, because those who mint must know every setting before they write. It outlives
   * neither the idle window nor the cap of its session.
   */
  access(
    user: User,
    sessionId: string,
    how: Authentication,
    bounds: AccessBounds,
  ): Promise<AccessGrant>
  /** For a service account, after the client-credentials grant and nothing else. */
  service(account: User, ttlMs: number): Promise<AccessGrant>
  refresh(
    family: Pick<RefreshFamily, 'id' | 'userId' | 'generation' | 'expiresAt'>,
    jti: string,
    how: Authentication,
  ): Promise<RefreshGrant>
  /** At once, unless the key ring has to be read first: a guarded request waits for its denylist alone. */
  verifyAccess(token: string): Judged<AccessClaims> | Promise<Judged<AccessClaims>>
  verifyRefresh(token: string): Promise<Judged<RefreshClaims>>
  /**
   * Whether the key of this `kid` is still in the ring. For what was let in earlier: a signing key that was stolen is
   * replaced meanwhile. At once, unless the key ring has to be read first, also because the key is not in it.
   */
  isKeyInForce(kid: string): boolean | Promise<boolean>
  /** The same of the key that signed these claims; true for claims that were not verified here, such as a copy. */
  isSignerInForce(claims: RefreshClaims): boolean | Promise<boolean>
}

type Verify<C> = (ring: LoadedKeyRing) => Verified<C>

/** The way in which a user got a token. */
type Via =
  | {
      readonly kind: 'session'
      readonly sessionId: string
      readonly how: Authentication
      readonly bounds: AccessBounds
    }
  | { readonly kind: 'clientCredentials'; readonly ttlMs: number }

interface Deps
  extends Pick<SurfaceContext, 'surface' | 'clock' | 'random' | 'issuer' | 'clockLeeway'> {
  readonly keys: SigningKeys
  readonly memo: TokenMemo
}

/** Whether an access token of the one, as they were read before, says the same of the other. */
export function hasSameClaims(one: User, other: User): boolean {
  const tenantsOf = ({ memberships }: User) => memberships.map(({ tenantId }) => tenantId)
  const claimsOf = (user: User) => JSON.stringify([user.id, user.kind, tenantsOf(user)])
  return claimsOf(one) === claimsOf(other)
}

export function createTokens(deps: Deps): Tokens {
  const { surface, clock, random, keys, memo, issuer, clockLeeway } = deps
  const accepts = acceptedAudiences(surface)
  const nextJti = (): string => uuidv7(clock.now(), random)
  /** The `kid` of the key that signed, by the claims of a refresh token. */
  const signedBy = new WeakMap<RefreshClaims, string>()

  /**
   * The one place access tokens are minted. A machine never has a session, whatever a planted row
   * may claim, and a person never comes by client credentials.
   */
  async function mint(user: User, via: Via): Promise<AccessGrant> {
    const isService = via.kind === 'clientCredentials'
    if (isService && user.kind !== 'service') throw new AuthError('invalid_client')
    if (!isService && !isHuman(user)) throw new AuthError('refresh_token_invalid')
    const iat = Math.floor(clock.now() / 1000)
    const exp = isService
      ? iat + Math.floor(via.ttlMs / 1000)
      : accessExpiry(iat, via.how.authTime, via.bounds)
    const accessToken = await signAccess(
      {
        iss: issuer,
        aud: isService ? 'service' : surface,
        sub: user.id,
        jti: nextJti(),
        iat,
        exp,
        tokenUse: 'access',
        memberships: user.memberships.map(({ tenantId }) => ({ tenantId })),
        ...(isService ? { amr: [], authTime: iat } : { sid: via.sessionId, ...via.how }),
      },
      await keys.ring(),
    )
    return { accessToken, tokenType: 'Bearer', expiresIn: exp - iat }
  }

  function judge<C>(token: string, verify: Verify<C>): Judged<C> | Promise<Judged<C>> {
    const ring = keys.ringAtHand()
    if (ring === null) return keys.ring().then((read) => judgeBy(read, token, verify))
    return judgeBy(ring, token, verify)
  }

  function judgeBy<C>(
    ring: LoadedKeyRing,
    token: string,
    verify: Verify<C>,
  ): Judged<C> | Promise<Judged<C>> {
    const verified = verify(ring)
    const unknown = verified.ok ? null : unknownKeyOf(token, ring)
    return unknown === null ? verified : judgeByNewer(unknown, verify)
  }

  /** Another replica may sign with a key that this one has yet to hear of. */
  async function judgeByNewer<C>(unknown: string, verify: Verify<C>): Promise<Judged<C>> {
    const newer = await keys.ringFor(unknown)
    const isKnown = newer.verifyingKeys.has(unknown)
    return isKnown ? verify(newer) : { ok: false, reason: 'unknownKey' }
  }

  function isKeyInForce(kid: string): boolean | Promise<boolean> {
    if (keys.ringAtHand()?.verifyingKeys.has(kid) === true) return true
    return keys.ringFor(kid).then(({ verifyingKeys }) => verifyingKeys.has(kid))
  }

  return {
    nextJti,

    requireKey: () => keys.requireSigner(),

    access: (user, sessionId, { amr, authTime }, bounds) =>
      mint(user, { kind: 'session', sessionId, how: { amr, authTime }, bounds }),

    service: (account, ttlMs) => mint(account, { kind: 'clientCredentials', ttlMs }),

    async refresh(family, jti, { amr, authTime }) {
      const iat = Math.floor(clock.now() / 1000)
      const exp = Math.floor(family.expiresAt / 1000)
      const refreshToken = await signRefresh(
        {
          iss: issuer,
          aud: surface,
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
        await keys.ring(),
      )
      return { refreshToken, expiresIn: exp - iat }
    },

    verifyAccess(token) {
      const digest = memo.digestOf(token)
      return judge(token, (ring) => {
        const wanted = { ring, issuer, accepts, now: clock.now() }
        const known = memo.find(digest, wanted)
        if (known !== null) return { ok: true, claims: known.claims, kid: known.kid }
        const expected = { ...wanted, use: 'access', leewaySeconds: clockLeeway } as const
        const verified = verifyToken(token, expected)
        if (verified.ok) memo.store(digest, verified)
        return verified
      })
    },

    verifyRefresh: async (token) =>
      judge(token, (ring) => {
        const now = clock.now()
        const expected = { ring, issuer, use: 'refresh', now, leewaySeconds: clockLeeway } as const
        const verified = verifyToken(token, { ...expected, accepts: [surface] })
        if (verified.ok) signedBy.set(verified.claims, verified.kid)
        return verified
      }),

    isKeyInForce,

    isSignerInForce(claims) {
      const kid = signedBy.get(claims)
      return kid === undefined || isKeyInForce(kid)
    },
  }
}
