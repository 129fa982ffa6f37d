import { errorCatalogue } from '../../src/errors/index.js'
import { errorCodesOf } from '../../src/openapi/error-codes.js'
import type { JsonSchema, OpenApiDocument } from '../../src/openapi/types.js'
import type { Guard, Operation } from '../../src/operations/operation.js'
import { type DescribedOperation, describeOperations } from './described-operation.js'
import { type Member, membersOf, typeText, variantsOf } from './shapes.js'

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
