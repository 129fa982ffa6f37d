import { availableParallelism } from 'node:os'
import { createBackgroundTasks } from './concurrency/background-tasks.js'
import { loadCommonPasswords } from './crypto/common-passwords.js'
import { hashGate } from './crypto/hash-gate.js'
import type { Users } from './domain/accounts/users.js'
import type { Roles } from './domain/authorization/roles.js'
import { type Config, createConfigApi } from './domain/configuration/config-api.js'
import { createConfigStore } from './domain/configuration/config-store.js'
import type { Principal } from './domain/context/principal.js'
import type { SurfaceContext } from './domain/context/surface-context.js'
import { type AuditLog, createAuditLog } from './domain/events/audit-log.js'
import { createEmit } from './domain/events/emit.js'
import { createEventPublisher } from './domain/events/event-publisher.js'
import { startWebhookRetries } from './domain/events/webhook-retries.js'
import { createWebhooks, type Webhooks } from './domain/events/webhooks.js'
import { createRateLimiter } from './domain/limits/rate-limiter.js'
import { defaultRiskScorer } from './domain/login/default-risk-scorer.js'
import { createBreachCheck } from './domain/passwords/breach-check.js'
import { createPasswordHashes } from './domain/passwords/password-hashes.js'
import type { SessionAdministration } from './domain/sessions/session-administration.js'
import { createSigningKeys, type SigningKeys } from './domain/sessions/signing-keys.js'
import { OptionsError } from './errors/index.js'
import { type ClientIp, clientIp } from './http/client-ip.js'
import { withCors } from './http/cors.js'
import type { Guarded, Mountable } from './http/exchange.js'
import { matcherOf } from './http/match.js'
import { createPipeline } from './http/pipeline.js'
import { refusalEvents } from './http/refusal-events.js'
import { type AudienceOf, routeGuards } from './http/route-guards.js'
import { bothRouter, surfaceRouter } from './http/surface-router.js'
import { createProviderClients } from './identity-providers/provider-clients.js'
import { allCollectionSpecs, collectionsOf } from './model/collections.js'
import { moduleCollectionsOf } from './model/module-collections.js'
import { serviceCredentialsSpec } from './model/service-credential.js'
import { operations } from './operations/index.js'
import type { AuthOptions } from './options.js'
import type { AuthEvent } from './ports/auth-event.js'
import type { Emit } from './ports/emit.js'
import type { Surface } from './ports/surface.js'
import { authorizerOf } from './setup/authorizer.js'
import { checkOptions } from './setup/check-options.js'
import { closeInTime } from './setup/close.js'
import { liveSettings, loadSettings } from './setup/live-settings.js'
import { modulesOf, secretBoxOf } from './setup/modules.js'
import { chooseHasher, defaultConcurrency, hashParams } from './setup/password-hashing.js'
import {
  contextWordsOf,
  cookiePolicyOf,
  endpointsOf,
  linksOf,
  originsOf,
  relyingPartyOf,
  routesUrlOf,
} from './setup/surface-options.js'
import { surfaceResolution } from './setup/surface-resolution.js'
import {
  createSurfaceServices,
  type SurfaceParts,
  type SurfaceServices,
} from './setup/surface-services.js'
import { startSweeping } from './setup/sweeping.js'
import { failClosedBackend } from './stores/fail-closed-backend.js'
import { consoleLogger } from './system/console-logger.js'
import { later } from './system/later.js'
import { safeLogger } from './system/safe-logger.js'
import { systemClock } from './system/system-clock.js'
import { systemFetcher } from './system/system-fetcher.js'
import { systemRandom } from './system/system-random.js'
import { createTracing } from './telemetry/open-telemetry-tracing.js'

/** A surface: its routes, for a framework adapter to mount, and its users, roles, sessions and audit log. */
export interface SurfaceAuth<S extends Surface = Surface>
  extends Mountable,
    SessionAdministration,
    Guarded<Principal<S>, AudienceOf<S>> {
  readonly users: Users
  /** The roles kept in the store and their bindings. They count with `authorizer: roleAuthorizer()`. */
  readonly roles: Roles
  /**
   * Resolves with the principal of an `Authorization` header, for the host's own routes and outside of
   * HTTP. Checks signature, audience, expiry and, for every call, the denylist. Throws `AuthError`
   * `unauthorized` (the 401 without a code: the client refreshes and retries), `audience_mismatch`,
   * `session_revoked`, `session_max_age_reached`, or 503 `session_enforcement_unavailable` when the
   * denylist cannot be read. Reads no user record: call `users.get` if `enabled` or roles matter.
   */
  authenticate(authorization: string | undefined): Promise<Principal<S>>
  /**
   * For the host's own routes: reads the user, asks the authorizer, and resolves only if it allows.
   * `tenantId` names the tenant in question. Throws `AuthError` `permission_denied` (403), also for a
   * disabled or deleted user and for an invalid `tenantId`, or `authorization_unavailable` (503).
   */
  requirePermission(
    principal: Principal<S>,
    permission: string,
    of?: { readonly tenantId: string },
  ): Promise<void>
  /**
   * For the host's own routes: resolves only if the principal's session showed a second factor less
   * than `maxAgeMs` milliseconds ago, at login or at `POST …/step-up`. Else throws `AuthError`
   * `step_up_required` (403) with `maxAgeSeconds` for the challenge of RFC 9470 §3, also for a service
   * account and for a user without a factor. A password, a refresh and a trusted device do not count.
   */
  requireStepUp(principal: Principal<S>, age: { readonly maxAgeMs: number }): Promise<void>
  readonly audit: AuditLog
}

interface Built extends SurfaceServices {
  readonly audit: AuditLog
  readonly emit: Emit
  readonly webhooks: Webhooks
}

/** The library, built by `createAuth`. */
export interface Auth {
  /** `/v1/auth/operator/*`, `/v1/admin/*` and the unprefixed paths, to mount on a host for operators. */
  readonly operator: SurfaceAuth<'operator'>
  /** `/v1/auth/client/*` and the unprefixed paths, to mount on a host for clients. */
  readonly client: SurfaceAuth<'client'>
  /** Both surfaces, to mount on one host. */
  readonly both: Mountable
  /** `reload` reads `createAuth({ keys })` again at once, if it is a function. */
  readonly keys: Pick<SigningKeys, 'reload'>
  readonly config: Config
  /**
   * Prepares the database and registers the modules, which gives settings without a value their first
   * values. Call it before serving. Replicas may call it in parallel, and any number of times.
   */
  migrate(): Promise<void>
  /**
   * Waits for mails and audit records in progress, stops the sweep and hands it to another replica.
   * Resolves after 15 seconds at the latest, with a warning in the log: a mailer may never answer. The
   * host closes the backend.
   */
  close(): Promise<void>
}

/**
 * Builds the library from the host's options. Rejects with an `OptionsError` that names the option
 * that cannot work. Does no database I/O: call `auth.migrate()` before serving. Instances share
 * nothing with each other.
 *
 * @example
 * import { randomBytes } from 'node:crypto'
 * import { createAuth, generateSigningKey } from 'postern'
 * import { memory } from 'postern/memory'
 *
 * const auth = await createAuth({
 *   backend: memory(),
 *   keys: { current: await generateSigningKey() },
 *   configKeys: [{ id: 'dev', key: randomBytes(32).toString('base64') }],
 *   surfaces: {
 *     operator: { baseUrl: 'http://localhost:3000' },
 *     client: { baseUrl: 'http://localhost:3001' },
 *   },
 *   mailer: { send: async (mail) => console.log(mail.to, mail.template) },
 * })
 * await auth.migrate()
 */
export async function createAuth(options: AuthOptions): Promise<Auth> {
  checkOptions(options)
  const { clock = systemClock, random = systemRandom } = options
  const logger = safeLogger(options.logger ?? consoleLogger)
  const env = options.env ?? process.env
  const background = createBackgroundTasks(logger, later)
  const timeoutMs = options.backendTimeout ?? 5000
  const backend = failClosedBackend(options.backend, { clock, logger, timeoutMs })
  const keys = await createSigningKeys(options.keys, clock, logger)
  const issuer = options.issuer ?? options.surfaces.operator.baseUrl
  const prefix = options.collectionPrefix ?? ''
  const ipOf = readTrustProxy(options)

  const { idleMs, seeds } = loadSettings(options.settings ?? {}, env, logger)
  const box = secretBoxOf(options.configKeys, env, random)
  const config = createConfigStore({
    collections: moduleCollectionsOf(backend.store, prefix),
    modules: modulesOf(options, seeds, env, box),
    clock,
    random,
    background,
    emit: (type, source, facts) => built.operator.emit(type, source, facts),
    logger,
  })
  const serviceCredentials = backend.store.collection({
    ...serviceCredentialsSpec,
    name: prefix + serviceCredentialsSpec.name,
  })
  const readSettings = liveSettings(config.reader, env, logger)
  const authorizer = authorizerOf(options, backend.store, prefix)

  const concurrency = options.hash?.concurrency ?? defaultConcurrency(availableParallelism(), env)
  const queue = options.hash?.queue ?? 64
  const passwords = createPasswordHashes({
    hasher: await chooseHasher(options.hash?.implementation),
    params: hashParams(options.hash),
    gate: hashGate({ concurrency, queue, clock }),
    legacyVerifiers: options.legacyVerifiers ?? [],
    random,
    logger,
  })
  const isCommon = await loadCommonPasswords()
  const fetcher = options.fetcher ?? systemFetcher
  const breachCheck = createBreachCheck({ fetcher, clock })
  const providers = createProviderClients({ fetcher, clock, endpoints: endpointsOf(options) })
  const ownWords = contextWordsOf(issuer, Object.values(options.surfaces))
  const contextWords = [...ownWords, ...(options.passwordContextWords ?? [])]

  const tracing = createTracing(options)
  const publish = createEventPublisher({ onEvent: options.onEvent, tracing, logger })
  const retentionMs = (options.auditRetentionDays ?? 400) * 24 * 60 * 60 * 1000

  function build(surface: Surface): Built {
    const collections = collectionsOf(backend.store, surface, prefix)
    const overrides = options.surfaces[surface].rateLimits ?? {}
    // Of the recorders themselves: what they could not record is published, and not recorded again.
    const emitUnrecorded = createEmit({ surface, clock, publish })
    const audit = createAuditLog({
      records: collections.auditRecords,
      clock,
      random,
      background,
      retentionMs,
      emit: emitUnrecorded,
    })
    const webhooks = createWebhooks({
      deliveries: collections.webhookDeliveries,
      settings: readSettings,
      fetcher,
      clock,
      random,
      background,
      emit: emitUnrecorded,
      logger,
    })
    const record = (event: AuthEvent): void => {
      publish(event)
      audit.record(event)
      webhooks.record(event)
    }
    const emit = createEmit({ surface, clock, publish: record })
    const context: SurfaceContext = {
      surface,
      collections,
      serviceCredentials,
      denylist: backend.denylist,
      clock,
      random,
      settings: readSettings,
      secretBox: box,
      issuer,
      relyingParty: relyingPartyOf(options.surfaces[surface]),
      idleMs,
      clockLeeway: options.clockLeeway ?? 0,
      routesUrl: routesUrlOf(options.surfaces[surface]),
      background,
      emit,
      logger,
    }
    const parts: SurfaceParts = {
      authorizer,
      config,
      keys,
      limits: createRateLimiter({ surface, counter: backend.counter, clock, logger, overrides }),
      links: linksOf(options.surfaces[surface]),
      mailer: options.mailer,
      passwords,
      breachCheck,
      isCommon,
      contextWords,
      providers,
      riskScorer: options.riskScorer ?? defaultRiskScorer,
    }
    const services = createSurfaceServices(context, parts, (other) => built[other])
    return { ...services, audit: audit.log, emit, webhooks }
  }

  const built = { operator: build('operator'), client: build('client') }
  const route = (surface: Surface) => {
    const allowedOrigins = originsOf(options.surfaces[surface])
    const pipeline = createPipeline({
      surface,
      services: built[surface].services,
      cookies: cookiePolicyOf(surface, options.surfaces[surface]),
      allowedOrigins,
      clientIp: ipOf,
      clock,
      emit: built[surface].emit,
      tracing,
      logger,
    })
    const matcher = matcherOf(operations, surface)
    return { matcher, pipeline: withCors(pipeline, allowedOrigins) }
  }
  const routes = { operator: route('operator'), client: route('client') }
  const mount = <S extends Surface>(surface: S): SurfaceAuth<S> => ({
    ...surfaceRouter(surface, routes[surface]),
    users: built[surface].users,
    roles: built[surface].roles,
    audit: built[surface].audit,
    ...built[surface].sessions,
    async authenticate(authorization) {
      const principal = await built[surface].services.access.authenticate(authorization)
      return { ...principal, surface }
    },
    guards: routeGuards(surface, {
      services: built[surface].services,
      refusals: refusalEvents({ clock, emit: built[surface].emit }),
      clientIp: ipOf,
      logger,
    }),
    async requirePermission(principal, permission, of) {
      await built[surface].services.access.permit(principal, permission, of)
    },
    requireStepUp: (principal, { maxAgeMs }) =>
      built[surface].services.stepUp.require(principal, maxAgeMs),
  })

  const sweeper = startSweeping(options, {
    backend,
    clock,
    random,
    deletions: { operator: built.operator.deletions, client: built.client.deletions },
    logger,
  })
  const webhooks = Object.values(built).map((surface) => surface.webhooks)
  const webhookRetries =
    options.sweep === false ? null : startWebhookRetries({ webhooks, clock, logger })
  return {
    operator: mount('operator'),
    client: mount('client'),
    both: bothRouter(routes, surfaceResolution(options, built)),
    keys: { reload: () => keys.reload() },
    config: createConfigApi(config, logger),
    async migrate() {
      await options.backend.store.prepare(allCollectionSpecs(prefix))
      await config.register()
      // What is wrong with them is logged now, and the first request need not wait for them.
      await readSettings()
      // A process that only migrates ends here: its audit records must not be lost with it.
      await background.drain()
    },
    close() {
      const work = [background.drain(), sweeper.close()]
      if (webhookRetries !== null) work.push(webhookRetries.close())
      return closeInTime(work, { clock, logger })
    },
  }
}

function readTrustProxy({ trustProxy = false }: AuthOptions): ClientIp {
  try {
    return clientIp(trustProxy)
  } catch (error) {
    throw new OptionsError('trustProxy', error instanceof Error ? error.message : 'is not valid')
  }
}
