import { createSharedWork } from '../../concurrency/promises.js'
import { type SecretMemo, secretMemo } from '../../crypto/memos.js'
import { randomToken, uuidv7 } from '../../crypto/secrets.js'
import type { RefreshClaims } from '../../crypto/token-format.js'
import { fewPerWindow, oncePerWindow } from '../../engine/limits.js'
import type { Clock, Random } from '../../ports/host.js'
import type { Surface } from '../../ports/surface.js'
import { type KnownPrincipals, knownPrincipals } from '../context/principal.js'
import type { PasswordVerdict } from '../hashing/password-hashes.js'
import { createFailureThrottle, type FailureThrottle } from '../limits/lockout.js'
import type { RateLimiter } from '../limits/rate-limiter.js'

/** What this process remembers of one surface. None of it is stored, and losing it costs no decision. */
export interface SurfaceMemory {
  /** The id of no user: it is read for unknown addresses and clients, so that they cost the same reads. */
  readonly nobody: string
  readonly principals: KnownPrincipals
  /** The `kid` of the key that signed, by the claims of a refresh token. */
  readonly signedBy: WeakMap<RefreshClaims, string>
  readonly isFirstEarlyToken: ReturnType<typeof oncePerWindow>
  readonly isFirstView: ReturnType<typeof oncePerWindow>
  readonly isFirstBrokenSecret: ReturnType<typeof oncePerWindow>
  readonly isNewRisk: ReturnType<typeof fewPerWindow>
  readonly usualViews: RecentKeys
  readonly grants: {
    /** A client id that nobody has. */
    readonly noClient: string
    readonly secrets: SecretMemo
    /** Grants of one pair that are under way at the same time share a verification. */
    readonly verification: ReturnType<typeof createSharedWork<PasswordVerdict>>
    readonly perClient: FailureThrottle
    readonly perPair: FailureThrottle
    readonly perIp: FailureThrottle
  }
}

export interface RecentKeys {
  has(key: string, now: number): boolean
  add(key: string, now: number): void
}

const minuteMs = 60 * 1000
const hourMs = 60 * minuteMs
/** The holder of a token names any user agents: what is told of one session within an hour is bounded. */
const risksPerSession = 8

export function surfaceMemory(
  surface: Surface,
  deps: { readonly limits: RateLimiter; readonly clock: Clock; readonly random: Random },
): SurfaceMemory {
  const { clock, random } = deps
  return {
    nobody: uuidv7(clock.now(), random),
    principals: knownPrincipals(surface),
    signedBy: new WeakMap(),
    isFirstEarlyToken: oncePerWindow(),
    isFirstView: oncePerWindow(),
    isFirstBrokenSecret: oncePerWindow(),
    isNewRisk: fewPerWindow(risksPerSession, hourMs),
    usualViews: recentKeys(minuteMs),
    grants: {
      noClient: `sa_${randomToken(random, 16)}`,
      secrets: secretMemo(random),
      verification: createSharedWork<PasswordVerdict>(),
      perClient: createFailureThrottle(deps, 'grantFailuresPerClient'),
      perPair: createFailureThrottle(deps, 'grantFailuresPerClientAndIp'),
      perIp: createFailureThrottle(deps, 'grantFailuresPerIp'),
    },
  }
}

/** Keys that were added less than `lifeMs` ago, up to so many. */
function recentKeys(lifeMs: number, capacity = 10_000): RecentKeys {
  const added = new Map<string, number>()
  return {
    has(key, now) {
      const at = added.get(key)
      return at !== undefined && now >= at && now < at + lifeMs
    },
    add(key, now) {
      added.delete(key)
      added.set(key, now)
      const oldest = added.keys().next()
      if (added.size > capacity && !oldest.done) added.delete(oldest.value)
    },
  }
}
