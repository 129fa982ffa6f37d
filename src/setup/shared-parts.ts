import { type BackgroundTasks, createBackgroundTasks } from '../concurrency/background-tasks.js'
import { tokenMemo } from '../crypto/memos.js'
import { uuidv7 } from '../crypto/secrets.js'
import { createHeldRoles, defaultAuthorizer } from '../domain/authorization/roles.js'
import { type Configuration, createConfiguration } from '../domain/configuration/config-store.js'
import { openCollections } from '../domain/context/open-collections.js'
import { createEventPublisher } from '../domain/events/audit-log.js'
import { createSigningKeys } from '../domain/keys/signing-keys.js'
import { defaultRiskScorer } from '../domain/login/login-risk.js'
import type { SurfaceContext } from '../domain/surface/surface-context.js'
import { OptionsError } from '../errors/index.js'
import { type TrustedProxies, trustedProxies } from '../http/incoming-request.js'
import {
  createProviderClients,
  type EndpointOverrides,
} from '../identity-providers/provider-clients.js'
import { moduleCollectionsOf } from '../model/configuration.js'
import { MODULE_CONFIG_PERMISSIONS } from '../model/permissions.js'
import { serviceCredentialsSpec } from '../model/user.js'
import type { GivenOptions } from '../options.js'
import type { Backend } from '../ports/backend.js'
import type { AuthEvent, Emit } from '../ports/events.js'
import type { Authorizer, Fetcher, Logger } from '../ports/host.js'
import type { Store } from '../ports/store.js'
import type { Surface } from '../ports/surface.js'
import type { InRequest, Tracing, Untimed } from '../ports/telemetry.js'
import { failClosedBackend } from '../stores/fail-closed-backend.js'
import { consoleLogger, createRequestContext, safeLogger } from '../system/loggers.js'
import { namesAhead, systemRandom } from '../system/machine.js'
import { later, systemClock } from '../system/system-clock.js'
import { systemFetcher } from '../system/system-fetcher.js'
import { createTracing } from '../telemetry/open-telemetry.js'
import type { ReadOptions } from './check-options.js'
import { type Env, liveSettings, loadSettings, modulesOf, secretBoxOf } from './configuration.js'
import { passwordParts } from './password-hashing.js'
import { surfaceWarnings } from './surface-checks.js'
import { givenSurfaces } from './surfaces.js'

type OfEverySurface =
  | ('authorizer' | 'background' | 'breachCheck' | 'clock' | 'commonPasswords' | 'contextWords')
  | ('idleMs' | 'issuer' | 'keys' | 'logger' | 'passwords' | 'providers' | 'random' | 'riskScorer')
  | ('secretBox' | 'serviceCredentials' | 'sessionRiskScorer' | 'settings' | 'tokenMemo')

/** What there is once, whatever the surface: the host's own where it gave one. */
export interface Shared extends Pick<SurfaceContext, OfEverySurface> {
  /** Wrapped: whatever it does, it fails closed and in time. */
  readonly backend: Backend
  readonly config: Configuration
  readonly env: Env
  readonly fetcher: Fetcher
  readonly inRequest: InRequest
  /** The prefix of the names of all collections. */
  readonly prefix: string
  readonly proxies: TrustedProxies
  /** Those that the host has. */
  readonly surfaces: readonly Surface[]
  readonly publish: (event: AuthEvent) => void
  readonly tracing: Tracing
  readonly untimed: Untimed
}

/** Rejects with an `OptionsError` for the first option, in this order, that cannot work. */
export async function createShared(
  options: ReadOptions,
  processEnv: Env,
  emit: Emit,
): Promise<Shared> {
  const system = systemOf(options, processEnv)
  const { afterReply, backend, clock, env, fetcher, logger, prefix, random } = system
  // What a host does for an event may take as long as it likes, and call the library.
  const onEvent =
    options.onEvent && ((event: AuthEvent) => afterReply(() => options.onEvent?.(event)))
  options.backend.useLogger?.(logger)
  for (const warning of surfaceWarnings(options.surfaces)) logger.warn(warning)
  const keys = await createSigningKeys(options.keys, clock, logger, options.backendTimeout)
  const proxies = proxiesOf(options, logger)
  const { idleMs, seeds } = loadSettings(options.settings ?? {}, env, logger)
  const secretBox = secretBoxOf(options.configKeys, env, random)
  const config = createConfiguration({
    ...system,
    collections: moduleCollectionsOf(backend.store, prefix),
    modules: modulesOf(options, seeds, env, secretBox),
    emit,
  })
  const settings = liveSettings(config.reader, env, logger, options)
  const authorizer = authorizerOf(options, backend.store, prefix)
  const passwords = await passwordParts(options, system)
  const tracing = createTracing(options, clock)
  return {
    ...system,
    ...passwords,
    authorizer,
    config,
    idleMs,
    keys,
    providers: createProviderClients({
      ...{ fetcher, clock, endpoints: endpointsOf(options) },
      declared: options.providers ?? [],
    }),
    proxies,
    publish: createEventPublisher({ onEvent, tracing, logger }),
    secretBox,
    serviceCredentials: backend.store.collection({
      ...serviceCredentialsSpec,
      name: prefix + serviceCredentialsSpec.name,
    }),
    settings,
    tokenMemo: tokenMemo(options.tokenMemory ?? 32),
    tracing,
  }
}

/** What everything runs on. */
function systemOf(options: GivenOptions, processEnv: Env) {
  const { clock = systemClock, backendTimeout: timeoutMs = 5000, requestTimeout = 15_000 } = options
  const surfaces = givenSurfaces(options.surfaces)
  const random = options.random ?? namesAhead(systemRandom)
  // A host with a logger of its own may follow requests by itself, and need not pay for it twice.
  const isFollowed = options.logger === undefined || options.requestIdHeader !== undefined
  const newId = () => uuidv7(clock.now(), random)
  const lifetime = { clock, timeoutMs: requestTimeout }
  const context = createRequestContext(options.requestIdHeader, newId, lifetime)
  const { afterReply, inRequest, restMs, untimed } = context
  const logger = safeLogger(options.logger ?? consoleLogger(clock), isFollowed ? context : null)
  const tasks = createBackgroundTasks(logger, later)
  return {
    afterReply,
    backend: failClosedBackend(options.backend, { clock, logger, timeoutMs, restMs, later }),
    background: {
      ...tasks,
      run: (what, work) => tasks.run(what, () => afterReply(work)),
    } satisfies BackgroundTasks,
    clock,
    env: options.env ?? processEnv,
    fetcher: options.fetcher ?? systemFetcher,
    inRequest,
    issuer: options.issuer ?? surfaces[0]?.[1].baseUrl ?? '',
    logger,
    prefix: options.collectionPrefix ?? '',
    random,
    riskScorer: options.riskScorer ?? defaultRiskScorer,
    sessionRiskScorer: options.sessionRiskScorer ?? null,
    surfaces: surfaces.map(([surface]) => surface),
    untimed,
  }
}

/**
 * The proxies that the host trusts, with one warning each of what makes all callers one, who are then locked out
 * together: no address was passed on, or a proxy that nobody told of.
 */
function proxiesOf({ trustProxy = false }: GivenOptions, logger: Logger): TrustedProxies {
  const proxies = readTrustProxy(trustProxy)
  let isTold = false
  // Where their number was given, be it 0, somebody thought of them.
  let isProxyTold = trustProxy !== false
  return (request) => {
    const peer = proxies(request)
    if (!isProxyTold && forwarding.some((name) => request.header(name) !== undefined)) {
      isProxyTold = true
      logger.warn(
        'a request came with X-Forwarded-For or Forwarded, which say nothing while trustProxy is false: behind a proxy, all callers share the limits of one; set trustProxy to the number of your proxies or to their networks, and to 0 where there is none',
      )
    }
    if (peer.ip === null && !isTold) {
      isTold = true
      logger.warn(
        'a request came without an address: all such requests share the rate limits of one; give fetchHandler and fetchGuards { remoteAddress }, or set trustProxy behind a proxy or a Unix socket',
      )
    }
    return peer
  }
}

/** What proxies add for whom they ask; clients may send it too. */
const forwarding = ['x-forwarded-for', 'forwarded']

function readTrustProxy(trustProxy: NonNullable<GivenOptions['trustProxy']>): TrustedProxies {
  try {
    return trustedProxies(trustProxy)
  } catch (error) {
    throw new OptionsError('trustProxy', error instanceof Error ? error.message : 'is not valid')
  }
}

/** The endpoints a host gave in place of the providers' own. */
export function endpointsOf({ oauth }: Pick<GivenOptions, 'oauth'>): EndpointOverrides {
  const given = Object.entries(oauth?.providers ?? {})
  return Object.fromEntries(given.map(([id, provider]) => [id, provider?.endpoints ?? {}]))
}

/**
 * The host's authorizer, asked by the names the host gave the permissions. Throws an `OptionsError`
 * when a function given for one made none.
 */
function authorizerOf(
  { authorizer = defaultAuthorizer, permissions = {} }: GivenOptions,
  store: Store,
  prefix: string,
): Authorizer {
  if (typeof authorizer !== 'function') return withNames(authorizer, permissions)
  const roles = createHeldRoles({
    operator: openCollections(store, 'operator', prefix),
    client: openCollections(store, 'client', prefix),
  })
  const made = authorizer(roles)
  if (typeof made?.check === 'function') return withNames(made, permissions)
  throw new OptionsError(
    'authorizer',
    'is a function that must return an object with the method check',
  )
}

function withNames(
  authorizer: Authorizer,
  { modulesRead, modulesManage }: NonNullable<GivenOptions['permissions']>,
): Authorizer {
  const names = new Map<string, string | undefined>([
    [MODULE_CONFIG_PERMISSIONS.read, modulesRead],
    [MODULE_CONFIG_PERMISSIONS.manage, modulesManage],
  ])
  return {
    check: (question) =>
      authorizer.check({
        ...question,
        permission: names.get(question.permission) ?? question.permission,
      }),
  }
}
