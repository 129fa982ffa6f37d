import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { markdownTable } from '../bench/harness/text-table.js'
import { toAuditRecord } from '../src/domain/events/audit-log.js'
import { wantsEvent } from '../src/engine/webhook-delivery-rules.js'
import type { AuthEvent } from '../src/ports/events.js'
import { walk } from '../test/support/rules/parsed-source.js'

/** A member of an event, beside those that all events have. */
export interface EventMember {
  readonly name: string
  /** As it is written in the source, such as `string | null`; the values themselves of a closed list. */
  readonly type: string
  readonly isNullable: boolean
  /** Of a closed list; empty for any other type. */
  readonly values: readonly string[]
  /** One line; empty without a comment. */
  readonly description: string
}

/** One event of the catalogue. */
export interface EventEntry {
  readonly type: string
  /** When it is emitted; empty without a comment. */
  readonly when: string
  readonly members: readonly EventMember[]
}

/** The events that one type declares. */
export interface EventGroup {
  /** The name of the type, such as `LoginEvent`. */
  readonly name: string
  readonly events: readonly EventEntry[]
}

type Aliases = ReadonlyMap<string, ts.TypeNode>

/** The events of the types `…Event` in a source, in its order. */
export function eventCatalogue(text: string): readonly EventGroup[] {
  const tree = ts.createSourceFile('events.ts', text, ts.ScriptTarget.ES2023, true)
  const aliases = new Map(aliasesOf(tree))
  return [...aliases]
    .filter(([name]) => name.endsWith('Event') && name !== 'AuthEvent')
    .map(([name, type]) => ({
      name,
      events: literalsIn(type).flatMap((literal) => entriesOf(literal, aliases)),
    }))
}

function aliasesOf(tree: ts.SourceFile): readonly (readonly [string, ts.TypeNode])[] {
  return tree.statements
    .filter(ts.isTypeAliasDeclaration)
    .map((alias) => [alias.name.text, alias.type] as const)
}

function literalsIn(type: ts.TypeNode): readonly ts.TypeLiteralNode[] {
  if (ts.isTypeLiteralNode(type)) return [type]
  return ts.isUnionTypeNode(type) ? type.types.filter(ts.isTypeLiteralNode) : []
}

function entriesOf(literal: ts.TypeLiteralNode, aliases: Aliases): readonly EventEntry[] {
  const members = literal.members.filter(ts.isPropertySignature)
  const [type, ...others] = members
  if (type?.type === undefined || nameOf(type) !== 'type') return []
  const when = [commentBefore(literal), commentBefore(type)].filter(Boolean).join(' ')
  const said = others.map((member) => memberOf(member, aliases))
  return valuesOf(type.type, aliases).map((value) => ({ type: value, when, members: said }))
}

const nameOf = ({ name }: ts.PropertySignature): string => name.getText()

function memberOf(member: ts.PropertySignature, aliases: Aliases): EventMember {
  const type = member.type?.getText() ?? 'unknown'
  const parts =
    member.type !== undefined && ts.isUnionTypeNode(member.type) ? member.type.types : []
  const isNullable = parts.some((part) => part.getText() === 'null')
  const element =
    member.type !== undefined && ts.isTypeOperatorNode(member.type) ? member.type.type : member.type
  const values =
    element === undefined
      ? []
      : valuesOf(ts.isArrayTypeNode(element) ? element.elementType : element, aliases)
  return { name: nameOf(member), type, isNullable, values, description: commentBefore(member) }
}

/** The texts that a type is a closed list of; empty for any other type. */
function valuesOf(type: ts.TypeNode, aliases: Aliases): readonly string[] {
  if (ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal)) return [type.literal.text]
  if (ts.isUnionTypeNode(type)) return type.types.flatMap((part) => valuesOf(part, aliases))
  const alias = ts.isTypeReferenceNode(type) ? aliases.get(type.typeName.getText()) : undefined
  return alias === undefined ? [] : valuesOf(alias, aliases)
}

/** The last `/** … *\/` before a node, as one line. */
function commentBefore(node: ts.Node): string {
  const { text } = node.getSourceFile()
  // What stands before the `|` of a union belongs to the part behind it.
  const before = text
    .slice(0, node.getStart())
    .replace(/\|\s*$/, '')
    .trimEnd()
  if (!before.endsWith('*/')) return ''
  return before
    .slice(before.lastIndexOf('/**') + 3, -2)
    .split('\n')
    .map((line) => line.trim().replace(/^\*/, '').trim())
    .filter(Boolean)
    .join(' ')
}

/** A line that the sources write to the log. */
export interface LogLine {
  readonly level: string
  /** `…` stands for what is filled in. */
  readonly message: string
}

const levels = ['debug', 'info', 'warn', 'error']

/**
 * The lines whose message stands in this source, from the first to the last. A message that is made elsewhere is left
 * out: it is a warning about an option or a setting.
 */
export function logLines(path: string, text: string): readonly LogLine[] {
  const lines: LogLine[] = []
  walk(ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true), (node) => {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return
    const { name, expression } = node.expression
    if (!levels.includes(name.text) || !/\blogger$/.test(expression.getText())) return
    const message = node.arguments[0] === undefined ? null : messageOf(node.arguments[0])
    if (message !== null) lines.push({ level: name.text, message })
  })
  return lines
}

function messageOf(node: ts.Expression): string | null {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('')
  }
  if (!ts.isBinaryExpression(node)) return null
  const [left, right] = [messageOf(node.left), messageOf(node.right)]
  return left === null || right === null ? null : left + right
}

const head = { surface: 'operator', at: 0, ip: null, userAgent: null }

/** Asks the code that writes the records about the event with every value that decides. */
function recordsOf({ type, members }: EventEntry) {
  const eventOf = (textOf: (member: EventMember) => unknown) => {
    const values = members.map((member) => [member.name, textOf(member)] as const)
    // Made out of the catalogue itself, so of the form that the type has.
    return { ...head, type, ...Object.fromEntries(values) } as AuthEvent
  }
  const first = ({ values }: EventMember) => values[0] ?? 'x'
  return [
    eventOf(first),
    eventOf((member) => (member.isNullable ? null : first(member))),
    // Of refusals the code decides; this one has a record.
    eventOf((member) => member.values[0] ?? (member.name === 'reason' ? 'invalid_token' : 'x')),
  ].map(toAuditRecord)
}

const introduction = `# Events, audit records and logs

This page lists what Postern reports. \`npm run generate\` makes it from the types of the events and from the code that
keeps and sends them. [Operating](operating.md#what-to-watch) says what to watch.

An event is an object. Each has these members, and those that its row names:

| member | |
| --- | --- |
| \`type\` | the name of the event |
| \`surface\` | \`operator\` or \`client\` |
| \`at\` | the time, in milliseconds since 1970 by the option \`clock\`; in webhooks ISO 8601 in UTC |
| \`ip\` | the address of the caller, as \`trustProxy\` has it found; null when no request is behind the event |
| \`userAgent\` | the header of the caller, at most 512 characters; null as \`ip\` |

\`userId\`, \`actorId\` and \`targetId\` are ids of accounts: the account concerned, the one that acted, and the one that
it acted on. No event, record or line has a password, a token, a one-time
code, a signing key, a cookie or an e-mail address.

## Where each goes

| to | what | where it is kept, and in which form | who reads it | for how long |
| --- | --- | --- | --- | --- |
| your \`onEvent\` | every event, as it happens | nowhere: your function gets the object | your code | as you decide |
| the audit records | those marked below | the collections \`operator_audit_records\` and \`client_audit_records\` of your store, after your \`collectionPrefix\`; one row each, never changed | your code, by \`auth.<surface>.audit.ofTarget\` and \`ofActor\`: it decides who may see them. No route gives them out. Besides, every person who may read your database | \`auditRetentionDays\`, 400 by default, 30 to 3,650; the sweep removes them then |
| webhooks | those marked below, to each webhook of the setting \`securityWebhooks\` that wants its kind | a \`POST\` of the event as JSON, signed; until it is acknowledged, a row in \`operator_webhook_deliveries\` or \`client_webhook_deliveries\` | the receiver, which an administrator named | up to 21 hours of attempts; the row goes with the last |
| metrics | every event, counted by surface and type | \`svc_auth_events_total\` of your OpenTelemetry meter | the readers of your metrics | as you decide |
| the log | [other lines](#log-lines), and no events | your \`logger\`; by default JSON lines on standard error | the readers of your log | as you decide |

An audit record has \`at\`, \`surface\`, \`action\` (the type of the event), \`outcome\`, \`actorId\`, \`targetId\`,
\`sessionId\`, \`ip\`, \`userAgent\` and \`details\`, and the column below says its outcome and what is in \`details\`. It is
written beside the request; where that fails, the event \`audit.failed\` says so. The deletion of an account leaves its
records, which name it by its id; [an export](accounts.md#the-data-of-a-person) of a person has them.

**What can be missing.** A change is written first, and told afterwards, by the request that wrote it. If the process ends
in between, or learns too late that its write took effect, the change has no event, and so no record, webhook or mail. A
repeated request, which completes such a change, does not tell it again.
`

/** The sections of the page in their order, each with its types. */
const sections = {
  'Accounts and their addresses': ['AccountEvent'],
  Logins: ['LoginEvent'],
  Sessions: ['SessionEvent', 'RefreshEvent'],
  Passwords: ['PasswordEvent'],
  'Second factors and devices': ['MfaEvent', 'DeviceEvent'],
  Configuration: ['ConfigEvent'],
  'Service accounts': ['ServiceAccountEvent'],
  Roles: ['RoleEvent'],
  'Refusals, and what could not be told': ['ServiceEvent'],
}

/** On what it depends whether there is a record. */
const conditions: Readonly<Record<string, string>> = {
  'account.updated':
    'of names that their owner changed, one an hour for each account and address, and eight for each account',
  'login.failed': 'of an address that has an account',
  'login.lockedOut': 'of an address that has an account',
  'serviceToken.refused': 'of a client id that exists',
  'request.refused':
    'of `permission_denied`, `human_principal_required`, `invalid_token` and `token_expired`; where `userId` is null, one an hour for each operation, reason and address',
  'refresh.reissued':
    'one an hour for each session, address and browser, of eight browsers of an address at most',
  'serviceToken.issued':
    'one an hour for each credential, address and software, of eight of an address at most',
}

function memberText({ name, type, values, description }: EventMember): string {
  const listed = values.map((value) => `\`${value}\``).join(', ')
  const orNull = /\bnull$/.test(type) && !/null/i.test(description) ? 'or null' : ''
  const said = [listed, orNull, description].filter(Boolean).join('; ')
  return `\`${name}\`${said === '' ? '' : ` (${said.replace(/\.$/, '')})`}`
}

function recordText(event: EventEntry): string {
  const records = recordsOf(event)
  const kept = records.filter((record) => record !== null)
  const [first] = kept
  if (first === undefined) return 'no'
  const condition = conditions[event.type]
  if (kept.length < records.length && condition === undefined) {
    throw new Error(`of ${event.type} it is not said when it leaves a record`)
  }
  const names = Object.keys(first.details).map((name) => `\`${name}\``)
  const details = names.length === 0 ? '' : `: ${names.join(', ')}`
  return `${first.outcome}${details}${condition === undefined ? '' : ` (${condition})`}`
}

function webhookText({ type }: EventEntry): string {
  const kinds = (['login', 'account'] as const).filter((kind) => wantsEvent(kind, type))
  const only = type === 'refresh.reissued' ? ' with `otherClient: true`' : ''
  return kinds.length === 0 ? 'no' : `${kinds.map((kind) => `\`${kind}\``).join(', ')}${only}`
}

function section(title: string, events: readonly EventEntry[]): string {
  const rows = events.map((event) => {
    const members = event.members.map(memberText).join('; ')
    return [`\`${event.type}\``, event.when, members, recordText(event), webhookText(event)]
  })
  const table = markdownTable(['event', 'when', 'members', 'audit record', 'webhooks'], rows)
  return `## ${title}\n\n${table}\n`
}

function logSection(lines: readonly LogLine[]): string {
  const rows = new Map(lines.map(({ level, message }) => [`${level} ${message}`, [level, message]]))
  const sorted = [...rows].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return [
    '## Log lines',
    '',
    'A line has `time` (ISO 8601, UTC), `level`, `source` (`postern`), `message`, the fields that belong to it, and, where',
    'a request causes it, `operation` and `requestId`. A `logger` of your own gets the level, the message and the fields;',
    '`operation` and `requestId` are among them if you set [`requestIdHeader`](operating.md#what-to-watch). An error of',
    'foreign code is described by `error`, `code` and `at`: its class, its code and its place in the code, and never its',
    'message. An error of this library has `detail` as well, which is its message. `…` stands for what is filled in. The',
    'default logger drops `debug`. Besides, there are warnings: at the start about options and keys that are weak or do not',
    'go together, and later about stored settings that cannot be read, which name the setting and never its value.',
    '',
    markdownTable(
      ['level', 'message'],
      sorted.map(([, row]) => row),
    ),
    '',
  ].join('\n')
}

/** The page `docs/events.md`. Throws for an event about which something is not said. */
export function eventsPage(groups: readonly EventGroup[], lines: readonly LogLine[]): string {
  const placed = Object.values(sections).flat()
  const stray = groups.find(({ name }) => !placed.includes(name))
  if (stray !== undefined) throw new Error(`the events of ${stray.name} have no title`)
  const written = Object.entries(sections).map(([title, names]) => {
    const events = groups
      .filter(({ name }) => names.includes(name))
      .flatMap((group) => group.events)
    return section(title, events)
  })
  return [introduction, ...written, logSection(lines)].join('\n')
}

const root = fileURLToPath(new URL('../', import.meta.url))
const filesOf = (pattern: string) => globSync(pattern, { cwd: root }).toSorted()
const textOf = (path: string) => readFileSync(`${root}${path}`, 'utf8')

/** The events of the sources. */
export function currentEvents(): readonly EventGroup[] {
  return eventCatalogue(filesOf('src/ports/*.ts').map(textOf).join('\n'))
}

/** What `docs/events.md` has to be. */
export function currentEventsPage(): string {
  const written = filesOf('{src,adapters}/**/*.ts').filter(
    (path) => !path.startsWith('src/testing/'),
  )
  return eventsPage(
    currentEvents(),
    written.flatMap((path) => logLines(path, textOf(path))),
  )
}
