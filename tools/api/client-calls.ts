import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { errorCatalogue, passwordViolations } from '../../src/errors/index.js'
import type { JsonSchema, OpenApiDocument } from '../../src/openapi/types.js'
import type { Operation, Tag } from '../../src/operations/operation.js'
import {
  type DescribedOperation,
  describeOperations,
  memberTexts,
  shapeOf,
  typeScriptOf,
} from './schemas.js'

type Shapes = ReadonlyMap<string, JsonSchema>

const notice = '// Made by `npm run generate` from the operation table.\n\n'

/** What neither pages nor apps call, beside what browsers send, and what the client itself does. */
const notCalled = ['getJwks', 'issueServiceToken', 'refresh']

function isCalled({ id, status, bodyForm, usesRefreshCookie }: Operation): boolean {
  const isRefresh = usesRefreshCookie === 'one'
  return !(status === 302 || bodyForm === true || isRefresh || notCalled.includes(id))
}

/** What a browser has as cookies and an app as members of bodies. */
const keptNames = ['recognitionId', 'deviceToken', 'registrationKey', 'signInKey', 'codeKey']

const interfaceNames: Readonly<Record<Tag, string>> = {
  Authentication: 'Authentication',
  MFA: 'Mfa',
  WebAuthn: 'Passkey',
  'Auth - Device Trust': 'Device',
  'Service Accounts': 'ServiceAccount',
  Mobile: 'Mobile',
  'Self-Service': 'SelfService',
  'Module Configuration': 'Configuration',
}

/** The generated files below `src/client`, by name. They still have to be formatted. */
export function clientTypes(
  operations: readonly Operation[],
  document: OpenApiDocument,
): ReadonlyMap<string, string> {
  const described = describeOperations(operations.filter(isCalled), document)
  const tags = document.tags
    .map(({ name }) => name)
    .filter((name): name is Tag => name in interfaceNames)
  const files = tags.flatMap((tag) => {
    const own = described.filter(({ row }) => row.tag === tag)
    return own.length === 0 ? [] : [{ tag, name: `${interfaceNames[tag]}Calls`, own }]
  })
  const shapes = new Map(
    Object.entries(document.components.schemas).filter(([name]) => !name.endsWith('Problem')),
  )
  return new Map([
    ['problem-codes.ts', problemCodes()],
    ['ending-codes.ts', endingCodes()],
    ['kept-inputs.ts', keptInputs(described, shapes)],
    ['calls/shapes.ts', shapeFile(shapes)],
    ...files.map(({ name, own }) => {
      const text = callFile(name, own, shapes)
      return [`calls/${fileName(name)}.ts`, text] as const
    }),
    ['calls.ts', indexFile(files)],
  ])
}

const fileName = (name: string): string =>
  name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`).toLowerCase()

/** Codes by which the server says that a session is over. */
const endings = Object.entries(errorCatalogue)
  .filter(([code, { status }]) => status === 401 && /^(session|refresh_token)_/.test(code))
  .map(([code]) => code)

function endingCodes(): string {
  return `${notice}/** A 401 with one of these says that the session is over. */
export const endingCodes: readonly string[] = ${JSON.stringify(endings)}\n`
}

function problemCodes(): string {
  const codes = Object.keys(errorCatalogue).filter((code) => code !== 'unauthorized')
  return `${notice}/** The codes that refusals of the library have. */
export type ProblemCode = ${unionOf(codes)}

/** A rule of the password policy that a password did not meet. */
export type PasswordViolation = ${unionOf(passwordViolations)}\n`
}

const unionOf = (names: readonly string[]): string =>
  names.map((name) => `| ${JSON.stringify(name)}`).join('\n')

function shapeFile(shapes: Shapes): string {
  const texts = [...shapes].map(([name, schema]) => {
    const doc = `/** The shape \`${name}\` of the reference. */`
    const members = memberTexts(schema)
    if (members.length === 0) return `${doc}\nexport type ${name} = ${typeScriptOf(schema)}`
    return `${doc}\nexport interface ${name} { ${members.join('\n')} }`
  })
  const unions = sharedUnions.map(
    ({ name, what, of }) => `/** ${what} */\nexport type ${name} = ${of.join(' | ')}`,
  )
  return `${notice}${[...texts, ...unions].join('\n\n')}\n`
}

const unfinished = ['PasswordChangeRequired', 'MfaRequired', 'MfaEnrollmentRequired']
const logins = ['Authenticated', 'MobileAuthenticated', ...unfinished]

/** What many replies may be, named once: the widest first. */
const sharedUnions = [
  {
    name: 'LoginReply',
    what: 'What a login leads to, in a browser or in an app.',
    of: ['Authenticated', 'MobileAuthenticated', 'UnfinishedLogin'],
    all: logins,
  },
  {
    name: 'UnfinishedLogin',
    what: 'What a login has to go on with.',
    of: unfinished,
    all: unfinished,
  },
]

function callFile(name: string, own: readonly DescribedOperation[], shapes: Shapes): string {
  const shared = own.filter(({ row }) => row.surfaces.length > 1)
  const operator = own.filter(({ row }) => row.surfaces.length === 1)
  const parts = [
    ...(shared.length === 0 ? [] : [interfaceText(name, 'both surfaces', shared, shapes)]),
    ...(operator.length === 0
      ? []
      : [interfaceText(`Operator${name}`, 'the operator surface', operator, shapes)]),
  ].join('\n\n')
  const named = [...shapes.keys(), ...sharedUnions.map(({ name: union }) => union)]
  const used = named.filter((shape) =>
    new RegExp(`\\b${shape}\\b(?!\`)`).test(parts.replaceAll(/\/\*\*.*\*\//g, '')),
  )
  const shown = used.length === 0 ? '' : `\nimport type { ${used.join(', ')} } from './shapes.js'`
  const imports = `import type { Call } from './call.js'${shown}\n\n`
  return `${notice}${imports}${parts}\n`
}

function interfaceText(
  name: string,
  where: string,
  own: readonly DescribedOperation[],
  shapes: Shapes,
): string {
  const members = own.map((each) => callText(each, shapes)).join('\n')
  return `/** Operations of ${where}, by method and path. */\nexport interface ${name} {\n${members}\n}`
}

/** How a call names its operation. */
function callName({ method, path }: DescribedOperation['row']): string {
  const below = '/v1/auth/{surface}'
  return `${method} ${path.startsWith(`${below}/`) ? path.slice(below.length) : path}`
}

/** Which calls take what an app keeps. */
function keptInputs(described: readonly DescribedOperation[], shapes: Shapes): string {
  const lines = described.flatMap(({ row, operation }) => {
    const own = namesIn(operation.requestBody?.content['application/json']?.schema ?? {}, shapes)
    const kept = keptNames.filter((name) => own.includes(name))
    return kept.length === 0 ? [] : [`${JSON.stringify(callName(row))}: ${JSON.stringify(kept)},`]
  })
  return `${notice}/** What an app keeps and sends with these calls, where a browser has cookies. */
export const keptInputs: Readonly<Record<string, readonly string[]>> = {\n${lines.join('\n')}\n}\n`
}

function callText({ row, operation, answer }: DescribedOperation, shapes: Shapes): string {
  const { parameters = [], requestBody } = operation
  const outside = parameters.filter(({ in: where }) => where === 'path' || where === 'query')
  const body = requestBody?.content['application/json']?.schema ?? {}
  const beside = outside.map(({ name, required, schema }) => ({ name, required, schema }))
  const own = namesIn(body, shapes)
  const twice = beside.find(({ name }) => own.includes(name))
  if (twice) throw new Error(`${row.id}: "${twice.name}" is in the path and in the body`)
  const reply = answer.content?.['application/json']?.schema
  const answered = reply === undefined ? 'null' : replyText(reply, shapes)
  return `/** ${row.summary}. */
  readonly '${callName(row)}': Call<${inputText(body, beside)}, ${answered}>`
}

/** The forms of a reply: those that add the same to the shapes of a login stand together. */
function replyText(schema: JsonSchema, shapes: Shapes): string {
  const { anyOf } = schema
  const forms: readonly JsonSchema[] = Array.isArray(anyOf) ? anyOf : [schema]
  const parts = forms.map((form) => loginPart(form, shapes))
  const others = parts.flatMap(({ name, rest }) => (name === '' ? [rest] : []))
  const named = parts.filter(({ name }) => name !== '')
  const texts = [...new Set(named.map(({ rest }) => rest))].map((added) => {
    const same = named.filter(({ rest }) => rest === added)
    const union = withUnions(same.map(({ name }) => name)).join(' | ')
    return added === '' ? union : `(${union}) & ${added}`
  })
  return [...others, ...texts].join(' | ')
}

/** The shape of a login that a form has all members of, and the rest of it as a type; empty for neither. */
function loginPart(form: JsonSchema, shapes: Shapes) {
  const name = shapeOf(form)
  if (name !== null) return { name, rest: '' }
  const own = Object.entries(Object(form['properties']))
  const membersIn = (shape: string) => Object.entries(Object(shapes.get(shape)?.['properties']))
  const texts = new Map(own.map(([key, value]) => [key, JSON.stringify(value)]))
  const isWhole = (shape: string) =>
    membersIn(shape).every(([key, value]) => texts.get(key) === JSON.stringify(value))
  const [base = ''] = logins
    .filter(isWhole)
    .sort((a, b) => membersIn(b).length - membersIn(a).length)
  if (base === '') return { name: '', rest: typeScriptOf(form) }
  const known = new Set(membersIn(base).map(([key]) => key))
  const properties = Object.fromEntries(own.filter(([key]) => !known.has(key)))
  return { name: base, rest: typeScriptOf({ ...form, properties }) }
}

/** The same names, where all of a union are among them by its own. */
function withUnions(names: readonly string[]): readonly string[] {
  const union = sharedUnions.find(({ all }) => all.every((one) => names.includes(one)))
  if (union === undefined) return names
  return [...names.filter((one) => !union.all.includes(one)), union.name]
}

/** The members of a body, in whichever of its forms. */
function namesIn(schema: JsonSchema, shapes: Shapes): readonly string[] {
  const { properties, anyOf } = schema
  const shape = shapes.get(shapeOf(schema) ?? '')
  const forms: readonly JsonSchema[] = Array.isArray(anyOf) ? anyOf : []
  return [
    ...Object.keys(Object(properties)),
    ...[...(shape ? [shape] : []), ...forms].flatMap((form) => namesIn(form, shapes)),
  ]
}

function inputText(
  body: JsonSchema,
  beside: readonly { name: string; required?: boolean | undefined; schema: JsonSchema }[],
): string {
  const texts = beside.map(({ name, required, schema }) => {
    return `readonly ${name}${required ? '' : '?'}: ${typeScriptOf(schema)}`
  })
  const outer = texts.length === 0 ? '' : `{ ${texts.join('; ')} }`
  const inner = Object.keys(body).length === 0 ? '' : typeScriptOf(body)
  if (outer !== '' && inner.startsWith('{')) {
    return `{ ${[...texts, ...memberTexts(body)].join('; ')} }`
  }
  const isUnion = inner.includes(' | ')
  const parts = [outer, isUnion && outer !== '' ? `(${inner})` : inner].filter(Boolean)
  return parts.length === 0 ? 'Readonly<Record<string, never>>' : parts.join(' & ')
}

function indexFile(
  files: readonly {
    readonly tag: Tag
    readonly name: string
    readonly own: readonly DescribedOperation[]
  }[],
): string {
  const has = (count: number) =>
    files.filter(({ own }) => own.some(({ row }) => (row.surfaces.length > 1 ? 2 : 1) === count))
  const shared = has(2).flatMap(({ tag, name }) => (tag === 'Mobile' ? [] : [name]))
  const operator = has(1).map(({ name }) => `Operator${name}`)
  const imports = files.map(({ name }) => {
    const names = [name, `Operator${name}`].filter((one) =>
      ['MobileCalls', ...shared, ...operator].includes(one),
    )
    return `import type { ${names.join(', ')} } from './calls/${fileName(name)}.js'`
  })
  return `${notice}${imports.join('\n')}
export type * from './calls/shapes.js'

/** What pages of the client surface may call. */
export interface ClientCalls extends ${shared.join(', ')} {}

/** What pages of the operator surface may call. */
export interface OperatorCalls extends ${[...shared, ...operator].join(', ')} {}

/** The operations by surface. */
export interface Calls {
  readonly client: ClientCalls
  readonly operator: OperatorCalls
}

/** What apps call, by surface: logins give the refresh token in the body, and not as a cookie. */
export interface AppCalls {
  readonly client: Omit<ClientCalls, 'POST /login'> & MobileCalls
  readonly operator: Omit<OperatorCalls, 'POST /login'> & MobileCalls
}
`
}

const biome = fileURLToPath(new URL('../../node_modules/@biomejs/biome/bin/biome', import.meta.url))

/** A source as the formatter leaves it. `path` is that of the file it is for. */
export function formatted(path: string, source: string): string {
  const form = ['check', '--write', `--stdin-file-path=${path}`]
  return execFileSync(process.execPath, [biome, ...form], { input: source, encoding: 'utf8' })
}
