import { createHash } from 'node:crypto'
import { generateSync } from 'otplib'
import type { Auth, ExchangeReply, Surface } from '../../src/index.js'
import type { OpenApiDocument } from '../../src/openapi/types.js'
import type { FakeClock } from '../../src/testing/index.js'
import type { Library } from '../../test/lockstep/rigs.js'
import { stubHasher } from '../../test/simulation/stub-hasher.js'
import { smallSigningKey } from '../../test/support/keys.js'
import {
  allEnabled,
  appleKeys,
  registeredSettings,
} from '../../test/support/outside/provider-stub/credentials.js'
import type { EventGroup } from '../events.js'

const surfaces = ['operator', 'client'] as const
const origins = {
  operator: 'https://admin.example.com',
  client: 'https://app.example.com',
} as const
const targets = surfaces.map((surface) => ({
  ...{ slug: surface, uri: `${origins[surface]}/in`, surface, flow: 'web' as const },
}))

interface Host {
  readonly auth: Auth
  readonly clock: FakeClock
}

/** A host that sets what it has to, and the settings of the four providers. */
async function defaultHost(library: Library): Promise<Host> {
  const clock = library.fakeClock(Date.UTC(2026, 0, 1))
  const { privatePem } = await appleKeys()
  const auth = await library.createAuth({
    ...{ backend: library.memory(), clock, env: {}, sweep: false },
    keys: { current: smallSigningKey() },
    configKeys: [{ id: 'first', key: Buffer.alloc(32, 'default host').toString('base64') }],
    surfaces: {
      operator: { baseUrl: origins.operator },
      client: { baseUrl: origins.client },
    },
    mailer: { send: async () => {} },
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    hash: { implementation: stubHasher(), allowWeakHashesForTests: true },
    settings: { ...registeredSettings(privatePem), ...allEnabled, oauthRedirectTargets: targets },
  })
  await auth.migrate()
  return { auth, clock }
}

interface Sent {
  readonly query?: object
  readonly body?: object
  readonly bearer?: string
}

type Ask = (method: string, path: string, sent?: Sent) => Promise<ExchangeReply>

const asking =
  ({ auth }: Host, surface: Surface): Ask =>
  async (method, path, { query = {}, body, bearer } = {}) => {
    const headers: Readonly<Record<string, string>> = {
      host: new URL(origins[surface]).host,
      ...(body && { 'content-type': 'application/json' }),
      ...(bearer && { authorization: `Bearer ${bearer}` }),
    }
    const bytes = Buffer.from(JSON.stringify(body ?? null))
    const reply = await auth.both.handle({
      ...{ method, path: `/v1/auth/${surface}${path}`, remoteAddress: '192.0.2.1' },
      query: new URLSearchParams({ ...query }).toString(),
      header: (name) => headers[name],
      body: async () => (body ? { kind: 'bytes', bytes } : { kind: 'empty' }),
    })
    if (reply === null || reply.status >= 400) throw new Error(`${path}: ${reply?.body}`)
    return reply
  }

const bodyOf = ({ body }: ExchangeReply) => JSON.parse(body ?? '{}')

/** The replies that set cookies. */
async function repliesOn(host: Host, surface: Surface): Promise<readonly ExchangeReply[]> {
  const ask = asking(host, surface)
  const [email, password] = [`ada@${surface}.example.com`, 'correct horse battery staple']
  await host.auth[surface].users.create({ email, password, emailVerified: true })
  const starts = ['google', 'microsoft', 'apple', 'github'].map((provider) =>
    ask('GET', `/oauth/${provider}/start`, { query: { redirectUri: `${origins[surface]}/in` } }),
  )
  const login = await ask('POST', '/login', { body: { email, password } })
  const replies = [login, ...(await Promise.all(starts))]
  // Operators neither register nor trust devices by default.
  if (surface === 'operator') return replies
  const bearer: string = bodyOf(login).accessToken
  const newcomer = { email: 'grace@client.example.com', password }
  const begun = await ask('POST', '/mfa/totp', { bearer, body: { currentPassword: password } })
  const epoch = Math.floor(host.clock.now() / 1000)
  const code = generateSync({ secret: bodyOf(begun).secret, epoch })
  const confirmed = await ask('POST', '/mfa/totp/confirm', { bearer, body: { code } })
  const [paper] = bodyOf(confirmed).backupCodes
  await ask('POST', '/step-up', { bearer, body: { method: 'backupCode', code: paper } })
  const registered = await ask('POST', '/register', { body: newcomer })
  return [...replies, registered, await ask('POST', '/devices', { bearer, body: {} })]
}

/** Name and attributes, without the value and the name of a flow. */
function cookieLine(cookie: string): string {
  const [name = '', ...attributes] = cookie.split('; ')
  const shown = name.replace(/=.*/, '').replace(/(_oauth(?:_form)?)_.*/, '$1_…')
  return `cookie ${[shown, ...attributes].join('; ')}`
}

const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)

/** What they say is in `test/openapi/contract.txt`, a line for each member. */
function documentLines({ paths, components, ...rest }: OpenApiDocument): readonly string[] {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(
      ([method, one]) =>
        `operation ${one.operationId}: ${method.toUpperCase()} ${path} ${digest(one)}`,
    ),
  )
  const parts = Object.entries(components).flatMap(([kind, named]) =>
    Object.entries(named).map(([name, one]) => `openapi ${kind} ${name}: ${digest(one)}`),
  )
  return [...operations, ...parts, `openapi document: ${digest(rest)}`]
}

const said = (members: object): string =>
  Object.entries(members)
    .map(([name, value]) => `${name} ${JSON.stringify(value)}`)
    .join(', ')

/** What a host that sets none of the newer options shows to the outside, a line for each fact, sorted. */
export async function defaultHostFacts(
  library: Library,
  events: readonly EventGroup[],
): Promise<readonly string[]> {
  const host = await defaultHost(library)
  const replies = await Promise.all(surfaces.map((surface) => repliesOn(host, surface)))
  const ask = asking(host, 'client')
  const { providers } = bodyOf(await ask('GET', '/oauth/providers'))
  const { fields } = await host.auth.config.describe('auth')
  const { read, manage } = library.MODULE_CONFIG_PERMISSIONS
  const lines = [
    ...documentLines(library.openApiDocument()),
    ...fields.map(({ key, ...declared }) => `setting ${key}: ${said(declared)}`),
    ...providers.map(
      (one: { readonly id: string; readonly name: string }) => `provider ${one.id}: ${one.name}`,
    ),
    ...library.PERMISSIONS.map(({ key, ...declared }) => `permission ${key}: ${said(declared)}`),
    ...[`permission ${read}: module configuration`, `permission ${manage}: module configuration`],
    ...replies.flat().flatMap(({ cookies }) => cookies.map(cookieLine)),
    ...Object.entries(library.errorCatalogue).map(
      ([code, { status, detail }]) => `code ${code}: ${status} ${detail}`,
    ),
    ...events.flatMap((group) =>
      group.events.map(({ type, members }) => {
        const named = members.map((one) => `${one.name} ${one.values.join(' | ') || one.type}`)
        return `event ${type}: ${named.join('; ')}`
      }),
    ),
  ]
  await host.auth.close()
  return [...new Set(lines)].map((line) => line.replace(/\s+/g, ' ')).sort()
}

const mark = / # ruling \d+$/

/** The facts that a golden text has: without the rulings, and without what is gone. */
export const currentFacts = (golden: readonly string[]): readonly string[] =>
  golden
    .filter((line) => !line.startsWith('gone '))
    .map((line) => line.replace(mark, ''))
    .sort()

/** The facts from before any ruling. */
export const firstFacts = (golden: readonly string[]): readonly string[] =>
  golden
    .filter((line) => !mark.test(line) || line.startsWith('gone '))
    .map((line) => line.replace(/^gone /, '').replace(mark, ''))
    .sort()

/**
 * The golden text for these facts: what is new, and what is gone, names the ruling that allows it. Throws where something
 * changed and no ruling is given.
 */
export function renewed(
  golden: readonly string[],
  facts: readonly string[],
  ruling: string | null,
): readonly string[] {
  const first = firstFacts(golden)
  const now = new Set(facts)
  const known = currentFacts(golden)
  const changed = [
    ...facts.filter((fact) => !known.includes(fact)),
    ...known.filter((fact) => !now.has(fact)),
  ]
  if (changed.length > 0 && ruling === null) {
    throw new Error(
      `These change a default host; name the ruling that allows it:\n${changed.join('\n')}`,
    )
  }
  const asBefore = (begin: string): string | undefined =>
    golden.find((line) => line.startsWith(`${begin} # ruling `))
  const named = (fact: string): string => asBefore(fact) ?? `${fact} # ruling ${ruling}`
  return [
    ...first.map((fact) => (now.has(fact) ? fact : named(`gone ${fact}`))),
    ...facts.filter((fact) => !first.includes(fact)).map(named),
  ].sort()
}
