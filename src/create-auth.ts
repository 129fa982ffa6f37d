import { lazily } from './concurrency/promises.js'
import { resumeDeletions } from './domain/accounts/account-deletions.js'
import { createConfigApi } from './domain/configuration/config-api.js'
import { startWebhookRetries } from './domain/events/webhooks.js'
import { resumeEnrollmentNotices } from './domain/factors/factor-enrollment.js'
import { reencryptTotp } from './domain/factors/totp-factors.js'
import { createServiceAccountAdministration } from './domain/service-accounts/service-accounts.js'
import type { SurfaceContext } from './domain/surface/surface-context.js'
import { AuthError, loadPart, OptionsError } from './errors/index.js'
import { bothRouter } from './http/surface-router.js'
import { allCollectionSpecs } from './model/collections.js'
import type { AuthOptions, GivenOptions } from './options.js'
import type { Surface } from './ports/surface.js'
import type { Auth, AuthOf } from './setup/auth.js'
import { checkOptions, withConfigKeys } from './setup/check-options.js'
import {
  closeInTime,
  requirePrepared,
  startSweeping,
  terminateSessionsOn,
} from './setup/lifecycle.js'
import { type BuiltSurface, buildSurface, mountSurface } from './setup/mount-surface.js'
import { createShared } from './setup/shared-parts.js'
import { givenSurfaces, metadataOf, surfacesOfRequest } from './setup/surfaces.js'
import { providersOf } from './telemetry/open-telemetry.js'

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
export async function createAuth<S extends Surface>(options: AuthOptions<S>): Promise<AuthOf<S>>
// The overload says which surfaces there are. Without types, one that is absent throws as it is asked for.
export async function createAuth(given: GivenOptions): Promise<Auth> {
  checkOptions(given)
  const options = { ...(await withConfigKeys(given)), ...(await providersOf(given)) }
  const shared = await createShared(options, process.env, (type, source, facts) =>
    contexts[0]?.emit(type, source, facts),
  )
  const { background, clock, logger } = shared
  const surfaces = givenSurfaces(options.surfaces).map((own) =>
    buildSurface(own, options, shared, (surface) => on(surface)),
  )
  const contexts = surfaces.map(({ ctx }) => ctx)
  const on = (surface: Surface): SurfaceContext => {
    const found = contexts.find((ctx) => ctx.surface === surface)
    if (found !== undefined) return found
    // The only callers name an account of the other surface.
    throw new AuthError('user_not_found')
  }
  const built = (surface: Surface): BuiltSurface => {
    const found = surfaces.find(({ ctx }) => ctx.surface === surface)
    if (found !== undefined) return found
    throw new OptionsError(`surfaces.${surface}`, `is not given: add it to use auth.${surface}`)
  }

  const surfacesOf = surfacesOfRequest(options.surfaces)
  const mounted = {
    operator: lazily(() => ({
      ...mountSurface('operator', built('operator'), surfacesOf, shared),
      serviceAccounts: createServiceAccountAdministration(on('operator')),
    })),
    client: lazily(() => mountSurface('client', built('client'), surfacesOf, shared)),
  }
  const routes = surfaces.map((surface) => surface.routes)
  const { defaultSurface = 'operator' } = options

  const sweeper = startSweeping(options, {
    ...shared,
    resumeDeletions: (surface) => resumeDeletions(on(surface)),
    resumeNotices: (surface) => resumeEnrollmentNotices(on(surface)),
  })
  shared.keys.watch()
  const webhooks = surfaces.map((surface) => surface.webhooks)
  const webhookRetries =
    options.sweep === false ? null : startWebhookRetries({ webhooks, clock, logger })
  return {
    get operator() {
      return mounted.operator()
    },
    get client() {
      return mounted.client()
    },
    both: bothRouter(routes, { ...shared, surfacesOf, defaultSurface }),
    metadata: metadataOf(options, shared.issuer, logger),
    keys: { reload: () => shared.keys.reload() },
    config: createConfigApi(
      shared.config,
      contexts.map((ctx) => () => reencryptTotp(ctx)),
    ),
    terminateAllSessions: async (asked = {}) => terminateSessionsOn(contexts, clock, asked),
    async migrate() {
      await options.backend.store.prepare(allCollectionSpecs(shared.prefix, shared.surfaces))
      await requirePrepared(shared.backend)
      await shared.config.register()
      // What is wrong with them is logged now, and the first request need not wait for them.
      await shared.settings()
      // A process that only migrates ends here: its audit records must not be lost with it.
      await background.drain()
    },
    async diagnose(asked = {}) {
      // A process that serves requests has no use for it.
      const load = () => import('./diagnosis/diagnose.js')
      const { diagnose } = await loadPart('the diagnosis', load)
      return diagnose({ options, shared }, asked)
    },
    close() {
      shared.keys.close()
      const work = [background.drain(), sweeper.close(), shared.config.roll.close()]
      if (webhookRetries !== null) work.push(webhookRetries.close())
      return closeInTime(work, { clock, logger })
    },
  }
}
