import type { DriverCall } from '../shared/through.js'

/** How a statement, a script or a command's name begins; keys and values look different. */
const statements =
  /^\s*(--|\(|select|insert|update|delete|with|merge|replace|begin|start|commit|rollback|savepoint|release|set|local|return|if)\b/i
const commandName = /^[A-Z]{2,16}$/
const longest = 160
const mostFields = 5
const mostOfResult = 20

/**
 * A call of a driver for people to read: statements with their literals struck out, and of every
 * value only its shape, since a host's own tests may hold real keys and tokens.
 */
export function describeCall({ madeBy, name, args }: DriverCall): string {
  const own = `${name}(${args.map(describeArgument).join(', ')})`
  if (madeBy === null) return own
  // Only a statement tells anything of the call that made the object: `prepare("select …").get(…)`.
  const [made = ''] = madeBy.args.map(describeArgument)
  return `${madeBy.name}${made.startsWith('"') ? `(${made})` : ''}.${own}`
}

function describeArgument(value: unknown, at: number): string {
  if (at === 0 && typeof value === 'string') return statementIn(value) ?? shapeOf(value)
  return statementOf(value) ?? shapeOf(value)
}

function statementIn(text: string): string | null {
  return statements.test(text) || commandName.test(text) ? statement(text) : null
}

/** The statement of an object such as `{ sql, values }` or `{ text, values }`; null where there is none. */
function statementOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null
  for (const name of ['sql', 'text']) {
    const text: unknown = Reflect.get(value, name)
    if (typeof text === 'string' && statements.test(text)) return statement(text)
  }
  return null
}

/** SQL, or a command such as `HSETNX`, without what was written into it. */
function statement(text: string): string {
  const bare = text
    .replace(/'(?:[^']|'')*'/g, "'…'")
    .replace(/\s+/g, ' ')
    .trim()
  return JSON.stringify(bare.length > longest ? `${bare.slice(0, longest)}…` : bare)
}

/** `text(5)`, `number`, `true`, `{ _id: text(3), count: number }`, `[3 × text(7)]`. */
export function shapeOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return `text(${value.length})`
  if (typeof value === 'boolean') return String(value)
  if (typeof value !== 'object' || value === null) return value == null ? `${value}` : typeof value
  if (ArrayBuffer.isView(value)) return `bytes(${value.byteLength})`
  if (Array.isArray(value)) return shapeOfList(value, depth)
  const entries = Object.entries(value)
  // A connection or a pool, not a result.
  if (entries.length > mostOfResult) return value.constructor?.name || 'object'
  if (depth > 1 || entries.length === 0) return entries.length === 0 ? '{}' : '{…}'
  const shown = entries.slice(0, mostFields)
  const rest = entries.length > mostFields ? ', …' : ''
  return `{ ${shown.map(([key, inner]) => `${key}: ${shapeOf(inner, depth + 1)}`).join(', ')}${rest} }`
}

function shapeOfList(list: readonly unknown[], depth: number): string {
  if (list.length === 0) return '[]'
  return `[${list.length} × ${shapeOf(list[0], depth + 1)}]`
}
