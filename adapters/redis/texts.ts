import type { Column } from '../../src/checks/check-value.js'
import type { Condition } from '../../src/checks/check-write.js'
import type { Row, Shape } from '../../src/checks/shape.js'

/** An index as the schema record has it. Its name follows from its fields, in whatever order. */
export interface NamedIndex {
  readonly name: string
  readonly on: readonly string[]
  readonly unique: boolean
}

export function indexesOf(shape: Shape): readonly NamedIndex[] {
  return shape.indexes.map(({ on, unique }) => {
    const sorted = [...on].sort()
    return { name: `${unique ? 'u' : 'i'}:${sorted.join()}`, on: sorted, unique }
  })
}

/**
 * Every value is stored as its JSON text, made here and only compared by scripts: Lua's own JSON
 * turns `[]` into `{}` and 2^53 - 1 into another number.
 */
export function textOf(value: unknown): string {
  return JSON.stringify(value)
}

/** Field by field: name, text, name, text, … without `id`, which the key has. */
export function textsOf(row: Row): readonly string[] {
  return Object.entries(row).flatMap(([name, value]) => {
    return name === 'id' ? [] : [name, textOf(value)]
  })
}

/** As `entry` in lua.ts makes it: texts have no control characters, so nothing runs together. */
export function entryOf(index: NamedIndex, row: Row): string {
  return `${index.name}\0${index.on.map((name) => textOf(row[name])).join()}`
}

/** A guard as the scripts read it. What it says of the id, which no hash has, is decided here. */
export function guardText(id: string, conditions: readonly Condition[]): string {
  const tests = conditions.map((one) => [one.column.name, ...testOf(one)] as const)
  const ofId = ([name, form, operand]: (typeof tests)[number]): boolean =>
    name === 'id' && form === 'in' && operand.includes(textOf(id))
  return JSON.stringify(tests.filter((test) => !ofId(test)))
}

function testOf(condition: Condition): readonly [form: string, operand: string | string[]] {
  switch (condition.form) {
    case 'equals':
      return ['in', [textOf(condition.value)]]
    case 'in':
      return ['in', condition.values.map(textOf)]
    case 'gt':
    case 'lte':
      return [condition.form, textOf(condition.bound)]
  }
}

/** The document of a hash, given as names and texts in turns; null for an absent hash. */
export function rowOf(shape: Shape, id: string, reply: unknown): Row | null {
  const flat = listOf(reply)
  if (flat.length === 0) return null
  const texts = new Map<string, string>()
  for (let at = 0; at < flat.length; at += 2) texts.set(flat[at] ?? '', flat[at + 1] ?? '')
  const row: Record<string, unknown> = {}
  for (const column of shape.columns.values()) {
    row[column.name] = column.name === 'id' ? id : fieldValue(shape, column, texts.get(column.name))
  }
  return row
}

/** A field that is not there was declared after the document was written. */
function fieldValue(shape: Shape, column: Column, text: string | undefined): unknown {
  if (text !== undefined) return JSON.parse(text)
  // A copy, so that no two documents share one.
  if (column.default !== undefined) return structuredClone(column.default)
  if (column.nullable) return null
  throw new Error(`redis: a document of "${shape.name}" has no "${column.name}"`)
}

/** A reply that is a list of texts. */
export function listOf(reply: unknown): readonly string[] {
  if (!Array.isArray(reply) || !reply.every((item) => typeof item === 'string')) {
    throw new TypeError('redis: the client must give text back as strings')
  }
  return reply
}

/** A score: the expiry, or for null one that no time reaches. */
export function scoreOf(expiresAt: unknown): string {
  return expiresAt === null ? '+inf' : String(expiresAt)
}
