import { lazily } from './concurrency/promises.js'
import { createConfigApi } from './domain/configuration/config-api.js'
import { startWebhookRetries } from './domain/events/webhooks.js'
import { createServiceAccountAdministration } from './domain/service-accounts/service-accounts.js'
import type { SurfaceContext } from './domain/surface/surface-context.js'
import { loadPart } from './errors/index.js'
import { bothRouter } from './http/surface-router.js'
import { allCollectionSpecs } from './model/collections.js'
import type { AuthOptions } from './options.js'
import type { Surface } from './ports/surface.js'
import type { Auth } from './setup/auth.js'
import { type BuiltSurface, buildSurface } from './setup/build-surface.js'
import { checkOptions } from './setup/check-options.js'
import { closeInTime } from './setup/close.js'
import { defaultsOf } from './setup/defaults.js'
import { metadataOf } from './setup/metadata.js'
import { mountSurface, routesOf } from './setup/mount-surface.js'
import { pagesOf } from './setup/pages-of.js'
import { requirePrepared } from './setup/require-prepared.js'
import { createSharedServices } from './setup/shared-services.js'
import { surfaceResolution } from './setup/surface-resolution.js'
import { startSweeping } from './setup/sweeping.js'
import { withConfigKeys } from './setup/with-config-keys.js'

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
export async function createAuth(given: AuthOptions): Promise<Auth> {
  checkOptions(given)
  const warnings = await warningsOf(given.surfaces)
  const options = await withConfigKeys(given)
  const defaults = defaultsOf(options, process.env)
  const { background, clock, logger, prefix } = defaults
  options.backend.useLogger?.(logger)
  for (const warning of warnings) logger.warn(warning)
  const services = await createSharedServices(options, defaults, (type, source, facts) =>
    on('operator').emit(type, source, facts),
  )
  const shared = { ...defaults, ...services }
  const built: Readonly<Record<Surface, BuiltSurface>> = {
    operator: buildSurface('operator', options, shared, (surface) => on(surface)),
    client: buildSurface('client', options, shared, (surface) => on(surface)),
  }
  const on = (surface: Surface): SurfaceContext => built[surface].ctx
  const routes = {
    operator: routesOf(on('operator'), options, shared),
    client: routesOf(on('client'), options, shared),
  }

  const mounts = <S extends Surface>(surface: S) => ({
    routes: routes[surface],
    pages: pagesOf(surface, on(surface), options, shared),
  })
  const mounted = {
    operator: lazily(() => ({
      ...mountSurface('operator', built.operator, mounts('operator'), shared),
      serviceAccounts: createServiceAccountAdministration(on('operator')),
    })),
    client: lazily(() => mountSurface('client', built.client, mounts('client'), shared)),
  }

  const sweeper = startSweeping(options, {
    ...defaults,
    async resumeDeletions(surface) {
      const load = () => import('./domain/accounts/account-deletions.js')
      const { resumeDeletions } = await loadPart('deletions of accounts', load)
      return resumeDeletions(on(surface))
    },
    async resumeNotices(surface) {
      const load = () => import('./domain/factors/factor-enrollment.js')
      const { resumeEnrollmentNotices } = await loadPart('the sweep of factors', load)
      return resumeEnrollmentNotices(on(surface))
    },
  })
  shared.keys.watch()
  const webhooks = [built.operator.webhooks, built.client.webhooks]
  const webhookRetries =
    options.sweep === false ? null : startWebhookRetries({ webhooks, clock, logger })
  return {
    get operator() {
      return mounted.operator()
    },
    get client() {
      return mounted.client()
    },
    both: bothRouter(routes, surfaceResolution(options, on, shared), shared.proxies),
    metadata: metadataOf(options, defaults.issuer, logger),
    keys: { reload: () => shared.keys.reload() },
    config: createConfigApi(shared.config, [
      ...(['operator', 'client'] as const).map((surface) => async () => {
        const load = () => import('./domain/factors/totp-factors.js')
        const { reencryptTotp } = await loadPart('re-encryption of apps', load)
        return reencryptTotp(on(surface))
      }),
    ]),
    async terminateAllSessions(asked = {}) {
      const load = () => import('./setup/terminate-all-sessions.js')
      const { terminateSessionsOn } = await loadPart('the end of all sessions', load)
      return terminateSessionsOn(on, clock, asked)
    },
    async migrate() {
      await options.backend.store.prepare(allCollectionSpecs(prefix))
      await requirePrepared(defaults.backend)
      await shared.config.register()
      // What is wrong with them is logged now, and the first request need not wait for them.
      await shared.settings()
      // A process that only migrates ends here: its audit records must not be lost with it.
      await background.drain()
    },
    async diagnose(asked = {}) {
      const load = () => import('./diagnosis/diagnose.js')
      const { diagnose } = await loadPart('the diagnosis', load)
      return diagnose({ options, defaults, shared }, asked)
    },
    close() {
      shared.keys.close()
      const work = [background.drain(), sweeper.close(), shared.config.roll.close()]
      if (webhookRetries !== null) work.push(webhookRetries.close())
      return closeInTime(work, { clock, logger })
    },
  }
}

/** Most hosts leave these options out, and load none of the words. */
async function warningsOf(surfaces: AuthOptions['surfaces']): Promise<readonly string[]> {
  const { operator, client } = surfaces
  const isSet = [operator, client].some(
    ({ cookieDomain, cookiePath, routesUrl, webauthn, rateLimits }) =>
      cookieDomain ?? cookiePath ?? routesUrl ?? webauthn ?? rateLimits,
  )
  if (!isSet) return []
  const load = () => import('./setup/surface-warnings.js')
  return (await loadPart('warnings', load)).surfaceWarnings(surfaces)
}
