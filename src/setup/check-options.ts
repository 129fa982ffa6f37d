import { z } from 'zod'
import { isLocalHost } from '../engine/is-local-host.js'
import { OptionsError } from '../errors/index.js'
import type { AuthOptions } from '../options.js'

const functionValue = z.custom<(...args: never[]) => unknown>(
  (value) => typeof value === 'function',
  'must be a function',
)

/** An object with these methods; adapters may be class instances, so its other members are free. */
function port(...methods: readonly string[]): z.ZodType {
  const wanted = `must be an object with the methods ${methods.join(', ')}`
  return z.custom(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      methods.every((name) => typeof Reflect.get(value, name) === 'function'),
    { message: wanted },
  )
}

function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null
}

function isBaseUrl(text: string): boolean {
  const url = text === text.trim() ? parseUrl(text) : null
  if (url === null || url.search !== '' || url.hash !== '') return false
  if (url.username !== '' || url.password !== '') return false
  return isSafeScheme(url)
}

function isSafeScheme({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLocalHost(hostname))
}

/** `{tenant}` and `{tenantid}` stand for something that is no more than a path segment. */
function isEndpoint(text: string): boolean {
  const url = parseUrl(text.replace(/\{tenant(id)?\}/g, 'tenant'))
  return url !== null && url.username === '' && url.hash === '' && isSafeScheme(url)
}

function isOrigin(text: string): boolean {
  const url = parseUrl(text)
  return url !== null && url.origin === text && isSafeScheme(url)
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

function isWithin(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`)
}

/** A whole number in these bounds; the same words whichever way it is none. */
function whole(min: number, max: number, message: string): z.ZodType {
  return z.int(message).min(min, message).max(max, message)
}

const largest = Number.MAX_SAFE_INTEGER
const positive = whole(1, largest, 'must be a whole number of at least 1')

const rateLimit = z.strictObject({
  limit: whole(1, largest, 'must be a whole number of at least 1'),
  windowMs: whole(1000, largest, 'must be a whole number of milliseconds, at least 1000'),
})

const page = z.string().refine(isPage, {
  message: 'must be a path such as "/login", or an https URL, without "#": the token goes there',
})

const surface = z
  .strictObject({
    baseUrl: z.string().refine(isBaseUrl, {
      message:
        'must be the https URL browsers use, such as "https://app.example.com"; http is accepted only for localhost, 127.0.0.1, [::1] and *.localhost',
    }),
    cookieDomain: z
      .string()
      .regex(domainName, 'must be a lower-case domain without a leading dot, such as "example.com"')
      .optional(),
    cookiePath: z
      .string()
      .regex(/^\/[\w\-./]*$/, 'must be a path such as "/auth"')
      .optional(),
    routesUrl: z
      .string()
      .refine(isBaseUrl, {
        message: 'must be an https URL, such as "https://example.com/identity"',
      })
      .optional(),
    allowedOrigins: z
      .array(
        z.string().refine(isOrigin, {
          message: 'must be an origin such as "https://www.example.com", without path or slash',
        }),
      )
      .optional(),
    pages: z
      .strictObject({
        verifyEmail: page.optional(),
        resetPassword: page.optional(),
        login: page.optional(),
      })
      .optional(),
    webauthn: z
      .strictObject({
        rpId: z
          .string()
          .regex(domainName, 'must be a lower-case domain, such as "example.com"')
          .optional(),
        origins: z
          .array(
            z.string().refine((text) => androidOrigin.test(text) || isOrigin(text), {
              message:
                'must be an origin such as "https://www.example.com", or "android:apk-key-hash:" and the base64url SHA-256 of the app\'s certificate',
            }),
          )
          .optional(),
      })
      .optional(),
    rateLimits: z
      .strictObject({
        registerPerIp: rateLimit.optional(),
        recoveryPerIp: rateLimit.optional(),
        recoveryPerAddress: rateLimit.optional(),
        refreshPerIp: rateLimit.optional(),
        refreshFamily: rateLimit.optional(),
        oauthPerIp: rateLimit.optional(),
        selfPerUser: rateLimit.optional(),
        adminPerUser: rateLimit.optional(),
        mfaPerUser: rateLimit.optional(),
        grantPerIp: rateLimit.optional(),
      })
      .optional(),
  })
  .superRefine((given, context) => {
    const host = parseUrl(given.baseUrl)?.hostname ?? ''
    const { cookieDomain, cookiePath, webauthn = {} } = given
    if (cookieDomain !== undefined && !isWithin(host, cookieDomain)) {
      const message =
        'must be the host of baseUrl or a parent domain of it; browsers drop the cookie otherwise'
      context.addIssue({ code: 'custom', path: ['cookieDomain'], message })
    }
    if (cookiePath !== undefined && cookiePath !== '/' && cookieDomain === undefined) {
      const message =
        'needs cookieDomain: a host-only cookie is a __Host- cookie, whose path is "/"'
      context.addIssue({ code: 'custom', path: ['cookiePath'], message })
    }
    const { rpId = host, origins = [] } = webauthn
    if (!isWithin(host, rpId)) {
      const message =
        'must be the host of baseUrl or a parent domain of it; browsers refuse passkeys otherwise'
      context.addIssue({ code: 'custom', path: ['webauthn', 'rpId'], message })
    }
    for (const [index, origin] of origins.entries()) {
      if (androidOrigin.test(origin) || isWithin(parseUrl(origin)?.hostname ?? '', rpId)) continue
      const message = `must be of the host ${rpId} or of one below it; set webauthn.rpId to a parent domain they share`
      context.addIssue({ code: 'custom', path: ['webauthn', 'origins', index], message })
    }
  })

const endpoint = z.string().refine((text) => isEndpoint(text), {
  message: 'must be an https URL; http only on localhost, with oauth.allowInsecureLoopback',
})

const provider = z.strictObject({
  endpoints: z
    .strictObject({
      issuer: endpoint.optional(),
      authorization: endpoint.optional(),
      token: endpoint.optional(),
      jwks: endpoint.optional(),
      user: endpoint.optional(),
      emails: endpoint.optional(),
    })
    .optional(),
})

const oauth = z
  .strictObject({
    providers: z
      .strictObject({
        google: provider.optional(),
        microsoft: provider.optional(),
        apple: provider.optional(),
        github: provider.optional(),
      })
      .optional(),
    allowInsecureLoopback: z.literal(true, 'must be true, or left out').optional(),
  })
  .superRefine(({ providers = {}, allowInsecureLoopback }, context) => {
    if (allowInsecureLoopback) return
    for (const [id, given] of Object.entries(providers)) {
      for (const [name, text] of Object.entries(given?.endpoints ?? {})) {
        if (!text?.startsWith('http:')) continue
        const message =
          'must be https; http needs oauth.allowInsecureLoopback, which is for tests alone'
        context.addIssue({ code: 'custom', path: ['providers', id, 'endpoints', name], message })
      }
    }
  })

const permission = z.string().min(1, 'must be the key of a permission')

/** Enough for the rules of declarations to look at. */
const moduleShape = z.looseObject({
  name: z.string(),
  environments: z.array(z.string()),
  fields: z.array(z.looseObject({ key: z.string(), label: z.string(), type: z.string() })),
  validatePatch: functionValue.optional(),
  validateActivation: functionValue.optional(),
})

const proxies =
  'must be false, the number of proxies in front of this process, or a list of their networks'
const issuerForm = 'must be a text of 1 to 255 characters, such as "https://auth.example.com"'

const schema = z.strictObject({
  backend: z.object({
    store: port('collection', 'prepare'),
    denylist: port('put', 'find', 'sweep'),
    lease: port('read', 'replace'),
    counter: port('hit', 'forgive', 'sweep'),
  }),
  keys: z.union(
    [z.object({ current: z.string() }), functionValue],
    'must be { current, next?, previous? } with PEM texts, or a function that resolves with that; generateSigningKey() makes a key',
  ),
  surfaces: z.strictObject({ operator: surface, client: surface }),
  mailer: port('send'),
  riskScorer: port('assess').optional(),
  issuer: z.string(issuerForm).min(1, issuerForm).max(255, issuerForm).optional(),
  settings: z.record(z.string(), z.unknown()).optional(),
  modules: z.array(moduleShape, 'must be an array of modules made with defineModule').optional(),
  configKeys: z
    .array(
      z.strictObject({ id: z.string(), key: z.string() }),
      'must be an array of { id, key }; the first one encrypts',
    )
    .optional(),
  permissions: z
    .strictObject({ modulesRead: permission.optional(), modulesManage: permission.optional() })
    .optional(),
  authorizer: z
    .union(
      [port('check'), functionValue],
      'must be an object with the method check, or roleAuthorizer()',
    )
    .optional(),
  trustProxy: z
    .union([z.literal(false), whole(0, largest, proxies), z.array(z.string())], proxies)
    .optional(),
  oauth: oauth.optional(),
  env: z.record(z.string(), z.string().optional()).optional(),
  hash: z
    .strictObject({
      params: z
        .strictObject({ memoryCost: positive, timeCost: positive, parallelism: positive })
        .optional(),
      concurrency: positive.optional(),
      queue: whole(0, largest, 'must be a whole number').optional(),
      implementation: z
        .union(
          [z.literal('argon2'), z.literal('@node-rs/argon2'), port('hash', 'verify')],
          'must be "argon2", "@node-rs/argon2", or an object with the methods hash, verify',
        )
        .optional(),
      allowWeakHashesForTests: z.literal(true).optional(),
    })
    .optional(),
  legacyVerifiers: z.array(port('recognises', 'verify')).optional(),
  collectionPrefix: z
    .string()
    .regex(/^(?:[a-z][a-z0-9_]{0,30})?$/, 'must be lower-case letters, digits and underscores')
    .optional(),
  defaultSurface: z.enum(['operator', 'client']).optional(),
  passwordContextWords: z.array(z.string()).optional(),
  clockLeeway: whole(0, 60, 'must be a whole number of seconds from 0 to 60').optional(),
  backendTimeout: positive.optional(),
  sweep: z.literal(false, 'must be false, or left out').optional(),
  meterProvider: port('getMeter').optional(),
  tracerProvider: port('getTracer').optional(),
  auditRetentionDays: z
    .int('must be a whole number of days, 30 to 3,650')
    .min(30, 'must be at least 30 days')
    .max(3650, 'must be at most 3,650 days')
    .optional(),
  onEvent: functionValue.optional(),
  logger: port('debug', 'info', 'warn', 'error').optional(),
  clock: port('now', 'after').optional(),
  random: port('bytes').optional(),
  fetcher: port('fetch').optional(),
})

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

/** Throws an `OptionsError` that names the option, its shape and the remedy. */
export function checkOptions(options: AuthOptions): void {
  const result = schema.safeParse(options, { error: wording })
  const issue = result.error?.issues[0]
  if (issue === undefined) return
  if (issue.code === 'unrecognized_keys') {
    const path = [...issue.path, issue.keys[0]].map(String).join('.')
    throw new OptionsError(path, 'is not an option; check its spelling')
  }
  const path = issue.path.map(String).join('.')
  const isMissing = path !== '' && valueAt(options, issue.path) === undefined
  throw new OptionsError(
    path === '' ? 'options' : path,
    isMissing ? `is required and ${issue.message}` : issue.message,
  )
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined,
    root,
  )
}
