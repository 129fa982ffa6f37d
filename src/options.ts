import type { ModuleDefinition } from './config/define-module.js'
import type { KeyRing } from './crypto/key-ring.js'
import type { ConfigKey } from './crypto/secret-box.js'
import type { RateLimits } from './domain/limits/rate-limiter.js'
import type { TrustProxy } from './http/incoming-request.js'
import type { DeclaredProvider } from './identity-providers/declared-providers.js'
import type { ProviderEndpoints } from './identity-providers/provider.js'
import type { ProviderId } from './identity-providers/providers.js'
import type { Backend } from './ports/backend.js'
import type { AuthEvent } from './ports/events.js'
import type {
  Argon2Params,
  Authorizer,
  AuthorizerFactory,
  BeforeRegister,
  Clock,
  Fetcher,
  LegacyHashes,
  LegacyVerifier,
  Logger,
  Mailer,
  PasswordHasher,
  Random,
} from './ports/host.js'
import type { RiskScorer, SessionRiskScorer } from './ports/risk-scorers.js'
import type { Surface } from './ports/surface.js'
import type { MeterProvider, RequestIdHeader, TracerProvider } from './ports/telemetry.js'
import type { InitialSettings } from './settings/settings.js'

/** Options of one surface. */
export interface SurfaceOptions {
  /**
   * The URL at which browsers reach this surface, such as `https://app.example.com`. Its scheme
   * decides whether cookies are `Secure`, and its origin begins every mailed link; no request changes
   * either. `http:` is accepted for localhost only.
   */
  readonly baseUrl: string
  /**
   * Shares the cookies of sessions and trusted devices with the subdomains of this domain. Default:
   * host-only cookies, named `__Host-…` on https (RFC 6265bis §4.1.3), as all others are in any case.
   * The hosts of `baseUrl` and `routesUrl` have to be in it. `createAuth` warns of a domain that covers
   * hosts of the other surface: browsers would send them the cookies too.
   */
  readonly cookieDomain?: string
  /**
   * The path of the same cookies. Default `/`; another path needs `cookieDomain`, and has to be above the
   * routes of the surface, `/v1/auth/operator` or `/v1/auth/client`.
   */
  readonly cookiePath?: string
  /**
   * Begins the name of every cookie of the surface: `shop_` makes `__Host-shop_cl_refresh` of `__Host-cl_refresh`.
   * At most 32 letters, digits, `-` and `_`. For hosts that share a name with another product built on Postern, as on
   * `localhost`. A change of it signs browsers out. Default none.
   */
  readonly cookieNamePrefix?: string
  /**
   * The URL of this surface's routes, if the host mounts them below a path. Identity providers send
   * browsers back to `<routesUrl>/v1/auth/…/callback`. Its scheme is that of `baseUrl`. Default `baseUrl`.
   */
  readonly routesUrl?: string
  /**
   * More hosts of this surface for `auth.both`, such as `app.internal` or `10.0.0.5:3000`. Its hosts
   * are these and the ones in `baseUrl` and `routesUrl`. Where the surfaces have different hosts,
   * `auth.both` answers each surface on its own, and other hosts with 404. A port counts only where
   * both surfaces have the name; an entry without one then means every port. Default none.
   */
  readonly hosts?: readonly string[]
  /**
   * More origins whose pages may use the cookie and read the replies (CORS), such as
   * `https://www.example.com`, or `capacitor://localhost`, `ionic://…`, `tauri://…`, `chrome-extension://…` and
   * `moz-extension://…` for the pages of apps and browser extensions. The origin of `baseUrl` always may. Default none.
   */
  readonly allowedOrigins?: readonly string[]
  /**
   * More headers that pages of these origins may send, such as `X-Tenant`. `Authorization`, `Content-Type`,
   * `X-Token-Delivery`, `traceparent`, `tracestate`, `baggage`, `sentry-trace`, `X-Request-Id` and `X-Requested-With`
   * always may. The library does not read the others. Default none.
   */
  readonly allowedHeaders?: readonly string[]
  /** The host's own pages that mails link to: paths below `baseUrl`, or whole URLs. */
  readonly pages?: {
    /** Its link carries `#token=…` for `POST …/email/verify`. Default `/verify-email`. */
    readonly verifyEmail?: string
    /** Its link carries `#token=…` for `POST …/password/reset`. Default `/reset-password`. */
    readonly resetPassword?: string
    /** The page to sign in. Sign-ins with a provider that cannot go on lead there with `?error=…`. Default `/login`. */
    readonly login?: string
  }
  /**
   * With `true`, people sign in by a code of eight digits that is mailed to them: `POST …/login/code` and
   * `…/login/code/verify`. A mailbox is a weaker proof than a password with a second factor (ASVS 6.3.6). Default
   * `false`: the surface has neither operation.
   */
  readonly mailedCode?: boolean
  /** The relying party of this surface's passkeys (WebAuthn §5.1.2). */
  readonly webauthn?: {
    /**
     * The relying party id: the host of `baseUrl`, which is the default, or a parent domain of it, to
     * share passkeys with sibling hosts. It cannot be changed later: passkeys work only with the id
     * they were registered for. Browsers accept names here, not IP addresses.
     */
    readonly rpId?: string
    /**
     * More origins that may use passkeys, beside `baseUrl`'s and the web pages of `allowedOrigins` that belong
     * to the `rpId`: `https://…` of its own hosts, `android:apk-key-hash:…` of Android apps.
     */
    readonly origins?: readonly string[]
  }
  /**
   * Replaces single rate limits of this surface. `windowMs` is 1,000 to 31,536,000,000 milliseconds, a
   * year. A limit that is a setting is not among them.
   *
   * `exact: true` counts every hit in the backend, as it comes. By default a process counts the first
   * hits of frequent requests by itself, at most a fiftieth of their limit and at least one, which saves
   * the round trip. Each further process can then let that many more hits through. A counter without
   * `add` is always exact.
   */
  readonly rateLimits?: Partial<RateLimits> & { readonly exact?: boolean }
}

/** How passwords and other secrets are hashed. */
export interface HashOptions {
  /**
   * argon2id costs, never below the floor: `{ memoryCost, timeCost, parallelism }`, which are KiB, passes and lanes. Default
   * 19,456 KiB, two passes, one lane.
   */
  readonly params?: Argon2Params
  /**
   * Hashes that run in parallel, 1 to 1,024, of about 20 MiB each at the default costs. Default 3, which keeps them
   * below 64 MiB; less where there are fewer than four cores or threads: one less than the cores, on two cores 2, and
   * one less than the threads of Node's pool, which `UV_THREADPOOL_SIZE` sets; at least 1.
   */
  readonly concurrency?: number
  /**
   * Hashes that may wait, seven eighths of them for one surface. Beyond that, the newest of the address
   * or session with the most is refused with 503 `server_busy`. Default 64.
   */
  readonly queue?: number
  /**
   * Default `argon2`. `@node-rs/argon2` is about three times faster. The host installs it; `createAuth` rejects
   * where it cannot be loaded.
   */
  readonly implementation?: 'argon2' | '@node-rs/argon2' | PasswordHasher
  /**
   * Lets test suites go below the floor, and answers a wrong password without the delay that hides the
   * kind of its hash: a fake clock would never let it pass. Never set it elsewhere.
   */
  readonly allowWeakHashesForTests?: true
}

/**
 * Endpoints of identity providers, for a national cloud and for tests. Settings decide which
 * providers are offered and hold the credentials.
 */
export interface OauthOptions {
  /** One entry each for `google`, `microsoft`, `apple` and `github`. Default: their usual endpoints. */
  readonly providers?: Readonly<Partial<Record<ProviderId, OauthProviderOptions>>>
  /** Accepts `http:` endpoints on localhost, 127.0.0.1 and [::1]. For tests only. */
  readonly allowInsecureLoopback?: true
}

/** Options of one identity provider. */
export interface OauthProviderOptions {
  /**
   * Replaces single endpoints of the provider. For Microsoft, `{tenant}` stands for the setting
   * `microsoftTenant`, and `{tenantid}` in `issuer` for the tenant of the user who signs in.
   */
  readonly endpoints?: Partial<ProviderEndpoints>
}

/**
 * The options of `createAuth`. `backend`, `keys`, `surfaces` and `mailer` are required. `S` names the surfaces of a host
 * that has one alone, as in `AuthOptions<'client'>`.
 */
export interface AuthOptions<S extends Surface = Surface> {
  /** The database: `memory()`, `postgres(pool)`, `mongo(…)`, `redis(client)`, or your own backend. */
  readonly backend: Backend
  /**
   * The signing keys, or a function that reads them. With `sign`, the private key stays in an HSM or a KMS.
   * The function is called again every minute, and for a token of a key that is not in the ring, once in five
   * seconds at most. While it fails, its last ring is used for two minutes; then requests that need a key
   * get 503.
   */
  readonly keys: KeyRing | (() => Promise<KeyRing>)
  /**
   * The surface of operators and that of clients, or one of them. Of a surface that is left out, nothing is built,
   * mounted or migrated. Without operators, nobody changes settings over HTTP, and there are no service accounts.
   */
  readonly surfaces: { readonly [Name in S]: SurfaceOptions }
  /** Sends the mails; see `Mail` for the templates. */
  readonly mailer: Mailer
  /**
   * The `iss` of every token. Default: the operator surface's `baseUrl`, or the client surface's if there are no operators. Another issuer signs all users out, so keep it
   * here before you move that address.
   */
  readonly issuer?: string
  /**
   * First values of settings that have no stored value yet. They never override a stored value:
   * administrators change settings while the host runs. Each is checked as an edit is, addresses included;
   * a redirect target at `http://localhost` may be given here alone.
   */
  readonly settings?: InitialSettings
  /** The host's own modules, configured through the same store; see `defineModule`. Default none. */
  readonly modules?: readonly ModuleDefinition[]
  /**
   * The keys that encrypt the secrets of the configuration store: the first encrypts, all of them
   * decrypt. Default: the environment variable `CONFIG_ENCRYPTION_KEY`, 32 random bytes in base64,
   * with the id `default`. One of the two is required. A function, such as one that reads them from a vault, is
   * called once, before anything else is built; a replica that starts later reads them then.
   */
  readonly configKeys?: readonly ConfigKey[] | (() => Promise<readonly ConfigKey[]>)
  /**
   * With `true`, people show a second factor before they change configuration over HTTP (`PATCH` and `PUT` below
   * `/v1/admin/modules`): in the session that asks, less than the setting `stepUpMaxAge` ago. Without a proof the answer
   * is 403 `step_up_required`, or `mfa_enrollment_required` for an account without a factor. Service accounts have no factor and are not asked. Settings
   * that leave every kind of factor off are refused then. Default false.
   */
  readonly adminStepUp?: boolean
  /**
   * Renames the permissions of the module configuration, as the authorizer is asked for them. Not to
   * `auth.self` or `auth.mfa.self`, which every person holds.
   */
  readonly permissions?: {
    /** Default `system.modules.read`. */
    readonly modulesRead?: string
    /** Default `system.modules.manage`. */
    readonly modulesManage?: string
  }
  /**
   * Decides who may use a guarded route. Default: people may manage their own account, and nothing
   * else is allowed. An authorizer given here replaces the default entirely, so it has to grant
   * `auth.self` (the account) and `auth.mfa.self` (its second factors) too. `roleAuthorizer()` decides
   * by role shortcuts and by roles kept in the store. A function is called once, with those roles.
   */
  readonly authorizer?: Authorizer | AuthorizerFactory
  /**
   * May refuse a registration with a code of yours, such as for disposable addresses. It is asked at every way in which
   * an account begins by itself, and not where your code or an import makes one.
   */
  readonly beforeRegister?: BeforeRegister
  /**
   * Judges logins: whether the owner gets a mail, and whether a trusted device replaces the second
   * factor. Default: by device, network and wrong passwords, over the logins of ninety days.
   */
  readonly riskScorer?: RiskScorer
  /**
   * Judges a session when it is refreshed from another network or by another user agent than the last time: whether its
   * proof of a second factor is void, or the session ends. Default: none, and nothing is judged.
   */
  readonly sessionRiskScorer?: SessionRiskScorer
  /**
   * With `false`, browsers and apps get no recognition id at logins, and one that they send counts for
   * nothing: a device is then known by its user agent in a known network, or as a trusted device. Default
   * `true`: a cookie for 90 days from the newest login, on the host that sets it alone.
   */
  readonly deviceRecognition?: boolean
  /** The proxies whose `X-Forwarded-For` and `X-Forwarded-Host` count. Default `false`: both are ignored. */
  readonly trustProxy?: TrustProxy
  /** OpenID Connect issuers beside the four, made with `oidc` of `postern/providers`. Default none. */
  readonly providers?: readonly DeclaredProvider[]
  /** Endpoints of identity providers. Default: their usual addresses. */
  readonly oauth?: OauthOptions
  /** The environment variables to read. Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** How passwords are hashed. Default: argon2id at the recommended costs. */
  readonly hash?: HashOptions
  /** The formats of older hashes that are checked; see `LegacyHashes`. Default none. */
  readonly legacyHashes?: LegacyHashes
  /** Checks hashes of other formats, and is asked before `legacyHashes`. Default none. */
  readonly legacyVerifiers?: readonly LegacyVerifier[]
  /**
   * Put before every collection name, and before the names of counters and of the lease. Give each product a prefix of
   * its own, before its first `migrate()`, where several share a database. Default empty.
   */
  readonly collectionPrefix?: string
  /** The surface of an unprefixed path that neither host, cookie, token nor the origin of a preflight names. Default `operator`. */
  readonly defaultSurface?: Surface
  /** Words that no password may contain, beside the names of the issuer and of the hosts. */
  readonly passwordContextWords?: readonly string[]
  /** Seconds by which the clocks of replicas may differ, 0 to 60. Default 0. */
  readonly clockLeeway?: number
  /**
   * Mebibytes of memory for access tokens that were verified, so that each is verified once: 0 to 1,024.
   * A token takes 590 bytes and 125 for each membership. Default 32, for some 56,000 tokens without any; 0
   * verifies every time.
   */
  readonly tokenMemory?: number
  /** Milliseconds after which a call to the backend counts as failed. Default 5,000. */
  readonly backendTimeout?: number
  /**
   * Milliseconds after which a request makes no further call to the backend, and one under way counts as failed. The
   * time in which its body arrives is not counted. Default 15,000.
   */
  readonly requestTimeout?: number
  /**
   * With `false`, this process never removes expired documents and never repeats failed webhooks: for
   * serverless hosts, whose processes stand still between requests. Another process has to do it. By
   * default every process takes part, and one at a time does the work. Expiry does not depend on it.
   */
  readonly sweep?: false
  /** Receives metrics. Default: the global provider of `@opentelemetry/api`, if that is installed, at the time of `createAuth`. */
  readonly meterProvider?: MeterProvider
  /** Receives spans. Default: the global provider of `@opentelemetry/api`, if that is installed. */
  readonly tracerProvider?: TracerProvider
  /** Days for which audit records are kept, 30 to 3,650. Default 400. */
  readonly auditRetentionDays?: number
  /**
   * Called with a copy of every security event. No request waits for it. What it throws or rejects
   * with is logged.
   */
  readonly onEvent?: (event: AuthEvent) => unknown
  /**
   * Receives log entries. Default: JSON lines on standard error, with time, operation and request id. A logger of your
   * own gets the fields `operation` and `requestId` where `requestIdHeader` is set.
   */
  readonly logger?: Logger
  /**
   * The header from which log entries take the id of a request: `x-request-id` (1 to 128 letters, digits and
   * `_.+/=:@-`), or `traceparent` for the id of the trace (W3C Trace Context §3.2). For hosts behind a proxy that sets
   * it, since callers could otherwise choose it. Default none: each request gets an id. So does one without the header,
   * or with one of another form.
   */
  readonly requestIdHeader?: RequestIdHeader
  /** Tells the time in whole milliseconds. Default: the system's clock and timers. */
  readonly clock?: Clock
  /** Default: `node:crypto`. */
  readonly random?: Random
  /** Outbound HTTP, for identity providers, webhooks and breach checks. Default: Node's own. */
  readonly fetcher?: Fetcher
}

/** The surfaces of a host, as the library reads them: either may be absent. */
export type GivenSurfaces = Readonly<Partial<Record<Surface, SurfaceOptions>>>

/** The options as the library reads them. */
export interface GivenOptions extends Omit<AuthOptions, 'surfaces'> {
  readonly surfaces: GivenSurfaces
}
