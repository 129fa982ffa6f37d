import * as z from 'zod/mini'
import { AuthError } from '../errors/index.js'
import { text, timestamp } from './schemas.js'

/** The bodies and replies of the module configuration's operations. */

const texts = z.readonly(z.record(z.string(), z.string()))

/** The domain returns read-only values. */
const list = <T extends z.ZodMiniType>(item: T) => z.readonly(z.array(item))

/** The schema would leave `__proto__` out without a word: what was not stored must not be answered 200. */
const patchedTexts = z.pipe(
  z.transform((given) => {
    if (typeof given === 'object' && given !== null && Object.hasOwn(given, '__proto__')) {
      const detail = '"__proto__" is not a key of this module. Check its spelling.'
      throw new AuthError('config.unknown_key', { detail, field: '__proto__' })
    }
    return given
  }),
  z.record(text, text),
)

export const configPatchInput = z.strictObject({
  config: z.exactOptional(patchedTexts),
  recordLists: z.exactOptional(
    z.array(
      z.strictObject({
        field: text,
        create: z._default(z.array(text), []),
        remove: z._default(z.array(text), []),
      }),
    ),
  ),
  revision: z.exactOptional(z.int()),
})

/** At the module's own route, which edits the environment that is active. */
export const modulePatchInput = z.extend(configPatchInput, {
  environment: z.exactOptional(z.string().check(z.maxLength(200))),
})

export const moduleSummaryReply = z.strictObject({
  name: z.string(),
  activeEnvironment: z.string(),
  needsRestart: z.boolean(),
})

const declaration = {
  key: z.string(),
  label: z.string(),
  type: z.string(),
  options: z.optional(list(z.string())),
  min: z.optional(z.number()),
  max: z.optional(z.number()),
}

const itemDeclaration = z.strictObject({
  ...declaration,
  required: z.optional(z.boolean()),
  condition: z.optional(z.strictObject({ field: z.string(), equals: z.string() })),
})

const fieldDeclaration = z.strictObject({
  ...declaration,
  group: z.string(),
  child: z.optional(z.string()),
  envVar: z.optional(z.string()),
  secret: z.optional(z.boolean()),
  default: z.optional(z.string()),
  surface: z.optional(z.enum(['operator', 'client', 'both'])),
  /** An empty text is a value of its own, and does not stand for the default. */
  emptyIsValue: z.optional(z.boolean()),
  items: z.optional(list(itemDeclaration)),
})

export const moduleReply = z.extend(moduleSummaryReply, {
  environments: list(z.strictObject({ name: z.string(), active: z.boolean(), revision: z.int() })),
  fields: list(fieldDeclaration),
})

export const environmentReply = z.strictObject({
  module: z.string(),
  environment: z.string(),
  active: z.boolean(),
  revision: z.int(),
  /** The texts of fields that are neither secrets nor lists. */
  config: texts,
  /** Keys of the secrets that have a value. */
  secretsSet: list(z.string()),
  recordLists: list(
    z.strictObject({
      field: z.string(),
      /** `slug`, `label`, and each sub-field's text; null for a secret. */
      elements: list(
        z.catchall(z.object({ slug: z.string(), label: z.string() }), z.nullable(z.string())),
      ),
    }),
  ),
  sources: z.record(z.string(), z.enum(['store', 'env', 'default'])),
})

export const configRevisionReply = z.strictObject({
  revision: z.int(),
  writtenAt: timestamp,
  /** Null for the library itself. */
  writtenBy: z.nullable(z.string()),
  changed: list(z.string()),
  removed: list(z.string()),
  config: texts,
  secretsSet: list(z.string()),
})
