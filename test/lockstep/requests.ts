import { createHash } from 'node:crypto'
import { decodeJwt } from 'jose'
import type { Surface } from '../../src/index.js'
import type { OpenApiDocument, OpenApiOperation } from '../../src/openapi/types.js'
import { softwareAuthenticator } from '../support/people/passkey-authenticator.js'
import {
  type Agent,
  codeNow,
  fresh,
  liveToken,
  type Machine,
  newest,
  oneOf,
  type Person,
  type World,
} from './cast.js'
import { apps, origins, pages } from './rigs.js'

/** A member of a body, of a query or of a path. */
interface Member {
  readonly name: string
  readonly isNeeded: boolean
  /** The one text that it may be; null of others. */
  readonly only: string | null
}

export interface Operation {
  /** As in the document, and without the surface. */
  readonly id: string
  readonly of: string
  readonly method: string
  readonly path: string
  /** Null where any agent may ask. */
  readonly surface: Surface | null
  readonly bearer: 'needed' | 'possible' | 'none'
  readonly isForm: boolean
  readonly params: readonly Member[]
  readonly query: readonly Member[]
  /** The forms that the body may have; none without one. */
  readonly bodies: readonly (readonly Member[])[]
}

/** What a request takes along. */
export interface Drawing {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: object | null
  readonly authorization?: string
}

/** How often an operation is drawn. What comes of something that has begun is looked for before that expires. */
const weights = [
  {
    of: /completeLogin|confirmTotp|finish|callback|exchangeMobile|resetPassword/i,
    weight: 25,
  },
  { of: /stepUp|verifyEmail|createServiceAccount/i, weight: 14 },
  { of: /serviceAccount|serviceCred|reset|unlink|trust|remove|backup|delete/i, weight: 9 },
  { of: /service|module|environment|user|link/i, weight: 5 },
  { of: /login|refresh|register|totp|passkey|startOauth/i, weight: 4 },
]

type Schema = Readonly<Record<string, unknown>>

function membersIn(schema: Schema): readonly Member[] {
  const { properties = {}, required = [] } = schema
  return Object.entries(Object(properties)).map(([name, own]) => {
    const { const: only = null }: { readonly const?: string | null } = Object(own)
    return { name, isNeeded: Object(required).includes(name), only }
  })
}

function bodiesOf({ requestBody }: OpenApiOperation, { components }: OpenApiDocument) {
  return Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => {
    const named = String(schema['$ref']).split('/').at(-1) ?? ''
    const own: Schema = components.schemas[named] ?? schema
    const { oneOf: forms = [own] } = own
    return Array.from(Object(forms), (form: Schema) => membersIn(form))
  })
}

const withoutSurface = ['refreshCookie', 'getSession', 'refresh']

function operationOf(
  document: OpenApiDocument,
  [path, method, described]: readonly [string, string, OpenApiOperation],
): Operation {
  const { operationId: id, security, parameters = [], requestBody } = described
  const [, prefix, rest = ''] = /^(operator|client)([A-Z]\w+)$/.exec(id) ?? []
  const surface = prefix === 'client' ? 'client' : 'operator'
  const ways = security.map((way) => JSON.stringify(way).includes('Bearer'))
  const bearer = ways.includes(false) ? 'possible' : 'needed'
  const membersOf = (where: string): readonly Member[] =>
    parameters
      .filter((one) => one.in === where)
      .map(({ name, required }) => ({ name, isNeeded: required === true, only: null }))
  return {
    ...{ id, path, method: method.toUpperCase() },
    of: prefix === undefined ? id : rest.charAt(0).toLowerCase() + rest.slice(1),
    surface: withoutSurface.includes(id) ? null : surface,
    bearer: ways.includes(true) ? bearer : 'none',
    isForm: 'application/x-www-form-urlencoded' in (requestBody?.content ?? {}),
    params: membersOf('path'),
    query: membersOf('query'),
    bodies: bodiesOf(described, document),
  }
}

/** The operations that a build describes, each as often as it is drawn. */
export function operationsOf(document: OpenApiDocument): readonly Operation[] {
  const all = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, own]) => operationOf(document, [path, method, own])),
  )
  return all.flatMap((one) => {
    const { weight = 1 } = weights.find(({ of }) => of.test(one.of)) ?? {}
    return Array.from({ length: weight }, () => one)
  })
}

/** Somebody at an operation, with what has to be the same throughout a request. */
interface At extends Agent {
  readonly world: World
  readonly agent: Agent
  readonly of: string
  /** Whom and what an administrator acts on. */
  readonly user: Person
  readonly machine: Machine | undefined
  readonly module: string
  readonly env: string
  /** Whether the second factor is a code on paper. */
  readonly isPaper: boolean
}

const verifier = 'an-app-keeps-this-verifier-to-itself-0123456789'
const providers = ['google', 'google', 'microsoft', 'apple', 'github'] as const

const isIn = ({ world, agent }: At): boolean => liveToken(world, agent) !== null
const isOut = (at: At): boolean => !isIn(at) || at.world.draw.chance(0.3)
/** Of an app, what a reply called by this name. */
const inApp =
  (name: string) =>
  ({ isApp, agent }: At): string | undefined =>
    isApp ? (newest(agent, name) ?? undefined) : undefined
const hasFactor = ({ person }: At): boolean => person.secret !== '' || person.passkeys.length > 0
/** The ticket of a login that waits for this. */
const ticket = ({ agent }: At, status: string): string | undefined =>
  newest(agent, 'status') === status ? (newest(agent, 'mfaToken') ?? undefined) : undefined
const enrolls = /enrollTotp|confirmTotp|PasskeyRegistration/
const enrollment = (at: At): string | undefined =>
  isIn(at) ? undefined : ticket(at, 'mfaEnrollmentRequired')
const orNone = <T>(value: T | null | undefined, isThere: boolean): T | undefined =>
  isThere ? (value ?? undefined) : undefined

/** A link for this, mailed to the person, or to another address of theirs. */
function linkTo({ world: { links }, person, of }: At): string | undefined {
  const isReset = of === 'resetPassword'
  const open = links.filter(
    ({ template, surface }) =>
      (template === 'resetPassword') === isReset && surface === person.surface,
  )
  return (open.findLast(({ to }) => to === person.email) ?? (isReset ? undefined : open.at(-1)))
    ?.token
}

/** What the ceremony that began for this operation is answered with. */
function response({ world, agent, person, of, ceremony }: At): unknown {
  const kind = of.replace('finish', '').replace('verify', 'Passkey')
  if (ceremony?.of.endsWith(`Start${kind}`) !== true) return undefined
  const options = JSON.parse(JSON.stringify(ceremony.options))
  if (kind === 'PasskeyRegistration') {
    agent.person.newPasskey = softwareAuthenticator({ origin: origins[person.surface] })
    // Of its own, it would draw one at random.
    const credentialId = createHash('sha256').update(fresh(world, 'id')).digest('base64url')
    return agent.person.newPasskey.create(options, { credentialId })
  }
  for (const one of person.passkeys) {
    try {
      return one.get(options)
    } catch {
      // It was removed.
    }
  }
  return undefined
}

function code({ world, agent, person, isApp, isPaper, of }: At): string | undefined {
  const { secret, newSecret, codes } = person
  if (of === 'exchangeMobileOauth') return orNone(newest(agent, 'code'), isApp)
  if (of === 'confirmTotp') return orNone(newSecret && codeNow(world, newSecret), newSecret !== '')
  return isPaper ? codes[0] : orNone(secret && codeNow(world, secret), secret !== '')
}

/** Of settings; an empty text is the default again. */
const settings = {
  ...{ accessTokenTTL: '5m', refreshReuseGrace: '0s', sessionAbsoluteTTL: '1h' },
  ...{ mfaPolicyClient: 'required', mfaPolicyOperator: 'off', maxConcurrentSessions: '1' },
  ...{ lockoutThreshold: '3', passwordMinLength: '500', notASetting: '1', totpEnabled: 'false' },
  ...{ registrationClientEnabled: 'false', passwordLoginClientEnabled: 'false' },
}

function config({ world, module }: At): object {
  const { draw } = world
  const [key, text] = oneOf(world, Object.entries(settings))
  if (module === 'auth') return { [key]: draw.chance(0.3) ? text : '' }
  const slug = draw.pick(['north', 'south'])
  return draw.pick<object>([
    { sender: `sender ${draw.below(9)}` },
    { apiKey: `key ${draw.below(9)}` },
    { [`hooks.${slug}.url`]: `https://example.org/${draw.below(9)}` },
  ])
}

function recordLists({ world: { draw }, module }: At): object | undefined {
  const [slug, isNew] = [draw.pick(['north', 'south']), draw.chance(0.5)]
  if (module === 'auth' || draw.chance(0.5)) return undefined
  return [{ field: 'hooks', create: isNew ? [slug] : [], remove: isNew ? [] : [slug] }]
}

type ValueOf = (at: At) => unknown

/** What a member is, by its name; undefined where there is nothing to give. */
const values: Readonly<Record<string, ValueOf>> = {
  email: ({ person }) => person.email,
  newEmail: ({ world }) => fresh(world, 'moved@example.org'),
  password: ({ person }) => person.passwords[0],
  currentPassword(at) {
    const isAlone = !hasFactor(at) && newest(at.agent, 'mfaToken') === null
    return orNone(at.person.passwords[0], isAlone || at.of === 'changePassword')
  },
  newPassword: ({ world, person, of }) =>
    of === 'verifyEmail' ? person.passwords[0] : fresh(world, 'a wholly different phrase'),
  name: ({ world }) => world.draw.pick(['Grace', 'Ada', 'Zoë']),
  acceptedTermsVersion: () => '2',
  token: (at) => (at.of === 'resetPassword' && newest(at.agent, 'passwordToken')) || linkTo(at),
  registrationKey: inApp('registrationKey'),
  recognitionId: inApp('recognitionId'),
  refreshToken: inApp('refreshToken'),
  deviceToken: inApp('deviceToken'),
  codeVerifier: () => verifier,
  codeChallenge: () => createHash('sha256').update(verifier).digest('base64url'),
  appState: () => 'the state of the app',
  redirectUri: ({ person, isApp }) => (isApp ? apps : pages)[person.surface],
  mfaToken: (at) => (enrolls.test(at.of) ? enrollment(at) : ticket(at, 'mfaRequired')),
  method: ({ person, isPaper }) =>
    orNone(isPaper ? 'backupCode' : 'totp', isPaper || person.secret !== ''),
  code,
  challengeId: ({ ceremony }) => ceremony?.challengeId,
  response,
  everywhere: ({ world }) => world.draw.chance(0.2),
  endOtherSessions: ({ world }) => world.draw.chance(0.5),
  trustDevice: (at) => orNone(true, ticket(at, 'mfaRequired') !== undefined),
  deviceName: () => 'the laptop',
  surface: ({ user }) => user.surface,
  grantType: () => 'client_credentials',
  grant_type: () => 'client_credentials',
  clientId: ({ machine }) => machine?.clientId,
  clientSecret: ({ machine }) => machine?.clientSecret,
  client_id: ({ machine }) => machine?.clientId,
  client_secret: ({ machine }) => machine?.clientSecret,
  enabled: ({ world }) => world.draw.chance(0.8),
  config,
  recordLists,
  revision: ({ world, module, env }) => world.revisions.get(`${module}/${env}`),
  environment: ({ env }) => env,
  limit: () => '2',
}

/** The same of the path, where some names mean something else. */
const params: Readonly<Record<string, ValueOf>> = {
  provider({ world, agent, of, user }) {
    const whose =
      of === 'unlinkUserOauth' ? world.agents.find(({ person }) => person === user) : agent
    // One that the account was said to be linked to, or any.
    const linked = whose === undefined ? null : newest(whose, 'provider')
    return orNone(linked, world.draw.chance(0.8)) ?? world.draw.pick(providers)
  },
  userId: ({ user }) => user.id || 'nobody',
  id: ({ machine }) => machine?.id,
  credentialId: ({ agent, machine, of }) =>
    of === 'deletePasskey' ? newest(agent, 'credentialId') : machine?.credentialId,
  deviceId: ({ agent }) => newest(agent, 'deviceId'),
  name: ({ module }) => module,
  env: ({ env }) => env,
  sessionId({ world, person }) {
    const tokens = world.agents.map((one) =>
      one.person === person ? newest(one, 'accessToken') : null,
    )
    const token = tokens.find((one) => one !== null)
    return token && decodeJwt(token)['sid']
  },
}

const hasCookie = ({ jar }: At, name: string): boolean =>
  [...jar.keys()].some((one) => one.endsWith(`_${name}`))
const wasProved = ({ world: { clock, draw }, provedAt, of }: At): boolean =>
  clock.now() - provedAt < (of.includes('Service') ? 300_000 : 900_000) || draw.chance(0.004)

/** When somebody would ask, beside having what the request needs. */
const conditions: readonly (readonly [of: RegExp, holds: (at: At) => boolean])[] = [
  [/^(login|startOauth|startOauthLink)$/, ({ isApp }) => !isApp],
  [/^(mobileLogin|startMobileOauth)$/, ({ isApp }) => isApp],
  [/^(login|mobileLogin|startPasskeyLogin)$/, isOut],
  [/^register$/, ({ world, person }) => person.id === '' || world.draw.chance(0.1)],
  [/^(refreshCookie|getSession)$/, (at) => hasCookie(at, 'refresh')],
  [/^logout$/, isIn],
  [/^verifyStepUp$/, ({ world, provedAt }) => world.clock.now() - provedAt > 60_000],
  [/^deleteMe$/, ({ world }) => world.draw.chance(0.1)],
  [/^enrollTotp$/, ({ person }) => person.secret === ''],
  [enrolls, (at) => isIn(at) || enrollment(at) !== undefined],
  [/^startPasskey(Login|StepUp)$/, ({ person }) => person.passkeys.length > 0],
  [/^(removeTotp|regenerateBackupCodes|deletePasskey|trustDevice|resetUserMfa)$/, wasProved],
  [/^unlinkOauth$/, (at) => newest(at.agent, 'provider') !== null || at.world.draw.chance(0.1)],
  [/^unlinkOauth$/, (at) => !hasFactor(at) || wasProved(at)],
  [/^(create|update|issue|revoke)Service(Account|Credential)$/, wasProved],
]

/** Values for all members that need one, and for most of the others; null where one is missing. */
function filled(at: At, members: readonly Member[], by = values): Record<string, unknown> | null {
  const given: Record<string, unknown> = {}
  for (const { name, isNeeded, only } of members) {
    const value = only ?? by[name]?.(at) ?? undefined
    if (value === undefined && isNeeded) return null
    const isLeftOut = !isNeeded && at.world.draw.chance(0.15)
    if (value !== undefined && !isLeftOut) given[name] = value
  }
  return given
}

/** The way back from a provider, by form or by query; null where the agent went to none. */
function callback(
  { world: { draw, stub }, agent, person, flow }: At,
  isForm: boolean,
): Drawing | null {
  const [, provider = ''] = /oauth%2F(\w+)%2Fcallback/.exec(flow ?? '') ?? []
  if (flow === null || (provider === 'apple') !== isForm) return null
  agent.flow = null
  const email = draw.chance(0.7) ? person.email : `${person.subject}@example.net`
  const workspace = draw.chance(0.7) ? { hostedDomain: 'example.org' } : {}
  const account = { subject: person.subject, email, verified: draw.chance(0.9), name: 'Ada L' }
  const brought = stub.agree(flow, { ...account, ...workspace })
  return {
    params: { provider },
    ...(isForm ? { query: {}, body: brought } : { query: brought, body: null }),
  }
}

const textsOf = (members: object): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, String(value)]))

/** Null where the agent cannot ask for this operation, or would not now. */
export function drawing(world: World, agent: Agent, operation: Operation): Drawing | null {
  const { of, isForm, bodies, query } = operation
  const { draw, machines } = world
  const at: At = {
    ...{
      ...agent,
      world,
      agent,
      of,
      user: oneOf(world, draw.chance(0.5) ? world.people.slice(0, 4) : world.people),
    },
    machine: machines[draw.below(machines.length)],
    module: draw.pick(['auth', 'shop']),
    env: draw.pick(['production', 'production', 'sandbox']),
    isPaper: agent.person.codes.length > 0 && draw.chance(0.3),
  }
  if (conditions.some(([which, holds]) => which.test(of) && !holds(at))) return null
  if (of.startsWith('oauthCallback')) return callback(at, isForm)
  const asked = filled(at, query)
  const path = filled(at, operation.params, params)
  const body = bodies.length === 0 ? {} : bodies.map((one) => filled(at, one)).find(Boolean)
  if (asked === null || path === null || !body) return null
  const taken = { params: textsOf(path), query: textsOf(asked) }
  if (bodies.length === 0) return { ...taken, body: null }
  if (of !== 'exchangeClientCredentials' || draw.chance(0.5)) return { ...taken, body }
  const { clientId, clientSecret } = at.machine ?? {}
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64')
  return { ...taken, body: { grant_type: 'client_credentials' }, authorization: `Basic ${basic}` }
}
