import type { MeterProvider, TracerProvider } from '@opentelemetry/api'
import type { ModuleDefinition } from './config/define-module.js'
import type { KeyRing } from './crypto/key-ring.js'
import type { ConfigKey } from './crypto/secret-box.js'
import type { RateLimits } from './domain/limits/rate-limiter.js'
import type { TrustProxy } from './http/client-ip.js'
import type { ProviderEndpoints, ProviderId } from './identity-providers/provider.js'
import type { AuthEvent } from './ports/auth-event.js'
import type { Authorizer, AuthorizerFactory } from './ports/authorizer.js'
import type { Backend } from './ports/backend.js'
import type { Clock } from './ports/clock.js'
import type { Fetcher } from './ports/fetcher.js'
import type { Logger } from './ports/logger.js'
import type { Mailer } from './ports/mailer.js'
import type { Argon2Params, LegacyVerifier, PasswordHasher } from './ports/password-hasher.js'
import type { Random } from './ports/random.js'
import type { RiskScorer } from './ports/risk-scorer.js'
import type { Surface } from './ports/surface.js'
import type { InitialSettings } from './settings/initial-values.js'

export interface SurfaceOptions {
  /**
   * Where browsers reach this surface, such as `https://app.example.com`. Its scheme decides about
   * `Secure` cookies and its origin begins every mailed link; the request never does. `http:` only
   * for localhost.
   */
  readonly baseUrl: string
  /** Shares the refresh cookie with subdomains. Default: host-only `__Host-` cookies. */
  readonly cookieDomain?: string
  /** The cookie's path, `/` by default; another one only together with `cookieDomain`. */
  readonly cookiePath?: string
  /**
   * Where browsers reach this surface's routes, if the host mounts them below a path: identity
   * providers send people back to `<routesUrl>/v1/auth/…/callback`. Default `baseUrl`.
   */
  readonly routesUrl?: string
  /**
   * Further origins whose pages may use the cookie and read the replies (CORS), such as
   * `https://www.example.com`. The one of `baseUrl` always may.
   */
  readonly allowedOrigins?: readonly string[]
  /** Paths below `baseUrl`, or whole URLs, of the host's own pages that mails link to. */
  readonly pages?: {
    /** Default `/verify-email`. Its link carries `#token=…` for `POST …/email/verify`. */
    readonly verifyEmail?: string
    /** Default `/reset-password`. Its link carries `#token=…` for `POST …/password/reset`. */
    readonly resetPassword?: string
    /** Default `/login`. */
    readonly login?: string
  }
  /** What passkeys of this surface are bound to (WebAuthn). */
  readonly webauthn?: {
    /**
     * The relying party id: the host of `baseUrl`, which is the default, or a parent domain of it, to
     * share passkeys with sibling hosts. Passkeys stay bound to the one they were registered for: it
     * cannot be changed later. Browsers know passkeys for names, not for IP addresses.
     */
    readonly rpId?: string
    /**
     * Origins that may use passkeys beside `baseUrl`'s and those of `allowedOrigins` that belong to
     * the `rpId`: `https://…` of its own hosts, `android:apk-key-hash:…` of Android apps.
     */
    readonly origins?: readonly string[]
  }
  /** Replaces single rate limits of this surface. Live settings win where they exist. */
  readonly rateLimits?: Partial<RateLimits>
}

export interface HashOptions {
  /** argon2id costs, never below the floor. Default 19,456 KiB, two passes, one lane. */
  readonly params?: Argon2Params
  /** Hashes at once; default one less than there are cores and threads in Node's pool. */
  readonly concurrency?: number
  /** Hashes waiting; more are refused with `server_busy`. Default 64. */
  readonly queue?: number
  /** `argon2` by default; `@node-rs/argon2` (about three times faster) if the host installs it. */
  readonly implementation?: 'argon2' | '@node-rs/argon2' | PasswordHasher
  /** Lets test suites go below the floor. Never set it elsewhere. */
  readonly allowWeakHashesForTests?: true
}

/**
 * Identity providers. Which are offered, to whom, and what this host is registered with are settings;
 * here is where they are spoken to, for a national cloud and for tests.
 */
export interface OauthOptions {
  readonly providers?: Readonly<Partial<Record<ProviderId, OauthProviderOptions>>>
  /** Lets endpoints be `http:` on localhost, 127.0.0.1 and [::1]. For tests alone. */
  readonly allowInsecureLoopback?: true
}

export interface OauthProviderOptions {
  /**
   * In place of the provider's own; those left out stay. Of Microsoft `{tenant}` stands for the
   * setting `microsoftTenant`, and `{tenantid}` in `issuer` for the tenant of whoever signs in.
   */
  readonly endpoints?: Partial<ProviderEndpoints>
}

export interface AuthOptions {
  /** The database: `memory()`, `postgres(pool)`, `mongo(…)`, `redis(client)`, or a backend of your own. */
  readonly backend: Backend
  /** The signing keys, or a function that reads them; called again once a minute. */
  readonly keys: KeyRing | (() => Promise<KeyRing>)
  readonly surfaces: Readonly<Record<Surface, SurfaceOptions>>
  readonly mailer: Mailer
  /** The `iss` of every token. Default: the operator surface's `baseUrl`. */
  readonly issuer?: string
  /**
   * First values of the settings, for those nobody gave one yet. They never override what is stored:
   * administrators change settings while the host runs.
   */
  readonly settings?: InitialSettings
  /** Modules of the host's own that are configured through the same store; see `defineModule`. */
  readonly modules?: readonly ModuleDefinition[]
  /**
   * Keys that encrypt the secrets of the configuration store: the first encrypts, all of them
   * decrypt. Default: the one in the environment variable `CONFIG_ENCRYPTION_KEY`, 32 random bytes
   * in base64, under the id `default`. One of the two is required.
   */
  readonly configKeys?: readonly ConfigKey[]
  /** Names of permissions the authorizer is asked for in place of the library's own. */
  readonly permissions?: {
    /** Default `system.modules.read`. */
    readonly modulesRead?: string
    /** Default `system.modules.manage`. */
    readonly modulesManage?: string
  }
  /**
   * Decides about the library's guarded routes. Default: each person may manage their own account
   * and nothing else. One given here takes its place whole: it has to grant `auth.self` (the account)
   * and `auth.mfa.self` (its second factors) too. `roleAuthorizer()` is one that ships with the library:
   * role shortcuts, and roles kept in the store. A function is called once, with those roles.
   */
  readonly authorizer?: Authorizer | AuthorizerFactory
  /**
   * Judges logins: whether an owner is mailed, and whether a trusted device is taken for one. Default: by
   * device, network and wrong passwords, over the logins of ninety days.
   */
  readonly riskScorer?: RiskScorer
  /** Whose `X-Forwarded-For` is believed. Default: nobody's. */
  readonly trustProxy?: TrustProxy
  /** Where identity providers are spoken to, if not at their usual addresses. */
  readonly oauth?: OauthOptions
  /** Environment variables. Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly hash?: HashOptions
  /** Checks hashes of an imported user base; see `LegacyVerifier`. */
  readonly legacyVerifiers?: readonly LegacyVerifier[]
  /** Put before every collection name. Default empty. */
  readonly collectionPrefix?: string
  /** Which surface an unprefixed path means when nothing else tells. Default `operator`. */
  readonly defaultSurface?: Surface
  /** Words no password may contain, beside the issuer's and the hosts' names. */
  readonly passwordContextWords?: readonly string[]
  /** Seconds by which replicas' clocks may differ, 0 to 60. Default 0. */
  readonly clockLeeway?: number
  /** Milliseconds after which a call to the backend counts as failed. Default 5,000. */
  readonly backendTimeout?: number
  /**
   * `false`: this process never removes what has expired. For serverless hosts, whose processes
   * stand still between requests; another process then has to do it. By default every process
   * takes part and one at a time does the work. Expiry itself never depends on it. Such a process
   * does not go on with webhooks that failed either.
   */
  readonly sweep?: false
  /** Where metrics go. Default: OpenTelemetry's global provider, as it is when this is called. */
  readonly meterProvider?: MeterProvider
  /** Where spans go. Default: OpenTelemetry's global provider. */
  readonly tracerProvider?: TracerProvider
  /** How long audit records are kept, 30 to 3,650 days. Default 400. */
  readonly auditRetentionDays?: number
  /**
   * Told of every security-relevant act, with a copy of the event. Nobody waits for it; what it
   * throws or rejects with is logged.
   */
  readonly onEvent?: (event: AuthEvent) => unknown
  /** Default: JSON lines on standard error. */
  readonly logger?: Logger
  readonly clock?: Clock
  readonly random?: Random
  readonly fetcher?: Fetcher
}
