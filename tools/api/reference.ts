import ts from 'typescript'
import { markdownTable } from '../../bench/harness/text-table.js'
import type { FieldDeclaration } from '../../src/engine/configuration/config-declaration.js'
import { type ErrorCode, errorCatalogue } from '../../src/errors/index.js'
import { bearerCodes, bodyCodes, commonCodes, errorCodesOf } from '../../src/openapi/problems.js'
import type { OpenApiDocument } from '../../src/openapi/types.js'
import type { Guard, Operation } from '../../src/operations/operation.js'
import { authSettingDeclarations, findSetting } from '../../src/settings/settings.js'
import {
  type DescribedOperation,
  describeOperations,
  type Member,
  membersOf,
  ruleRows,
  sentTexts,
  typeText,
  variantsOf,
} from './schemas.js'

const introduction = `# Reference

Every operation of the HTTP API, made by \`npm run generate\` from the table that serves them.
\`openApiDocument()\` of \`postern/openapi\` gives the same as an OpenAPI 3.1 document, for generators of
clients. The paths are those below the mount prefix; \`{surface}\` is \`operator\` or \`client\`.

- Bodies are JSON with \`Content-Type: application/json\`, 64 KiB at most. A member that is not listed is
  refused. [Texts](#texts) says what each text has to be. Replies are JSON too, and may have more members with any later
  release.
- An access token is sent as \`Authorization: Bearer …\`. Names of cookies begin with \`__Host-op_\` or
  \`__Host-cl_\`, by surface, on https without a cookie domain; see [cookies](hosts.md#cookies).
- Times are ISO 8601 in UTC; \`expiresIn\` is in seconds.
- A refusal is \`application/problem+json\`: \`{ status, title, detail, code }\`. Decide by \`code\`;
  \`detail\` is for people and may change. See [errors](#errors).
- A limit named here is the rows of the page on [limits](limits.md) that begin with the name: \`recovery\` is
  \`recoveryPerIp\` and \`recoveryPerAddress\`.
- Operation ids in the OpenAPI document begin with the surface where both have the operation: \`operatorLogin\`,
  \`clientLogin\`.

`

/** The Markdown page of all operations, by tag, with the shapes and the errors that they share. */
export function referencePage(operations: readonly Operation[], document: OpenApiDocument): string {
  const described = describeOperations(operations, document)
  const shapes = Object.entries(document.components.schemas)
    .filter(([name]) => !name.endsWith('Problem'))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const names = shapes.map(([name]) => name)
  const tags = document.tags.map(({ name, description }) => {
    const own = described.filter(({ row }) => row.tag === name)
    return { name, description, own }
  })
  const contents = tags.map(({ name, own }) => {
    const links = own.map(({ row }) => `[${row.id}](#${row.id.toLowerCase()})`)
    return `- **[${name}](#${anchorOf(name)})**: ${links.join(', ')}`
  })
  const sections = tags.map(({ name, description, own }) =>
    [`## ${name}`, description, ...own.map((each) => operationSection(each, names))].join('\n\n'),
  )
  const shapeSections = shapes.map(([name, schema]) =>
    [`### ${name}`, memberTable(membersOf(schema), names)].join('\n\n'),
  )
  return `${[
    `${introduction}${contents.join('\n')}\n- **[Texts](#texts)**, **[Shapes](#shapes)**, **[Errors](#errors)**`,
    ...sections,
    textSection(ruleRows(sentTexts(described, document))),
    ['## Shapes', 'What several operations take or give.', ...shapeSections].join('\n\n'),
    errorSection(),
  ].join('\n\n')}\n`
}

function textSection(rules: ReturnType<typeof ruleRows>): string {
  return [
    '## Texts',
    'What a text has to be, beyond the length and the form that the tables say. Any other is refused with 400 or 422, or\nfits nothing that is stored.',
    markdownTable(['member or parameter', 'rule'], rules),
  ].join('\n\n')
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-')
}

function operationSection(
  { row, operation, answer }: DescribedOperation,
  names: readonly string[],
): string {
  const aliases =
    row.unprefixedPath === undefined ? '' : `, or \`${row.method} ${row.unprefixedPath}\``
  const path = row.surfaces.length > 1 ? row.path : row.path.replace('{surface}', 'operator')
  return [
    `### ${row.id}`,
    `\`${row.method} ${path}\`${aliases}`,
    `${row.summary}.`,
    ...(row.deprecated === undefined ? [] : [deprecation(row.deprecated)]),
    facts(row),
    ...parameterTable(operation, names),
    ...requestSection(operation, names),
    replySection(row, answer, names),
    errorLine(row),
  ].join('\n\n')
}

function deprecation({ since, sunset }: NonNullable<Operation['deprecated']>): string {
  const end = sunset === undefined ? '' : `, and expected to be gone at ${sunset}`
  return `**Deprecated** since ${since}${end}.`
}

function facts(row: Operation): string {
  const { reads = [], sets = [] } = row.cookies ?? {}
  return [
    `- For ${row.guards.map((guard) => guardText(guard, row)).join(', ')}`,
    ...(row.surfaces.length > 1 ? [] : ['- On the operator surface alone']),
    ...(reads.length > 0 ? [`- Cookies it reads: ${reads.map(cookieText).join(', ')}`] : []),
    ...(sets.length > 0 ? [`- Cookies it may set: ${sets.map(cookieText).join(', ')}`] : []),
    `- Limit: \`${row.limit}\``,
  ].join('\n')
}

const cookieText = (what: string): string =>
  `\`…_${what}${what.startsWith('oauth') ? '_{flow}' : ''}\``

/** Who may call. */
function guardText(guard: Guard, row: Operation): string {
  switch (guard.kind) {
    case 'public':
      return publicText(row)
    case 'bearer':
      return 'people who are signed in'
    case 'bearerOrTicket':
      return 'people who are signed in, or have the ticket of a login that lacks a factor (`mfaToken`)'
    case 'principal':
      // A service account has no factor to show.
      return row.guards.some((other) => other.kind === 'stepUp' && other.where === undefined)
        ? 'operators who are signed in'
        : 'operators who are signed in, and service accounts'
    case 'permission':
      return `with the permission \`${guard.key}\``
    case 'stepUp':
      return proofText(guard)
    case 'origin':
      return guard.navigation
        ? 'from pages of the surface or by a link from anywhere'
        : 'from pages of the surface or from no browser'
  }
}

function publicText({ usesRefreshCookie, access, ...row }: Operation): string {
  if (!usesRefreshCookie) return 'any caller'
  const isOneOfSeveral = access === 'public' && 'bearer' in row && row.bearer === 'credential'
  return isOneOfSeveral
    ? 'callers with an access token, the refresh cookie or a refresh token'
    : 'callers with the refresh cookie'
}

function proofText({ maxAgeMs, where }: Extract<Guard, { readonly kind: 'stepUp' }>): string {
  const proof = `with a second-factor proof younger than ${ageText(maxAgeMs)}`
  return where === undefined ? proof : `people ${proof} where the host set \`${where}\``
}

function ageText(maxAgeMs: number | undefined): string {
  return maxAgeMs === undefined ? 'the setting `stepUpMaxAge`' : `${maxAgeMs / 60_000} minutes`
}

function parameterTable(
  { parameters = [] }: DescribedOperation['operation'],
  names: readonly string[],
): readonly string[] {
  const shown = parameters.filter(({ in: where }) => where === 'query' || where === 'header')
  if (shown.length === 0) return []
  const rows = shown.map(({ in: where, name, required = false, schema }) => {
    return [`\`${name}\``, where, typeCell(typeText(schema), names), required ? 'yes' : '']
  })
  return [markdownTable(['parameter', 'in', 'type', 'required'], rows)]
}

function requestSection(
  { requestBody }: DescribedOperation['operation'],
  names: readonly string[],
): readonly string[] {
  return Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema }]) => {
    const form = type === 'application/json' ? '' : ` as \`${type}\``
    const lead = `Takes${requestBody?.required ? '' : ', if anything'}${form}`
    if (form !== '') return [`${lead} what the provider sends.`]
    return bodyForms(lead, variantsOf(schema), names, 'required')
  })
}

function replySection(
  row: Operation,
  { headers = {}, content = {} }: DescribedOperation['answer'],
  names: readonly string[],
): string {
  const told = Object.keys(headers).filter((name) => name !== 'Set-Cookie')
  const withHeaders =
    told.length === 0 ? '' : ` with ${told.map((name) => `\`${name}\``).join(', ')}`
  const lead = `Gives **${row.status}**${withHeaders}`
  const body = content['application/json']
  if (body !== undefined) return bodyForms(lead, variantsOf(body.schema), names).join('\n\n')
  const errors = (row.redirectErrors ?? []).map((code) => `\`${code}\``)
  const outcome =
    errors.length === 0
      ? ''
      : ` What goes wrong is told to the page as \`?error=\`: ${errors.join(', ')}.`
  return `${lead}, without a body.${outcome}`
}

function bodyForms(
  lead: string,
  variants: ReturnType<typeof variantsOf>,
  names: readonly string[],
  always?: string,
): readonly string[] {
  const [only, ...others] = variants
  if (only !== undefined && others.length === 0) {
    if (only.members === null) return [`${lead}: ${typeCell(only.label, names)}`]
    return [`${lead}:`, memberTable(only.members, names, always)]
  }
  const named = variants.filter(({ members }) => members === null)
  const links = named.map(({ label }) => typeCell(label, names))
  const inline = variants.flatMap(({ label, members }) =>
    members === null ? [] : [`\`${label}\`:`, memberTable(members, names, always)],
  )
  const list = [...links, ...(inline.length > 0 ? ['what follows'] : [])]
  return [`${lead}, one of: ${list.join(', ')}`, ...inline]
}

function memberTable(
  members: readonly Member[],
  names: readonly string[],
  always = 'always',
): string {
  const rows = members.map(({ path, required, type }) => {
    return [`\`${path}\``, typeCell(type, names), required ? 'yes' : '']
  })
  return markdownTable(['member', 'type', always], rows)
}

/** Names of shapes become links, expressions code. */
function typeCell(type: string, names: readonly string[]): string {
  const readable = type.replaceAll(' | ', ' or ')
  const [plain = '', pattern] = readable.split(' like ')
  const linked = plain.replaceAll(/\b[A-Z]\w+\b/g, (word) =>
    names.includes(word) ? `[${word}](#${word.toLowerCase()})` : word,
  )
  return pattern === undefined ? linked : `${linked} like \`${pattern}\``
}

const peekCodes = ['audience_mismatch'] as const

function errorLine(row: Operation): string {
  const isPublic = row.access === 'public'
  const shared: readonly ErrorCode[] = [
    ...commonCodes,
    ...bodyCodes,
    ...(isPublic ? peekCodes : [...bearerCodes, 'human_principal_required' as const]),
  ]
  const own = errorCodesOf(row).filter((code) => !shared.includes(code))
  const statuses = [...new Set(own.map((code) => errorCatalogue[code].status))]
  const told = statuses
    .toSorted((a, b) => a - b)
    .map((status) => `${status} ${codeList(own.filter((code) => isOf(status, code)))}`)
  if (row.validated) {
    told.push('422 with a code of the module’s own, or the text `Unprocessable Entity` without one')
  }
  if (!isPublic) told.push('[those of access tokens](#errors)')
  return `Refuses with ${[...told, '[those of every operation](#errors)'].join(' · ')}.`
}

const isOf = (status: number, code: ErrorCode): boolean => errorCatalogue[code].status === status
const codeList = (codes: readonly ErrorCode[]): string =>
  codes.map((code) => `\`${code}\``).join(', ')

function errorSection(): string {
  const codes = Object.entries(errorCatalogue).toSorted(([, a], [, b]) => a.status - b.status)
  const rows = codes.map(([code, { status, detail }]) => {
    return [String(status), code === 'unauthorized' ? 'none' : `\`${code}\``, detail]
  })
  return [
    '## Errors',
    `**Every operation** may answer ${codeList(commonCodes)}; one with a body or a query also
${codeList(bodyCodes)}; one that is open to any caller, \`audience_mismatch\` to an access token of the other surface.`,
    `**With access tokens** also ${codeList(bearerCodes)}. Where only people may call, service accounts get
\`human_principal_required\`. A 401 without a code means that the token is missing or has expired: refresh and retry.`,
    'A 401 has `WWW-Authenticate: Bearer`; a 429 and a 503 have `Retry-After` in seconds. A 503 never means signed out.',
    markdownTable(['status', 'code', ''], rows),
  ].join('\n\n')
}

/** The interfaces of `src/options.ts`, by the title of their section. */
const sections: readonly (readonly [title: string, name: string])[] = [
  ['Options of `createAuth`', 'AuthOptions'],
  ['Of each surface: `surfaces.operator`, `surfaces.client`', 'SurfaceOptions'],
  ['Of hashing: `hash`', 'HashOptions'],
  ['Of identity providers: `oauth`', 'OauthOptions'],
  ['Of one provider: `oauth.providers.google` and the others', 'OauthProviderOptions'],
]

const optionsIntroduction = `# Options

What a host passes to \`createAuth\`, in the words of the types that your editor shows. Options without a default are
required, and marked so. A wrong option throws an \`OptionsError\` that names it. What administrators change while the
host runs is a [setting](settings.md).

Written by \`npm run generate\` from \`src/options.ts\`.
`

/** Read beside the first values of settings. */
const otherVariables: readonly (readonly [variable: string, what: string])[] = [
  ['CONFIG_ENCRYPTION_KEY', 'the option `configKeys`, where it is left out'],
  [
    'JWT_REFRESH_TOKEN_EXPIRY',
    'the idle window: how long a session lasts without a refresh; 7 days by default ([sessions](sessions.md#lifetimes))',
  ],
  ['UV_THREADPOOL_SIZE', 'threads of Node’s pool, which bound how many hashes run at once'],
]

/** The page on the options, and on the environment variables that the library reads. */
export function optionsPage(source: string, settings: readonly FieldDeclaration[]): string {
  const tree = ts.createSourceFile('options.ts', source, ts.ScriptTarget.Latest, true)
  const tables = sections.map(([title, name]) => {
    const rows = rowsOf(interfaceOf(tree, name).members, '')
    return `\n## ${title}\n\n${markdownTable(['option', '', 'what it is'], rows)}\n`
  })
  return `${optionsIntroduction}${tables.join('')}\n${variables(settings)}`
}

function interfaceOf(tree: ts.SourceFile, name: string): ts.InterfaceDeclaration {
  const found = tree.statements.find(
    (one): one is ts.InterfaceDeclaration =>
      ts.isInterfaceDeclaration(one) && one.name.text === name,
  )
  if (found === undefined) throw new Error(`src/options.ts has no interface ${name}`)
  return found
}

/** One for each option, and one for each part of an option that is an object of its own. */
function rowsOf(members: ts.NodeArray<ts.TypeElement>, prefix: string): readonly string[][] {
  return members.flatMap((member) => {
    if (!ts.isPropertySignature(member)) return []
    const name = `${prefix}${member.name.getText()}`
    const isRequired = member.questionToken === undefined
    const row = [`\`${name}\``, isRequired ? 'required' : '', docOf(member)]
    const { type } = member
    const parts = type !== undefined && ts.isTypeLiteralNode(type) ? type.members : null
    // What a part is may stand at the whole.
    const isTold = prefix === '' || docOf(member) !== ''
    return [...(isTold ? [row] : []), ...(parts === null ? [] : rowsOf(parts, `${name}.`))]
  })
}

function docOf(member: ts.PropertySignature): string {
  const texts = ts.getJSDocCommentsAndTags(member).flatMap((doc) => {
    const { comment } = doc
    return typeof comment === 'string' ? [comment] : []
  })
  return texts.join(' ').replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')
}

function variables(settings: readonly FieldDeclaration[]): string {
  const ofSettings = settings.flatMap(({ key, envVar }) =>
    envVar === undefined ? [] : [[`\`${envVar}\``, `the [setting](settings.md) \`${key}\``]],
  )
  const others = otherVariables.map(([variable, what]) => [`\`${variable}\``, what])
  const rows = [...ofSettings, ...others].toSorted(([one = ''], [other = '']) =>
    one < other ? -1 : 1,
  )
  return `## Environment variables\n\nThe library reads these of the option \`env\`, which is \`process.env\` by default.\n\n${markdownTable(['variable', 'what it gives'], rows)}\n`
}

/** The page on the settings, with what the declarations say now in the place of its tables. */
export function withSettingsTables(page: string): string {
  const [before = '', heading = ''] = page.split(/^(## The settings\n[^#]*)/m)
  return `${before}${heading}${settingsTables()}\n`
}

/** What `docs/settings.md` says of each setting, group by group: the declarations, as tables. */
function settingsTables(): string {
  const groups = [...new Set(authSettingDeclarations.map(({ group }) => group))]
  const head = ['', 'default', 'may be', 'surface', 'first value from']
  return groups
    .map((group) => {
      const own = authSettingDeclarations.filter((field) => field.group === group)
      return `### ${group}\n\n${markdownTable(head, own.map(settingCells))}`
    })
    .join('\n\n')
}

function settingCells(field: FieldDeclaration): readonly string[] {
  const { key, label, type, default: usual = '', surface = 'both', envVar, items = [] } = field
  const form = (findSetting(key)?.form ?? '')
    .replace(/^must (be )?/, '')
    .replace(/, such as .*/, '')
  const parts = items.map(
    (item) => `\`${item.key}\`${item.type === 'FieldSecret' ? ' (secret)' : ''}`,
  )
  const values = [
    ...(type === 'FieldSecret' ? [`secret: ${form}`] : [form]),
    ...(parts.length > 0 ? [`of ${parts.join(', ')}`] : []),
  ]
  return [
    `\`${key}\` ${label}`,
    usual === '' ? '' : `\`${usual}\``,
    values.join(' '),
    surface,
    envVar === undefined ? '' : `\`${envVar}\``,
  ]
}
