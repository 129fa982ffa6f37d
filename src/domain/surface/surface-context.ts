import type { BackgroundTasks } from '../../concurrency/background-tasks.js'
import type { TokenMemo } from '../../crypto/memos.js'
import type { SecretBox } from '../../crypto/secret-box.js'
import type { RelyingParty } from '../../crypto/webauthn.js'
import type { ProviderClients } from '../../identity-providers/provider-clients.js'
import type { Collections } from '../../model/collections.js'
import type { ServiceCredential } from '../../model/user.js'
import type { Denylist } from '../../ports/backend.js'
import type { Emit } from '../../ports/events.js'
import type { Authorizer, Clock, Logger, Mailer, Random } from '../../ports/host.js'
import type { RiskScorer, SessionRiskScorer } from '../../ports/risk-scorers.js'
import type { Collection } from '../../ports/store.js'
import type { Surface } from '../../ports/surface.js'
import type { AuthSettings } from '../../settings/settings.js'
import type { Configuration } from '../configuration/config-store.js'
import type { BreachCheck } from '../hashing/breach-check.js'
import type { PasswordHashes } from '../hashing/password-hashes.js'
import type { SigningKeys } from '../keys/signing-keys.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { SurfaceMemory } from './surface-memory.js'

/**
 * Everything that the functions of the domain need of one surface: its ports, its constants, and the parts that keep
 * state of their own. It is the first argument of each of them.
 */
export interface SurfaceContext {
  readonly surface: Surface
  /** The context of either surface: operators administer accounts of both. */
  readonly on: (surface: Surface) => SurfaceContext
  readonly collections: Collections
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
  /** Whether people show a second factor before configuration writes. */
  readonly adminStepUp: boolean
}

/** Where the host's own pages are; the library only mails links to them. */
export interface Links {
  readonly verifyEmail: string
  readonly resetPassword: string
  readonly login: string
}
