import { z } from 'zod'
import { text, timestamp } from './schemas.js'

/** The bodies and replies of the module configuration's operations. */

const texts = z.record(z.string(), z.string()).readonly()

/** Services return read-only values. */
const list = <T extends z.ZodType>(item: T) => z.array(item).readonly()

export const configPatchInput = z.strictObject({
  config: z.record(text, text).exactOptional(),
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
