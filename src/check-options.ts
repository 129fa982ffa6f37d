import { z } from 'zod'
import { OptionsError } from './errors.js'
import type { AuthOptions } from './options.js'

const localHosts = /^(?:localhost|127\.0\.0\.1|\[::1\]|(?:[a-z0-9-]+\.)+localhost)$/

const functionValue = z.custom<(...args: never[]) => unknown>(
  (value) => typeof value === 'function',
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
  const url = parseUrl(text)
  if (url === null || url.search !== '' || url.hash !== '' || url.username !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && localHosts.test(url.hostname))
}

function isOrigin(text: string): boolean {
  const url = parseUrl(text)
  return url !== null && url.origin === text && /^https?:$/.test(url.protocol)
}

const domainName = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]+$|^localhost$/

const rateLimit = z.strictObject({
  limit: z.int().min(1, 'must be a whole number of at least 1'),
  windowMs: z.int().min(1000, 'must be at least 1000 milliseconds'),
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
    allowedOrigins: z
      .array(
        z.string().refine(isOrigin, {
          message: 'must be an origin such as "https://www.example.com", without path or slash',
        }),
      )
      .optional(),
    pages: z
      .strictObject({
        verifyEmail: z.string().optional(),
        resetPassword: z.string().optional(),
        login: z.string().optional(),
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
      })
      .optional(),
  })
  .superRefine((given, context) => {
    const host = parseUrl(given.baseUrl)?.hostname ?? ''
    const { cookieDomain, cookiePath } = given
    if (cookieDomain !== undefined && host !== cookieDomain && !host.endsWith(`.${cookieDomain}`)) {
      const message =
        'must be the host of baseUrl or a parent domain of it; browsers drop the cookie otherwise'
      context.addIssue({ code: 'custom', path: ['cookieDomain'], message })
    }
    if (cookiePath !== undefined && cookiePath !== '/' && cookieDomain === undefined) {
      const message =
        'needs cookieDomain: a host-only cookie is a __Host- cookie, whose path is "/"'
      context.addIssue({ code: 'custom', path: ['cookiePath'], message })
    }
  })

const positive = z.int().min(1, 'must be a whole number of at least 1')

const schema = z.strictObject({
  backend: z.object({
    store: port('collection', 'prepare'),
    denylist: port('put', 'find', 'sweep'),
    lease: port('read', 'replace'),
    counter: port('hit', 'forgive', 'sweep'),
  }),
  keys: z.union([z.object({ current: z.string() }), functionValue]),
  surfaces: z.strictObject({ operator: surface, client: surface }),
  mailer: port('send'),
  issuer: z.string().min(1).max(255).optional(),
  settings: z.record(z.string(), z.unknown()).optional(),
  authorizer: port('check').optional(),
  trustProxy: z.union([z.literal(false), z.int().min(0), z.array(z.string())]).optional(),
  env: z.record(z.string(), z.string().optional()).optional(),
  hash: z
    .strictObject({
      params: z
        .strictObject({ memoryCost: positive, timeCost: positive, parallelism: positive })
        .optional(),
      concurrency: positive.optional(),
      queue: z.int().min(0).optional(),
      implementation: z
        .union([z.literal('argon2'), z.literal('@node-rs/argon2'), port('hash', 'verify')])
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
  clockLeeway: z.int().min(0).max(60, 'must be 0 to 60 seconds').optional(),
  backendTimeout: positive.optional(),
  onEvent: functionValue.optional(),
  logger: port('debug', 'info', 'warn', 'error').optional(),
  clock: port('now', 'after').optional(),
  random: port('bytes').optional(),
  fetcher: port('fetch').optional(),
})

/** Throws an `OptionsError` that names the option, its shape and the remedy. */
export function checkOptions(options: AuthOptions): void {
  const result = schema.safeParse(options)
  if (result.success) return
  const issue = result.error.issues[0]
  if (issue === undefined) return
  if (issue.code === 'unrecognized_keys') {
    const path = [...issue.path, issue.keys[0]].map(String).join('.')
    throw new OptionsError(path, 'is not an option; check its spelling')
  }
  const path = issue.path.map(String).join('.')
  const missing = valueAt(options, issue.path) === undefined
  throw new OptionsError(path, missing ? `is required and ${expectation(issue)}` : issue.message)
}

function expectation(issue: { readonly message: string }): string {
  return issue.message.startsWith('must') ? issue.message : `must be given (${issue.message})`
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined,
    root,
  )
}
