import { errorCatalogue } from '../../src/errors/index.js'
import { errorCodesOf } from '../../src/openapi/problems.js'
import type { JsonSchema, OpenApiDocument } from '../../src/openapi/types.js'
import type { Guard, Operation } from '../../src/operations/operation.js'
import {
  type DescribedOperation,
  describeOperations,
  type Member,
  membersOf,
  typeText,
  variantsOf,
} from './schemas.js'

export interface ContractChanges {
  /** What callers relied on and is not so any more, or what they must send now and did not before. */
  readonly broken: readonly string[]
  readonly added: readonly string[]
}

/** Tells what may be released within `/v1/` (G-19) from what may not. */
export function contractChanges(
  before: readonly string[],
  after: readonly string[],
): ContractChanges {
  const known = new Set(before)
  const kept = new Set(after)
  const gone = before.filter((entry) => !kept.has(entry))
  const fresh = after.filter((entry) => !known.has(entry))
  const owners = new Set(before.map(ownerOf))
  const demanded = fresh.filter((entry) => {
    const form = demandedBy(entry)
    // A new operation, or a new form of a body beside the others, asks nothing of who calls already.
    return form !== null && owners.has(ownerOf(entry)) && (!form.includes('{') || known.has(form))
  })
  return {
    broken: [
      ...gone.map((entry) => `gone or changed: ${entry}`),
      ...demanded.map((entry) => `newly demanded: ${entry}`),
    ],
    added: fresh.filter((entry) => !demanded.includes(entry)),
  }
}

function ownerOf(entry: string): string {
  return entry.slice(0, entry.indexOf(':'))
}

/** `login: takes`, where the entry is a member that has to be sent; null for any other entry. */
function demandedBy(entry: string): string | null {
  return /^(\w+: takes(?: \{[^}]*\})?) [^?{:]+: /.exec(entry)?.[1] ?? null
}

/**
 * What callers may rely on, a line for each path, member and code: `login: POST /v1/auth/client/login`,
 * `login: takes email: string`, `login: 200 Authenticated`, `login: 401 invalid_credentials`. A member
 * with a question mark may be left out.
 */
export function contractEntries(
  operations: readonly Operation[],
  document: OpenApiDocument,
): readonly string[] {
  const entries = describeOperations(operations, document).flatMap((described) =>
    [
      ...described.paths.map((path) => `${described.row.method} ${path}`),
      `for ${described.row.guards.map(guardText).join(', ')}`,
      ...clientEntries(described),
      ...takenEntries(described),
      ...givenEntries(described),
      ...errorCodesOf(described.row).map((code) => `${errorCatalogue[code].status} ${code}`),
      ...(described.row.redirectErrors ?? []).map((code) => `?error=${code}`),
    ].map((entry) => `${described.row.id}: ${entry}`),
  )
  return [...entries, ...shapeEntries(document)]
}

function shapeEntries({ paths, components }: OpenApiDocument): readonly string[] {
  const bodies = Object.values(paths).flatMap((item) =>
    Object.values(item).map(({ requestBody }) => requestBody),
  )
  const sent = JSON.stringify(bodies)
  return Object.entries(components.schemas).flatMap(([name, schema]) => {
    if (isProblem(name)) return []
    const owner = sent.includes(`/schemas/${name}"`) ? `${name}: takes` : `${name}:`
    return membersOf(schema).map((member) => `${owner} ${memberText(member)}`)
  })
}

/** Problems are all alike but for the code, which is an entry of each operation. */
const isProblem = (name: string): boolean => name.endsWith('Problem')

function guardText(guard: Guard): string {
  if (guard.kind === 'permission') return `permission ${guard.key}`
  if (guard.kind !== 'stepUp') return guard.kind
  return ['stepUp', guard.maxAgeMs, guard.where].filter((part) => part !== undefined).join(' ')
}

function memberText({ path, required, type }: Member): string {
  return `${path}${required ? '' : '?'}: ${type}`
}

/** How a client authenticates at a token endpoint; elsewhere the guards say it. */
function clientEntries({ operation, row }: DescribedOperation): readonly string[] {
  if (!row.oauth2) return []
  const [first, ...others] = operation.security.flatMap((one) => Object.keys(one))
  const isOptional = operation.security.some((one) => Object.keys(one).length === 0)
  return [`by ${[first, ...others].join(', ')}${isOptional ? ', or the form' : ''}`]
}

function takenEntries({ operation }: DescribedOperation): readonly string[] {
  const { parameters = [], requestBody } = operation
  const outside = parameters
    .filter(({ in: where }) => where === 'query' || where === 'header')
    .map(({ in: where, name, required, schema }) => {
      return `takes ${where} ${name}${required ? '' : '?'}: ${typeText(schema)}`
    })
  const bodies = Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema }]) => [
    `takes ${type}${requestBody?.required ? '' : '?'}`,
    ...bodyEntries('takes', schema),
  ])
  return [...outside, ...bodies]
}

function givenEntries({ row, answer }: DescribedOperation): readonly string[] {
  const { headers = {}, content = {} } = answer
  return [
    `${row.status}`,
    ...(row.cookies?.sets ?? []).map((what) => `${row.status} cookie ${what}`),
    ...Object.entries(headers)
      .filter(([name]) => name !== 'Set-Cookie')
      .map(([name, { schema }]) => `${row.status} header ${name}: ${typeText(schema)}`),
    ...Object.values(content).flatMap(({ schema }) => bodyEntries(`${row.status}`, schema)),
  ]
}

function bodyEntries(prefix: string, schema: JsonSchema): readonly string[] {
  return variantsOf(schema).flatMap(({ label, members }) => {
    const form = label === '' ? prefix : `${prefix} {${label}}`
    const own = (members ?? []).map((member) => `${form} ${memberText(member)}`)
    return label === '' ? own : [form, ...own]
  })
}
