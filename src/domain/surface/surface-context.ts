import type { BackgroundTasks } from '../../concurrency/background-tasks.js'
import { createSharedWork } from '../../concurrency/promises.js'
import { hashGates } from '../../crypto/hash-gate.js'
import { type SecretMemo, secretMemo, type TokenMemo } from '../../crypto/memos.js'
import type { SecretBox } from '../../crypto/secret-box.js'
import { randomToken, uuidv7 } from '../../crypto/secrets.js'
import type { RefreshClaims } from '../../crypto/token-format.js'
import type { RelyingParty } from '../../crypto/webauthn.js'
import { fewPerWindow, oncePerWindow } from '../../engine/limits.js'
import type { ProviderClients } from '../../identity-providers/provider-clients.js'
import type { Collections } from '../../model/collections.js'
import type { ServiceCredential } from '../../model/user.js'
import type { Denylist } from '../../ports/backend.js'
import type { Emit } from '../../ports/events.js'
import type { Authorizer, BeforeRegister, Clock, Logger, Mailer, Random } from '../../ports/host.js'
import type { RiskScorer, SessionRiskScorer } from '../../ports/risk-scorers.js'
import type { Collection } from '../../ports/store.js'
import type { OperationOption, Surface } from '../../ports/surface.js'
import type { AuthSettings } from '../../settings/settings.js'
import type { Configuration } from '../configuration/config-store.js'
import { type KnownPrincipals, knownPrincipals } from '../context/actor.js'
import type { BreachCheck, PasswordHashes, PasswordVerdict } from '../hashing/password-hashes.js'
import type { SigningKeys } from '../keys/signing-keys.js'
import { createFailureThrottle, type FailureThrottle } from '../limits/lockout.js'
import type { RateLimiter } from '../limits/rate-limiter.js'

/**
 * Everything that the functions of the domain need of one surface: its ports, its constants, and the parts that keep
 * state of their own. It is the first argument of each of them.
 */
export interface SurfaceContext {
  readonly surface: Surface
  /** The context of either surface: operators administer accounts of both. */
  readonly on: (surface: Surface) => SurfaceContext
  readonly collections: Collections
  /** What of the host's would refuse that the account goes. */
  readonly heldBy: (userId: string) => Promise<readonly string[]>
  /** The credentials of service accounts; there is one collection, of the operator surface. */
  readonly serviceCredentials: Collection<ServiceCredential>
  readonly denylist: Denylist
  readonly clock: Clock
  readonly random: Random
  readonly emit: Emit
  readonly logger: Logger
  readonly background: BackgroundTasks
  readonly memory: SurfaceMemory

  /** The settings in force now; rejects when they cannot be known. */
  readonly settings: () => Promise<AuthSettings>
  readonly config: Configuration
  readonly keys: SigningKeys
  readonly tokenMemo: TokenMemo
  /** Encrypts what must be read again: secrets of authenticator apps. */
  readonly secretBox: SecretBox
  readonly limits: RateLimiter
  /** Both surfaces share its queue. */
  readonly passwords: PasswordHashes
  readonly breachCheck: BreachCheck
  /** Resolves with the test for common passwords. Loads them at the first call. */
  readonly commonPasswords: () => Promise<(password: string) => boolean>
  /** Words of the deployment, which no password may contain: issuer, product and host names. */
  readonly contextWords: readonly string[]

  readonly authorizer: Authorizer
  readonly mailer: Mailer
  /** `null` unless the host judges registrations. */
  readonly beforeRegister: BeforeRegister | null
  readonly providers: ProviderClients
  readonly riskScorer: RiskScorer
  /** `null` unless the host judges refreshes by their place. */
  readonly sessionRiskScorer: SessionRiskScorer | null

  readonly issuer: string
  /** What passkeys of this surface are bound to. */
  readonly relyingParty: RelyingParty
  /** Milliseconds of the idle window. */
  readonly idleMs: number
  /** Whole seconds, 0 to 60. */
  readonly clockLeeway: number
  /** Where browsers reach the routes of this surface, without a slash at the end. */
  readonly routesUrl: string
  /** The pages that mails lead to. */
  readonly links: Links
  /** Whether browsers and apps get a recognition id at logins. */
  readonly recognisesDevices: boolean
  /** What the host chose beyond the usual operations. */
  readonly offers: ReadonlySet<OperationOption>
  /** Whether people show a second factor before configuration writes. */
  readonly adminStepUp: boolean
}

/** Where the host's own pages are; the library only mails links to them. */
export interface Links {
  readonly verifyEmail: string
  readonly resetPassword: string
  readonly login: string
}

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
    /** By client id, where those of an id wait whose failures are used up: one hash at a time. */
    readonly crowded: ReturnType<typeof hashGates>
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
      crowded: hashGates({ concurrency: 1, clock }),
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
