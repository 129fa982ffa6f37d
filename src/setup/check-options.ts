import * as z from 'zod/mini'
import { OptionsError } from '../errors/index.js'
import { selfPermissions } from '../model/permissions.js'
import type { AuthOptions } from '../options.js'
import { findSetting } from '../settings/settings.js'
import { oauthShape } from './oauth-shape.js'
import {
  configKeysShape,
  functionValue,
  largest,
  legacyHashesShape,
  port,
  positive,
  whole,
} from './option-shapes.js'
import { surfaceShape } from './surface-shape.js'

/** Every person holds those of their own account, and would administer what is renamed to one. */
const permission = z.string().check(
  z.minLength(1, 'must be the key of a permission'),
  z.refine((key) => !selfPermissions.includes(key), {
    message: `must not be ${selfPermissions.join(' or ')}, which every person holds; name a permission of your own, such as "modules.manage"`,
  }),
)

/** What is in it is said by the `DeclarationError`, which names module and field. */
const moduleShape = z.unknown()

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

const schema = z.strictObject({
  backend,
  keys: z.union(
    [z.object({ current: z.string() }), functionValue],
    'must be { current, next?, previous?, sign? } with PEM texts, or a function that resolves with that; generateSigningKey() makes a key',
  ),
  surfaces: z.strictObject(
    { operator: surfaceShape, client: surfaceShape },
    'must be { operator: { baseUrl }, client: { baseUrl } }',
  ),
  mailer: port('send'),
  riskScorer: z.optional(port('assess')),
  sessionRiskScorer: z.optional(port('assess')),
  issuer: z.optional(
    z.string(issuerForm).check(z.minLength(1, issuerForm), z.maxLength(255, issuerForm)),
  ),
  settings: z.optional(z.record(z.string(), z.unknown())),
  modules: z.optional(z.array(moduleShape, 'must be an array of modules made with defineModule')),
  configKeys: z.optional(
    z.union(
      [configKeysShape, functionValue],
      'must be an array of { id, key }, of which the first one encrypts, or a function that resolves with that',
    ),
  ),
  adminStepUp: z.optional(z.boolean('must be true or false')),
  deviceRecognition: z.optional(z.boolean('must be true or false')),
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
    z
      .string()
      .check(
        z.regex(
          /^(?:[a-z][a-z0-9_]{0,30})?$/,
          'must be lower-case letters, digits and underscores',
        ),
      ),
  ),
  defaultSurface: z.optional(z.enum(['operator', 'client'])),
  passwordContextWords: z.optional(z.array(z.string())),
  clockLeeway: z.optional(whole(0, 60, 'must be a whole number of seconds from 0 to 60')),
  tokenMemory: z.optional(whole(0, 1024, 'must be a whole number of mebibytes from 0 to 1,024')),
  backendTimeout: z.optional(positive),
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

/** Throws an `OptionsError` that names the option, its shape and the remedy. */
export function checkOptions(options: AuthOptions): void {
  const result = schema.safeParse(options, { error: wording })
  const issue = result.error?.issues[0]
  if (issue === undefined) return
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
