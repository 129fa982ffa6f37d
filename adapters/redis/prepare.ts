import type { Column } from '../../src/checks/check-value.js'
import type { Shape } from '../../src/checks/shape.js'
import type { FieldKind, MigrationStep } from '../../src/ports/store.js'
import type { Commands } from './commands.js'
import type { Keys } from './keys.js'
import { indexRows } from './lua.js'
import { type Run, scriptOf } from './script.js'
import { indexesOf, listOf, type NamedIndex, textOf } from './texts.js'

/** A collection and where it is. */
export interface Place {
  readonly shape: Shape
  readonly keys: Keys
}

const mostTries = 1000

const readSchema = scriptOf(`
return { redis.call('HGET', KEYS[1], 'record') or '' }
`)

/**
 * KEYS: schema, expiries. ARGV: the record as it was seen, the new one, the layout, whether there
 * may be no documents, then the names of new indexes, which have nothing to learn if there are none.
 */
const replaceSchema = scriptOf(`
if (redis.call('HGET', KEYS[1], 'record') or '') ~= ARGV[1] then return 'changed' end
local empty = redis.call('ZCARD', KEYS[2]) == 0
if ARGV[4] == 'empty' and not empty then return 'filled' end
redis.call('HSET', KEYS[1], 'record', ARGV[2], 'layout', ARGV[3])
for n = 5, #ARGV do redis.call('HSET', KEYS[1], ARGV[n], empty and 'ready' or 'building') end
return 'stored'
`)

/** KEYS: schema. ARGV: names of indexes. Their states. */
const readStates = scriptOf(`
local states = {}
for n, name in ipairs(ARGV) do states[n] = redis.call('HGET', KEYS[1], name) or '' end
return states
`)

const markReady = scriptOf(`redis.call('HSET', KEYS[1], ARGV[1], 'ready')`)

/** Ids, some hundred at a time, the next cursor first. */
const scanIds = scriptOf(`
local found = redis.call('ZSCAN', KEYS[1], ARGV[1], 'COUNT', 200)
local ids = { found[1] }
for n = 1, #found[2], 2 do ids[#ids + 1] = found[2][n] end
return ids
`)

/**
 * Brings a collection's schema up to its shape. A new index is written down first, and from then on
 * kept by every write of every replica, of older versions too; then the documents that were there
 * are entered, each as it is at that moment. So nothing is missed, and replicas that do the same at
 * once do no harm. Only then may `find` use it. Where documents are not unique this rejects, and the
 * index stays written down: they can become fewer, never more, and the next call looks at all again.
 */
export async function prepareCollection(run: Run, { shape, keys }: Place): Promise<void> {
  await extendSchema(run, { shape, keys })
  const indexes = indexesOf(shape)
  const names = indexes.map(({ name }) => name)
  if (names.length === 0) return
  const states = listOf(await run(readStates, [keys.schema], names))
  for (const [at, index] of indexes.entries()) {
    if (states[at] !== 'ready') await buildIndex(run, { shape, keys }, index)
  }
}

/** The steps that `prepareCollection` would take now. Changes nothing. Indexes are built beside the writes. */
export async function stepsOf(run: Run, { shape, keys }: Place): Promise<readonly MigrationStep[]> {
  const [seen = ''] = listOf(await run(readSchema, [keys.schema], []))
  const before: SchemaRecord = seen === '' ? emptyRecord : JSON.parse(seen)
  const isNew = JSON.stringify(extended(before, shape)) !== seen
  const names = indexesOf(shape).map(({ name }) => name)
  const states = names.length === 0 ? [] : listOf(await run(readStates, [keys.schema], names))
  const unbuilt = names.filter((_, at) => states[at] !== 'ready')
  return [
    ...(isNew ? [`${shape.name}/schema`] : []),
    ...unbuilt.map((name) => `${shape.name}/index/${name}`),
  ].map((name) => ({ name, statement: null, blocks: 0 }))
}

async function extendSchema(run: Run, { shape, keys }: Place): Promise<void> {
  for (let tries = 0; tries < mostTries; tries++) {
    const [seen = ''] = listOf(await run(readSchema, [keys.schema], []))
    // Written by `replaceSchema` alone.
    const before: SchemaRecord = seen === '' ? emptyRecord : JSON.parse(seen)
    const after = extended(before, shape)
    const text = JSON.stringify(after)
    if (text === seen) return
    const required = requiredFields(before, after)
    const added = after.indexes.slice(before.indexes.length).map(({ name }) => name)
    const mayFill = required.length > 0 ? 'empty' : ''
    const args = [seen, text, layoutOf(after), mayFill, ...added]
    const answer = await run(replaceSchema, [keys.schema, keys.expiries], args)
    if (answer === 'stored') return
    if (answer === 'filled') {
      throw new Error(
        `redis: "${required.join('", "')}", new in collection "${shape.name}", must be nullable or ` +
          'have a default: there are documents without it',
      )
    }
  }
  throw new Error(`redis: the schema of "${shape.name}" does not stop changing`)
}

async function buildIndex(run: Run, { shape, keys }: Place, index: NamedIndex): Promise<void> {
  const clashes = new Map<string, string>()
  let cursor = '0'
  do {
    const [next = '0', ...ids] = listOf(await run(scanIds, [keys.expiries], [cursor]))
    const places = [keys.schema, keys.unique, keys.indexed, ...ids.map(keys.document)]
    const found = listOf(await run(indexRows, places, [index.name, ...ids]))
    for (let at = 0; at < found.length; at += 2) clashes.set(found[at] ?? '', found[at + 1] ?? '')
    cursor = next
  } while (cursor !== '0')
  if (clashes.size > 0) throw new Error(clashText(shape.name, index, clashes))
  await run(markReady, [keys.schema], [index.name])
}

const mostNamed = 5

/** Ids alone: what they have in common may be an address. */
function clashText(name: string, index: NamedIndex, clashes: ReadonlyMap<string, string>): string {
  const pairs = [...clashes].slice(0, mostNamed).map((pair) => {
    return pair.map((id) => JSON.stringify(id)).join(' and ')
  })
  const more = clashes.size > mostNamed ? ', …' : ''
  return (
    `redis: documents of "${name}" are not unique by (${index.on.join(', ')}); ${clashes.size} too ` +
    `many: ${pairs.join(', ')}${more}. Change or remove one of each pair, by the version that ` +
    'serves, and prepare again; until then they cannot become more, and the index is not used'
  )
}

/**
 * A server that throws away what it likes when its memory is full would forget revocations and
 * counts. Asked by `INFO`, which hosted servers leave their users, unlike `CONFIG`.
 */
export async function refuseEviction(commands: Commands, assumed: boolean): Promise<void> {
  let replies: readonly unknown[]
  try {
    replies = await commands.sendToAll(['info', 'memory'])
  } catch (error) {
    // The client, not the server.
    if (error instanceof TypeError) throw error
    if (!isRefusal(error)) {
      throw new Error(
        'redis: the server could not be asked for its "maxmemory-policy"; is the client connected, and ' +
          'the server reachable?',
        { cause: error },
      )
    }
    if (assumed) return
    throw new Error(
      'redis: the server does not tell its "maxmemory-policy" (INFO memory failed); allow this user ' +
        'INFO, or see for yourself that it is "noeviction" and pass { assumeNoEviction: true }',
      { cause: error },
    )
  }
  for (const reply of replies) {
    const policy = /^maxmemory_policy:([a-z-]+)/m.exec(String(reply))?.[1]
    if (policy === undefined && assumed) continue
    if (policy !== 'noeviction') {
      throw new Error(
        `redis: option "maxmemory-policy" of the server must be "noeviction": "${policy}" lets it ` +
          'forget who is signed out; set it by CONFIG SET maxmemory-policy noeviction',
      )
    }
  }
}

/** An answer that says no, as opposed to none at all. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && /^(NOPERM|ERR)\b/.test(error.message)
}

/** What `prepare` has learnt of a collection from every version that prepared it. */
export interface SchemaRecord {
  readonly fields: Readonly<Record<string, RecordedField>>
  readonly indexes: readonly NamedIndex[]
}

interface RecordedField {
  readonly kind: FieldKind
  readonly nullable: boolean
  /** As text; absent without one. */
  readonly default?: string
}

const emptyRecord: SchemaRecord = { fields: {}, indexes: [] }

/**
 * The record with what a shape declares beyond it; the very same text when that is nothing. Nothing
 * is ever taken out: replicas of an older version may still be at work, and what a newer one added
 * is kept by them too. Throws when the shape contradicts the record.
 */
function extended(record: SchemaRecord, shape: Shape): SchemaRecord {
  const fields: Record<string, RecordedField> = { ...record.fields }
  for (const column of shape.columns.values()) {
    if (column.name === 'id') continue
    const known = fields[column.name]
    if (known) refuseOther(shape, column, known)
    fields[column.name] = { ...fieldOf(column), ...known }
  }
  const known = new Set(record.indexes.map(({ name }) => name))
  const added = indexesOf(shape).filter(({ name }) => !known.has(name))
  return { fields, indexes: [...record.indexes, ...added] }
}

/** Fields that documents stored already could not have. */
function requiredFields(before: SchemaRecord, after: SchemaRecord): readonly string[] {
  return Object.entries(after.fields)
    .filter(([name, field]) => !(name in before.fields) && isRequired(field))
    .map(([name]) => name)
}

/** The part that the scripts read at every write. */
function layoutOf({ fields, indexes }: SchemaRecord): string {
  const defaults = Object.entries(fields).flatMap(([name, { default: text }]) => {
    return text === undefined ? [] : [[name, text] as const]
  })
  const required = Object.entries(fields).filter(([, field]) => isRequired(field))
  return JSON.stringify({
    indexes,
    defaults: Object.fromEntries(defaults),
    required: required.map(([name]) => name),
  })
}

function isRequired({ nullable, default: text }: RecordedField): boolean {
  return !nullable && text === undefined
}

function fieldOf(column: Column): RecordedField {
  const { kind, nullable } = column
  if (column.default === undefined) return { kind, nullable }
  return { kind, nullable, default: textOf(column.default) }
}

function refuseOther(shape: Shape, column: Column, known: RecordedField): void {
  const wanted = fieldOf(column)
  const refuse = (was: string, is: string): never => {
    throw new Error(
      `redis: "${column.name}" of collection "${shape.name}" was prepared as ${was}, but is now ` +
        `declared as ${is}; give the field a new name instead`,
    )
  }
  if (known.kind !== wanted.kind || known.nullable !== wanted.nullable) {
    refuse(described(known), described(wanted))
  }
  // Documents without the field are indexed by the default they had until now.
  const { default: was } = known
  if (was !== undefined && wanted.default !== undefined && was !== wanted.default) {
    refuse(`${described(known)} with another default`, `${described(wanted)} with this one`)
  }
}

function described({ kind, nullable }: RecordedField): string {
  return nullable ? `"${kind}, nullable"` : `"${kind}"`
}
