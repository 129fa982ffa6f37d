import { globSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type {
  Auth,
  AuthOptions,
  Backend,
  Mail,
  OutboundReply,
  OutboundRequest,
  Store,
} from '../../src/index.js'
import type { FakeClock } from '../../src/testing/index.js'
import { stubHasher } from '../simulation/stub-hasher.js'
import { withoutLimits } from '../support/hosts/without-limits.js'
import {
  allEnabled,
  appleKeys,
  registeredSettings,
} from '../support/outside/provider-stub/credentials.js'
import { type ProviderStub, providerStub } from '../support/outside/provider-stub/provider-stub.js'
import { markedRandom } from './random-names.js'

/** The public entries of a build, from its own checkout. */
export type Library = Awaited<ReturnType<typeof loadLibrary>>

/** What is read before the first request: else it comes from the disk in the middle of one, in its own time. */
const loadedAhead = 'src/{[!c]*,c[!l]*}/**/*.ts'

export async function loadLibrary(root: string) {
  const load = (path: string) => import(pathToFileURL(`${root}/${path}`).href)
  const index: typeof import('../../src/index.js') = await load('src/index.ts')
  const config: typeof import('../../src/config/index.js') = await load('src/config/index.ts')
  const openapi: typeof import('../../src/openapi/index.js') = await load('src/openapi/index.ts')
  const testing: typeof import('../../src/testing/index.js') = await load('src/testing/index.ts')
  const store: typeof import('../../adapters/memory/index.js') = await load(
    'adapters/memory/index.ts',
  )
  for (const path of globSync(loadedAhead, { cwd: root }).toSorted()) await load(path)
  return { ...index, ...config, ...openapi, ...testing, ...store }
}

/** What a build says beside its replies, since it was last taken. */
export interface Told {
  readonly events: unknown[]
  readonly audit: unknown[]
  readonly mails: Mail[]
  readonly log: unknown[]
  readonly sent: unknown[]
}

export interface Rig {
  readonly name: RigName
  readonly auth: Auth
  readonly clock: FakeClock
  readonly stub: ProviderStub
  readonly told: Told
}

export const origins = {
  operator: 'https://admin.example.com',
  client: 'https://app.example.com',
} as const
export const pages = {
  operator: `${origins.operator}/signed-in?from=oauth`,
  client: `${origins.client}/signed-in`,
} as const
export const apps = {
  operator: 'com.example.admin:/signed-in',
  client: 'com.example.app:/signed-in',
} as const
const both = ['operator', 'client'] as const

const redirectTargets = both.flatMap((surface) => [
  { slug: `${surface}-web`, uri: pages[surface], surface, flow: 'web' as const },
  {
    ...{ slug: `${surface}-app`, uri: apps[surface], surface, flow: 'mobile' as const },
    appId: 'org.example',
  },
])

/** Everything that can be switched on, and nothing that slows callers down. */
function open(applePrivateKey: string): Partial<AuthOptions> {
  return {
    surfaces: withoutLimits.surfaces,
    // People may do everything, and machines may look.
    authorizer: {
      check: async ({ kind, permission }) => kind === '' || permission.endsWith('read'),
    },
    settings: {
      ...{ ...registeredSettings(applePrivateKey), ...allEnabled },
      ...{ ...withoutLimits.settings, oauthRedirectTargets: redirectTargets },
      ...{ registrationOperatorEnabled: true, accountDeletionMode: 'both' },
      ...{ trustedDeviceOperatorEnabled: true, webauthnMode: 'passwordless' },
      securityWebhooks: [
        {
          ...{ slug: 'siem', url: 'https://siem.example.com/in', events: 'all' as const },
          signingSecret: 'a planted secret of 32 characters',
        },
      ],
    },
  }
}

/** Everything that asks for more, with limits, roles and a cookie for the whole domain. */
function strict(library: Library, applePrivateKey: string): Partial<AuthOptions> {
  const cookieDomain = 'example.com'
  return {
    surfaces: {
      operator: { baseUrl: origins.operator, allowedOrigins: ['https://www.example.com'] },
      client: { baseUrl: origins.client, cookieDomain },
    },
    authorizer: library.roleAuthorizer(),
    sessionRiskScorer: {
      assess: async ({ userAgent }) => ({
        outcome: userAgent === 'Elsewhere/1' ? 'end' : 'stepUp',
      }),
    },
    ...{ adminStepUp: true, deviceRecognition: false, tokenMemory: 0, sweep: false, trustProxy: 1 },
    settings: {
      ...{ ...registeredSettings(applePrivateKey), googleClientEnabled: true },
      ...{ oauthRedirectTargets: redirectTargets, registrationTermsVersion: '2' },
      ...{ mfaPolicyOperator: 'required', emailVerificationRequired: false },
      ...{ refreshReuseGrace: '0s', maxConcurrentSessions: 2, sessionAbsoluteTTL: '12h' },
      ...{ passwordMaxAge: '2d', passwordBreachCheck: 'failOpen', cookieSameSite: 'strict' },
      ...{ lockoutThreshold: 3, mfaMaxAttempts: 3, webauthnUserVerification: 'preferred' },
      ...{ revokeSessionsOnPasswordChange: false, registrationOperatorEnabled: true },
      trustedDeviceOperatorEnabled: true,
    },
  }
}

export const rigNames = ['default', 'open', 'strict', 'open'] as const
export type RigName = (typeof rigNames)[number]

/** A build on a store, a clock and a stream of randomness of its own. */
export async function startRig(
  library: Library,
  name: RigName,
  { seed, signingKey }: { readonly seed: string; readonly signingKey: string },
): Promise<Rig> {
  const clock = library.fakeClock(Date.UTC(2026, 0, 1))
  const told: Told = { events: [], audit: [], mails: [], log: [], sent: [] }
  const { privatePem, publicKey } = await appleKeys()
  const stub = await providerStub(() => clock.now(), publicKey)
  const shop = library.defineModule({
    name: 'shop',
    environments: ['production', 'sandbox'],
    fields: [
      { key: 'sender', label: 'Sender', type: 'FieldString', group: 'Shop' },
      { key: 'apiKey', label: 'API key', type: 'FieldString', group: 'Shop', secret: true },
      {
        ...{ key: 'hooks', label: 'Hooks', type: 'FieldRecordList', group: 'Shop' },
        items: [{ key: 'url', label: 'URL', type: 'FieldString' }],
      },
    ],
  })
  const logged =
    (level: string) =>
    (message: string, { at: _, ...fields }: Readonly<Record<string, unknown>> = {}): void =>
      void told.log.push({ level, message, ...fields })
  const own = { default: {}, open: open(privatePem), strict: strict(library, privatePem) }[name]
  const auth = await library.createAuth({
    surfaces: {
      operator: { baseUrl: origins.operator },
      client: { baseUrl: origins.client },
    },
    ...{ backend: listening(library.memory(), told), clock, random: markedRandom(seed) },
    ...{ keys: { current: signingKey }, modules: [shop], env: {} },
    configKeys: [{ id: 'first', key: Buffer.alloc(32, 'lockstep').toString('base64') }],
    mailer: { send: async (mail) => void told.mails.push(mail) },
    fetcher: { fetch: (request) => reached(request, stub, told) },
    hash: { implementation: stubHasher(), allowWeakHashesForTests: true },
    logger: { debug() {}, info() {}, warn: logged('warn'), error: logged('error') },
    onEvent: (event) => told.events.push(event),
    ...own,
  })
  await auth.migrate()
  return { name, auth, clock, stub, told }
}

/** Audit records as they are stored; the collections beside them may change their form. */
function listening(backend: Backend, { audit }: Told): Backend {
  const collection: Store['collection'] = (spec) => {
    const inner = backend.store.collection(spec)
    if (!spec.name.endsWith('_audit_records')) return inner
    return {
      ...inner,
      insert(record) {
        audit.push({ collection: spec.name, ...record })
        return inner.insert(record)
      },
    }
  }
  return { ...backend, store: { ...backend.store, collection } }
}

/** Providers, a list of breached passwords, and a webhook that fails now and then. */
async function reached(
  request: OutboundRequest,
  stub: ProviderStub,
  { sent }: Told,
): Promise<OutboundReply> {
  const { url, method, headers, body = '' } = request
  const isWebhook = url.startsWith('https://siem.')
  // What a provider is sent holds codes of the stand-in, which has randomness of its own.
  const said = isWebhook ? JSON.parse(body) : [...new URLSearchParams(body).keys()]
  // The hash of a password that may be random.
  const place = url.replace(/[0-9A-F]{5}$/, '…')
  sent.push({ url: place, method, headers: Object.keys(headers).sort(), body: said })
  if (isWebhook) return { status: sent.length % 5 === 4 ? 500 : 204, body: '' }
  if (url.startsWith('https://api.pwnedpasswords.com/')) return { status: 200, body: '' }
  return stub.fetch(request)
}
