import { signAccess, signRefresh } from '../../crypto/sign-token.js'
import { tokenMemo } from '../../crypto/token-memo.js'
import { uuidv7 } from '../../crypto/uuid.js'
import {
  type AccessClaims,
  type RefreshClaims,
  type Verified,
  verifyToken,
} from '../../crypto/verify-token.js'
import { acceptedAudiences } from '../../engine/audience.js'
import { AuthError } from '../../errors/index.js'
import type { RefreshFamily } from '../../model/refresh-family.js'
import { isHuman, type User } from '../../model/user.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { SigningKeys } from './signing-keys.js'

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

export interface Tokens {
  /** A `jti` for a refresh token about to be minted. */
  nextJti(): string
  /** `ttlMs` is given, because those who mint must know every setting before they write. */
  access(user: User, sessionId: string, how: Authentication, ttlMs: number): Promise<AccessGrant>
  /** For a service account, after the client-credentials grant and nothing else. */
  service(account: User, ttlMs: number): Promise<AccessGrant>
  refresh(
    family: Pick<RefreshFamily, 'id' | 'userId' | 'generation' | 'expiresAt'>,
    jti: string,
    how: Authentication,
  ): Promise<RefreshGrant>
  verifyAccess(token: string): Promise<Verified<AccessClaims>>
  verifyRefresh(token: string): Promise<Verified<RefreshClaims>>
}

/** The way in which a user got a token. */
type Via =
  | { readonly kind: 'session'; readonly sessionId: string; readonly how: Authentication }
  | { readonly kind: 'clientCredentials' }

interface Deps
  extends Pick<SurfaceContext, 'surface' | 'clock' | 'random' | 'issuer' | 'clockLeeway'> {
  readonly keys: SigningKeys
}

export function createTokens(deps: Deps): Tokens {
  const { surface, clock, random, keys, issuer, clockLeeway } = deps
  const memo = tokenMemo()
  const nextJti = (): string => uuidv7(clock.now(), random)

  /**
   * The one place access tokens are minted. A machine never has a session, whatever a planted row
   * may claim, and a person never comes by client credentials.
   */
  async function mint(user: User, via: Via, ttlMs: number): Promise<AccessGrant> {
    const isService = via.kind === 'clientCredentials'
    if (isService && user.kind !== 'service') throw new AuthError('invalid_client')
    if (!isService && !isHuman(user)) throw new AuthError('refresh_token_invalid')
    const expiresIn = Math.floor(ttlMs / 1000)
    const iat = Math.floor(clock.now() / 1000)
    const accessToken = await signAccess(
      {
        iss: issuer,
        aud: isService ? 'service' : surface,
        sub: user.id,
        jti: nextJti(),
        iat,
        exp: iat + expiresIn,
        tokenUse: 'access',
        memberships: user.memberships.map(({ tenantId }) => ({ tenantId })),
        ...(isService ? { amr: [], authTime: iat } : { sid: via.sessionId, ...via.how }),
      },
      await keys.ring(),
    )
    return { accessToken, tokenType: 'Bearer', expiresIn }
  }

  return {
    nextJti,

    access: (user, sessionId, { amr, authTime }, ttlMs) =>
      mint(user, { kind: 'session', sessionId, how: { amr, authTime } }, ttlMs),

    service: (account, ttlMs) => mint(account, { kind: 'clientCredentials' }, ttlMs),

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

    async verifyAccess(token) {
      const ring = await keys.ring()
      const now = clock.now()
      const known = memo.find(token, ring, now)
      if (known !== null) return { ok: true, claims: known }
      const verified = verifyToken(token, {
        ring,
        issuer,
        use: 'access',
        accepts: acceptedAudiences(surface),
        now,
        leewaySeconds: clockLeeway,
      })
      if (verified.ok) memo.store(token, ring, verified.claims)
      return verified
    },

    async verifyRefresh(token) {
      return verifyToken(token, {
        ring: await keys.ring(),
        issuer,
        use: 'refresh',
        accepts: [surface],
        now: clock.now(),
        leewaySeconds: clockLeeway,
      })
    },
  }
}
