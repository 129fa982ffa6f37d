import * as z from 'zod/mini'
import type { ConfigKey } from '../crypto/secret-box.js'
import { defaultRateLimits } from '../domain/limits/rate-limiter.js'
import { isAppOrigin, isLocalHost, longestBaseUrl, longestUrl } from '../engine/addresses.js'
import { OptionsError } from '../errors/index.js'
import { readHost } from '../http/incoming-request.js'
import { providerIds } from '../identity-providers/providers.js'
import { selfPermissions } from '../model/permissions.js'
import type { GivenOptions } from '../options.js'
import { findSetting } from '../settings/settings.js'
import { refuseContradictions } from './surface-checks.js'

// The form of each option by itself, with the words for what is not of it.

const flag = z.boolean('must be true or false')

const functionValue = z.custom<(...args: never[]) => unknown>(
  (value) => typeof value === 'function',
  'must be a function',
)

/** An object with these methods; adapters may be class instances, so its other members are free. */
function port(...methods: readonly string[]): z.ZodMiniType {
  const them = methods.length === 1 ? 'method' : 'methods'
  const wanted = `must be an object with the ${them} ${methods.join(', ')}`
  return z.custom(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      methods.every((name) => typeof Reflect.get(value, name) === 'function'),
    { message: wanted },
  )
}

/** A whole number in these bounds, with one message for every other value. */
function whole(min: number, max: number, message: string): z.ZodMiniType {
  return z.int(message).check(z.gte(min, message), z.lte(max, message))
}

const largest = Number.MAX_SAFE_INTEGER
const positive = whole(1, largest, 'must be a whole number of at least 1')

function textLike(pattern: RegExp, message: string) {
  return z.string().check(z.regex(pattern, message))
}

function textThat(is: (text: string) => boolean, message: string) {
  return z.string().check(z.refine(is, { message }))
}

function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null
}

function isSafeScheme({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLocalHost(hostname))
}

/** Whether an address, or a path below one, is short enough as it is sent. Another check refuses what is neither. */
function isSentWithin(longest: number, text: string): boolean {
  const base = 'https://localhost'
  if (!URL.canParse(text, base)) return true
  // Some are built upon as they are written, and `a/../b` is longer that way.
  return Math.max(text.length, new URL(text, base).href.length) <= longest
}

function sentWithin(longest: number): z.core.$ZodCheck<string> {
  // Written when it is needed: the first number that is written for a language takes 20 ms and 8 MiB of a process.
  const error = () =>
    `must be at most ${longest.toLocaleString('en')} characters as it is sent, which is percent-encoded: shorten it`
  return z.refine<string>((text) => isSentWithin(longest, text), { error })
}

/** The check for an address, as it is sent. */
const shortEnough = sentWithin(longestUrl)
/** The check for an address that others are built below. */
const shortEnoughBase = sentWithin(longestBaseUrl)

/** The keys that encrypt configuration. */
const configKeysShape = z.array(
  z.strictObject({ id: z.string(), key: z.string() }),
  'must be an array of { id, key }; the first one encrypts',
)

const base64 = 'must be the base64 text of the project, not empty'
const base64Text = z.string(base64).check(z.regex(/^[\w+/-]+={0,2}$/, base64))

/** The formats of older hashes that are checked. */
const legacyHashesShape = z.strictObject({
  bcrypt: z.optional(functionValue),
  scrypt: z.optional(flag),
  pbkdf2: z.optional(flag),
  betterAuth: z.optional(flag),
  firebaseScrypt: z.optional(
    z.strictObject({
      signerKey: base64Text,
      saltSeparator: base64Text,
      rounds: whole(1, 8, 'must be a whole number from 1 to 8'),
      memCost: whole(1, 14, 'must be a whole number from 1 to 14'),
    }),
  ),
})

function isBaseUrl(text: string): boolean {
  const url = text === text.trim() ? parseUrl(text) : null
  if (url === null || url.hostname.includes('*') || url.search !== '' || url.hash !== '')
    return false
  if (url.username !== '' || url.password !== '') return false
  return isSafeScheme(url)
}

function isOrigin(text: string): boolean {
  const url = parseUrl(text)
  // `https://*.example.com` is an origin to the parser, and none that a browser sends.
  return url !== null && url.origin === text && !text.includes('*') && isSafeScheme(url)
}

/** As a request would name it: `new URL` refuses what no client could send. */
function isHost(text: string): boolean {
  const host = readHost(text)
  if (host === null || `${host.name}${host.port === '' ? '' : `:${host.port}`}` !== text)
    return false
  return parseUrl(`http://${text}`)?.hostname === host.name
}

/** SHA-256 of the certificate an Android app is signed with, base64url. */
const androidOrigin = /^android:apk-key-hash:[\w-]{43}$/

/** A page of the host's, linked to with the token in the fragment. */
function isPage(text: string): boolean {
  if (text.includes('#')) return false
  const url = parseUrl(text)
  // What is no URL by itself is a path below `baseUrl`.
  return url === null || (url.username === '' && isSafeScheme(url))
}

const domainName = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]+$|^localhost$/

/** A counter's window is kept for as long; beyond it, a time is no longer one that stores can hold. */
const yearMs = 365 * 24 * 60 * 60 * 1000

const rateLimitNames = Object.keys(defaultRateLimits('client'))

const rateLimit = z.strictObject({
  limit: whole(1, largest, 'must be a whole number of at least 1'),
  windowMs: whole(
    1000,
    yearMs,
    `must be a whole number of milliseconds, from 1000 (a second) to ${yearMs} (a year)`,
  ),
})

const page = textThat(
  isPage,
  'must be a path such as "/login", or an https URL, without "#": the token goes there',
).check(shortEnough)

/** The options of one surface, each by itself. */
export const surfaceShape = z.strictObject(
  {
    baseUrl: textThat(
      isBaseUrl,
      'must be the https URL browsers use, such as "https://app.example.com"; http is accepted only for localhost, 127.0.0.1, [::1] and *.localhost',
    ).check(shortEnoughBase),
    cookieDomain: z.optional(
      textLike(
        domainName,
        'must be a lower-case domain without a leading dot, such as "example.com"',
      ),
    ),
    // It is a part of each cookie, in characters that are sent as they are.
    cookiePath: z.optional(
      textLike(/^\/[\w\-./]*$/, 'must be a path such as "/identity"').check(
        z.maxLength(255, 'must be at most 255 characters'),
      ),
    ),
    // Not `__Host-` or `__Secure-`, which the scheme and the domain decide about.
    cookieNamePrefix: z.optional(
      textLike(
        /^[A-Za-z0-9][\w-]{0,31}$/,
        'must be 1 to 32 letters, digits, "-" and "_", and begin with a letter or digit, such as "shop_"',
      ),
    ),
    routesUrl: z.optional(
      textThat(isBaseUrl, 'must be an https URL, such as "https://example.com/identity"').check(
        shortEnoughBase,
      ),
    ),
    hosts: z.optional(
      z.array(
        textThat(
          isHost,
          'must be a lower-case host such as "app.internal" or "10.0.0.5:3000", without scheme and path',
        ),
      ),
    ),
    allowedOrigins: z.optional(
      z.array(
        textThat(
          (text) => isOrigin(text) || isAppOrigin(text),
          'must be an origin such as "https://www.example.com" or "capacitor://localhost", without path, slash or wildcard',
        ).check(shortEnoughBase),
      ),
    ),
    // A name is a token (RFC 9110 §5.1), and beside cookies `*` is a name that no header has.
    allowedHeaders: z.optional(
      z.array(
        textLike(
          /^(?!\*$)[\w!#$%&'*+.^`|~-]{1,64}$/,
          'must be the name of a header such as "X-Tenant", without wildcard',
        ),
      ),
    ),
    pages: z.optional(
      z.strictObject({
        verifyEmail: z.optional(page),
        resetPassword: z.optional(page),
        login: z.optional(page),
      }),
    ),
    mailedCode: z.optional(
      z.boolean('must be true to offer sign-in by a mailed code, and else false or left out'),
    ),
    webauthn: z.optional(
      z.strictObject({
        rpId: z.optional(
          textLike(domainName, 'must be a lower-case domain, such as "example.com"'),
        ),
        origins: z.optional(
          z.array(
            textThat(
              (text) => androidOrigin.test(text) || isOrigin(text),
              'must be an origin such as "https://www.example.com", or "android:apk-key-hash:" and the base64url SHA-256 of the app\'s certificate',
            ),
          ),
        ),
      }),
    ),
    rateLimits: z.optional(
      z.strictObject({
        ...Object.fromEntries(rateLimitNames.map((name) => [name, z.optional(rateLimit)])),
        exact: z.optional(flag),
      }),
    ),
  },
  'must be { baseUrl }',
)

/** `{tenant}` and `{tenantid}` stand for something that is no more than a path segment. */
function isEndpoint(text: string): boolean {
  const url = parseUrl(text.replace(/\{tenant(id)?\}/g, 'tenant'))
  return url !== null && url.username === '' && url.hash === '' && isSafeScheme(url)
}

const endpoint = textThat(
  isEndpoint,
  'must be an https URL; http only on localhost, with oauth.allowInsecureLoopback',
).check(shortEnough)

const provider = z.strictObject({
  endpoints: z.optional(
    z.strictObject({
      issuer: z.optional(endpoint),
      authorization: z.optional(endpoint),
      token: z.optional(endpoint),
      jwks: z.optional(endpoint),
      user: z.optional(endpoint),
      emails: z.optional(endpoint),
    }),
  ),
})

const reservedIds = [
  'password',
  'webauthn',
  'totp',
  'backup-code',
  'providers',
  'provider',
  'code',
  'invitation',
]

function isProviderIdFree(text: string): boolean {
  const isTaken = [...providerIds, ...reservedIds].some((id) => id === text)
  return /^[a-z][a-z0-9-]{1,31}$/.test(text) && !isTaken
}

function isIssuer(text: string): boolean {
  const url = parseUrl(text)
  // One for all tenants, such as Entra's `common`, would let any tenant name any address.
  // The address of its discovery document ends with a path of its own.
  const isOne =
    !/[{}]|%7B|%7D|\/\.well-known\//i.test(text) && url?.search === '' && url.hash === ''
  return isOne && url.username === '' && isSafeScheme(url)
}

const declaredProvider = z.strictObject({
  id: textThat(
    isProviderIdFree,
    'must be of the form [a-z][a-z0-9-]{1,31}, and none of the four providers and no name of a method',
  ),
  label: z.string().check(z.minLength(1), z.maxLength(100)),
  issuer: textThat(
    isIssuer,
    'must be the https URL of one issuer, without {tenant}, /.well-known/, query and fragment; http only on localhost, with oauth.allowInsecureLoopback',
  ).check(shortEnough),
  clientId: z.string().check(z.minLength(1), z.maxLength(255)),
  clientSecret: z.string().check(z.minLength(1), z.maxLength(4096)),
  surfaces: z.array(z.enum(['operator', 'client'])).check(z.minLength(1)),
  authoritativeFor: z.optional(
    z.array(
      textThat((text) => domainName.test(text), 'must be domains in lower case, in A-labels'),
    ),
  ),
})

/** The `oauth` option. */
export const oauthShape = z
  .strictObject({
    providers: z.optional(
      z.strictObject(Object.fromEntries(providerIds.map((id) => [id, z.optional(provider)]))),
    ),
    allowInsecureLoopback: z.optional(z.literal(true, 'must be true, or left out')),
  })
  .check(
    z.superRefine(({ providers = {}, allowInsecureLoopback }, context) => {
      if (allowInsecureLoopback) return
      for (const [id, given] of Object.entries(providers)) {
        for (const [name, text] of Object.entries(given?.endpoints ?? {})) {
          if (!text?.startsWith('http:')) continue
          const message =
            'must be https; http needs oauth.allowInsecureLoopback, which is for tests alone'
          context.addIssue({ code: 'custom', path: ['providers', id, 'endpoints', name], message })
        }
      }
    }),
  )

/** Every person holds those of their own account, and would administer what is renamed to one. */
const permission = z.string().check(
  z.minLength(1, 'must be the key of a permission'),
  z.refine((key) => !selfPermissions.includes(key), {
    message: `must not be ${selfPermissions.join(' or ')}, which every person holds; name a permission of your own, such as "modules.manage"`,
  }),
)

const proxies =
  'must be false, the number of proxies in front of this process, or a list of their networks'
const issuerForm = 'must be a text of 1 to 255 characters, such as "https://auth.example.com"'

const backend = z.object(
  {
    store: port('collection', 'prepare'),
    denylist: port('put', 'find', 'sweep'),
    lease: port('read', 'replace'),
    counter: port('hit', 'forgive', 'sweep').check(
      z.refine(
        (counter) => ['function', 'undefined'].includes(typeof Reflect.get(Object(counter), 'add')),
        'must have no "add", or one that is a method',
      ),
    ),
  },
  {
    error: ({ input }) =>
      typeof input === 'function'
        ? calledInstead(input)
        : 'must be a backend, such as memory() or postgres(pool)',
  },
)

/** `backend: memory` in place of `backend: memory()`. */
function calledInstead({ name }: { readonly name: string }): string {
  const call = name === '' ? 'it' : `${name}(…)`
  return `must be what the function returns, not the function itself: call ${call}`
}

const surfacesForm = 'must be { operator: { baseUrl }, client: { baseUrl } }, or one of the two'

const schema = z.strictObject({
  backend,
  keys: z.union(
    [z.object({ current: z.string() }), functionValue],
    'must be { current, next?, previous?, sign? } with PEM texts, or a function that resolves with that; generateSigningKey() makes a key',
  ),
  surfaces: z
    .strictObject(
      { operator: z.optional(surfaceShape), client: z.optional(surfaceShape) },
      surfacesForm,
    )
    .check(z.refine(({ operator, client }) => (operator ?? client) !== undefined, surfacesForm)),
  mailer: port('send'),
  riskScorer: z.optional(port('assess')),
  sessionRiskScorer: z.optional(port('assess')),
  beforeRegister: z.optional(functionValue),
  issuer: z.optional(
    z.string(issuerForm).check(z.minLength(1, issuerForm), z.maxLength(255, issuerForm)),
  ),
  settings: z.optional(z.record(z.string(), z.unknown())),
  // What is in them is said by the `DeclarationError`, which names module and field.
  modules: z.optional(z.array(z.unknown(), 'must be an array of modules made with defineModule')),
  configKeys: z.optional(
    z.union(
      [configKeysShape, functionValue],
      'must be an array of { id, key }, of which the first one encrypts, or a function that resolves with that',
    ),
  ),
  adminStepUp: z.optional(flag),
  deviceRecognition: z.optional(flag),
  permissions: z.optional(
    z.strictObject({ modulesRead: z.optional(permission), modulesManage: z.optional(permission) }),
  ),
  authorizer: z.optional(
    z.union(
      [port('check'), functionValue],
      'must be an object with the method check, or roleAuthorizer()',
    ),
  ),
  trustProxy: z.optional(
    z.union([z.literal(false), whole(0, largest, proxies), z.array(z.string())], proxies),
  ),
  oauth: z.optional(oauthShape),
  providers: z.optional(z.array(declaredProvider)),
  env: z.optional(z.record(z.string(), z.optional(z.string()))),
  hash: z.optional(
    z.strictObject({
      params: z.optional(
        z.strictObject({ memoryCost: positive, timeCost: positive, parallelism: positive }),
      ),
      concurrency: z.optional(positive),
      queue: z.optional(whole(0, largest, 'must be a whole number')),
      implementation: z.optional(
        z.union(
          [z.literal('argon2'), z.literal('@node-rs/argon2'), port('hash', 'verify')],
          'must be "argon2", "@node-rs/argon2", or an object with the methods hash, verify',
        ),
      ),
      allowWeakHashesForTests: z.optional(z.literal(true)),
    }),
  ),
  legacyHashes: z.optional(legacyHashesShape),
  legacyVerifiers: z.optional(z.array(port('recognises', 'verify'))),
  collectionPrefix: z.optional(
    textLike(/^(?:[a-z][a-z0-9_]{0,30})?$/, 'must be lower-case letters, digits and underscores'),
  ),
  defaultSurface: z.optional(z.enum(['operator', 'client'])),
  passwordContextWords: z.optional(z.array(z.string())),
  clockLeeway: z.optional(whole(0, 60, 'must be a whole number of seconds from 0 to 60')),
  tokenMemory: z.optional(whole(0, 1024, 'must be a whole number of mebibytes from 0 to 1,024')),
  backendTimeout: z.optional(positive),
  requestTimeout: z.optional(positive),
  sweep: z.optional(z.literal(false, 'must be false, or left out')),
  meterProvider: z.optional(port('getMeter')),
  tracerProvider: z.optional(port('getTracer')),
  auditRetentionDays: z.optional(
    z
      .int('must be a whole number of days, 30 to 3,650')
      .check(z.gte(30, 'must be at least 30 days'), z.lte(3650, 'must be at most 3,650 days')),
  ),
  onEvent: z.optional(functionValue),
  logger: z.optional(port('debug', 'info', 'warn', 'error')),
  requestIdHeader: z.optional(z.enum(['x-request-id', 'traceparent'])),
  clock: z.optional(
    port('now', 'after').check(
      z.refine(tellsWholeTime, {
        message: 'must tell the time in whole epoch milliseconds: round a time with fractions down',
      }),
    ),
  ),
  random: z.optional(port('bytes')),
  fetcher: z.optional(port('fetch')),
})

/** No store would take a time with fractions, and the first request would find out. */
function tellsWholeTime(clock: unknown): boolean {
  return typeof clock === 'object' && clock !== null && Number.isSafeInteger(nowOf(clock))
}

function nowOf(clock: object): unknown {
  const now: unknown = Reflect.get(clock, 'now')
  return typeof now === 'function' ? Reflect.apply(now, clock, []) : null
}

const kinds: Readonly<Record<string, string>> = {
  array: 'an array',
  int: 'a whole number',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a text',
}

/** For whatever has no words of its own in the schema. */
function wording(issue: z.core.$ZodRawIssue): string {
  if (issue.code === 'invalid_type') return `must be ${kinds[issue.expected] ?? issue.expected}`
  if (issue.code !== 'invalid_value') return 'must be of another form'
  return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
}

/** Throws an `OptionsError` that names the option, what it has to be and the remedy. */
export function checkOptions(options: GivenOptions): void {
  const result = schema.safeParse(options, { error: wording })
  const issue = result.error?.issues[0]
  if (issue === undefined) {
    refuseContradictions(options.surfaces)
    refuseProviders(options)
    const { defaultSurface } = options
    if (defaultSurface === undefined || options.surfaces[defaultSurface] !== undefined) return
    throw new OptionsError('defaultSurface', `must be a surface that is in surfaces`)
  }
  if (issue.code === 'unrecognized_keys') {
    const path = [...issue.path, issue.keys[0]].map(String).join('.')
    throw new OptionsError(path, unknownOption(path))
  }
  const path = issue.path.map(String).join('.')
  const isMissing = path !== '' && valueAt(options, issue.path) === undefined
  throw new OptionsError(
    path === '' ? 'options' : path,
    isMissing ? `is required and ${issue.message}` : issue.message,
  )
}

/** What is wrong of declared providers beside one another, and beside the other options. */
function refuseProviders({ providers = [], oauth }: GivenOptions): void {
  for (const [index, { id, issuer }] of providers.entries()) {
    if (providers.findIndex((one) => one.id === id) < index) {
      throw new OptionsError(
        `providers.${index}.id`,
        'must be another one: a provider before has it',
      )
    }
    if (!issuer.startsWith('http:') || oauth?.allowInsecureLoopback) continue
    const problem =
      'must be https; http needs oauth.allowInsecureLoopback, which is for tests alone'
    throw new OptionsError(`providers.${index}.issuer`, problem)
  }
}

function unknownOption(path: string): string {
  if (findSetting(path) === undefined) return 'is not an option; check its spelling'
  return `is not an option but a setting: write settings: { ${path}: … }`
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined,
    root,
  )
}

/** The host's options, with the keys of the configuration read. */
export interface ReadOptions extends GivenOptions {
  readonly configKeys?: readonly ConfigKey[]
}

/**
 * Calls `configKeys` where it is a function. Rejects with an `OptionsError` where it fails, which has what it failed with as
 * its cause, or where it answers no list of keys.
 */
export async function withConfigKeys({ configKeys, ...rest }: GivenOptions): Promise<ReadOptions> {
  if (configKeys === undefined) return rest
  if (typeof configKeys !== 'function') return { ...rest, configKeys }
  let answer: unknown
  try {
    answer = await configKeys()
  } catch (cause) {
    throw new OptionsError('configKeys', 'is a function that failed; see the cause', { cause })
  }
  const checked = configKeysShape.safeParse(answer)
  if (checked.success) return { ...rest, configKeys: checked.data }
  throw new OptionsError(
    'configKeys',
    'is a function that must resolve with an array of { id, key }; the first one encrypts',
  )
}
