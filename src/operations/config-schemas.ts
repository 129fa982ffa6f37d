import { z } from 'zod'
import { AuthError } from '../errors/index.js'
import { text, timestamp } from './schemas.js'

/** The bodies and replies of the module configuration's operations. */

const texts = z.record(z.string(), z.string()).readonly()

/** Services return read-only values. */
const list = <T extends z.ZodType>(item: T) => z.array(item).readonly()

/** The schema would leave `__proto__` out without a word: what was not stored must not be answered 200. */
const patchedTexts = z.preprocess(
  (given) => {
    if (typeof given === 'object' && given !== null && Object.hasOwn(given, '__proto__')) {
      const detail = '"__proto__" is not a key of this module. Check its spelling.'
      throw new AuthError('config.unknown_key', { detail })
    }
    return given
  },
  z.record(text, text),
)

export const configPatchInput = z.strictObject({
  config: patchedTexts.exactOptional(),
  recordLists: z
    .array(
      z.strictObject({
        field: text,
        create: z.array(text).default([]),
        remove: z.array(text).default([]),
      }),
    )
    .exactOptional(),
  revision: z.int().exactOptional(),
})

/** At the module's own door, which edits whichever environment is active. */
export const modulePatchInput = configPatchInput.extend({
  environment: z.string().max(200).exactOptional(),
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
  options: list(z.string()).optional(),
  min: z.number().optional(),
  max: z.number().optional(),
}

const itemDeclaration = z.strictObject({
  ...declaration,
  required: z.boolean().optional(),
  condition: z.strictObject({ field: z.string(), equals: z.string() }).optional(),
})

const fieldDeclaration = z.strictObject({
  ...declaration,
  group: z.string(),
  child: z.string().optional(),
  envVar: z.string().optional(),
  secret: z.boolean().optional(),
  default: z.string().optional(),
  surface: z.enum(['operator', 'client', 'both']).optional(),
  items: list(itemDeclaration).optional(),
})

export const moduleReply = moduleSummaryReply.extend({
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
        z.object({ slug: z.string(), label: z.string() }).catchall(z.string().nullable()),
      ),
    }),
  ),
  sources: z.record(z.string(), z.enum(['store', 'env', 'default'])),
})

export const configRevisionReply = z.strictObject({
  revision: z.int(),
  writtenAt: timestamp,
  /** Null for the library itself. */
  writtenBy: z.string().nullable(),
  changed: list(z.string()),
  removed: list(z.string()),
  config: texts,
  secretsSet: list(z.string()),
})
