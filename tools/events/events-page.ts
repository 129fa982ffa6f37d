import { wantsEvent } from '../../src/engine/webhook-delivery-rules.js'
import type { EventEntry, EventGroup, EventMember } from './event-catalogue.js'
import type { LogLine } from './log-lines.js'
import { recordedOf } from './recorded.js'

const introduction = `# Events, audit records and logs

This page lists what Postern reports, and is made by \`npm run events\` from the types of the events and from the code that keeps and sends
them. [Operating](operating.md#what-to-watch) says what to watch.

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

const titles: Readonly<Record<string, string>> = {
  'account-event': 'Accounts and their addresses',
  'login-event': 'Logins',
  'session-event': 'Sessions',
  'password-event': 'Passwords',
  'factor-event': 'Second factors and devices',
  'config-event': 'Configuration',
  'service-account-event': 'Service accounts',
  'role-event': 'Roles',
  'auth-event': 'Refusals, and what could not be told',
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

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

function memberText({ name, type, values, description }: EventMember): string {
  const listed = values.map((value) => `\`${value}\``).join(', ')
  const orNull = /\bnull$/.test(type) && !/null/i.test(description) ? 'or null' : ''
  const said = [listed, orNull, description].filter(Boolean).join('; ')
  return `\`${name}\`${said === '' ? '' : ` (${said.replace(/\.$/, '')})`}`
}

function recordText(event: EventEntry): string {
  const { when, outcome, details } = recordedOf(event)
  if (when === 'never') return 'no'
  const condition = conditions[event.type]
  if (when === 'in part' && condition === undefined) {
    throw new Error(`of ${event.type} it is not said when it leaves a record`)
  }
  const kept = details.length === 0 ? '' : `: ${details.map((name) => `\`${name}\``).join(', ')}`
  return `${outcome}${kept}${condition === undefined ? '' : ` (${condition})`}`
}

function webhookText({ type }: EventEntry): string {
  const kinds = (['login', 'account'] as const).filter((kind) => wantsEvent(kind, type))
  const only = type === 'refresh.reissued' ? ' with `otherClient: true`' : ''
  return kinds.length === 0 ? 'no' : `${kinds.map((kind) => `\`${kind}\``).join(', ')}${only}`
}

function section({ file, events }: EventGroup): string {
  const title = titles[file]
  if (title === undefined) throw new Error(`the events of ${file} have no title`)
  const rows = events.map((event) => {
    const members = event.members.map(memberText).join('; ')
    const cells = [`\`${event.type}\``, event.when, members, recordText(event), webhookText(event)]
    return `| ${cells.map(cell).join(' | ')} |`
  })
  return [
    `## ${title}`,
    '',
    '| event | when | members | audit record | webhooks |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

function logSection(lines: readonly LogLine[]): string {
  const rows = [...new Set(lines.map(({ level, message }) => `| ${level} | ${cell(message)} |`))]
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
    '| level | message |',
    '| --- | --- |',
    ...rows.toSorted(),
    '',
  ].join('\n')
}

/** The page `docs/events.md`. Throws for an event about which something is not said. */
export function eventsPage(groups: readonly EventGroup[], lines: readonly LogLine[]): string {
  const order = Object.keys(titles)
  const sections = groups
    .toSorted((a, b) => order.indexOf(a.file) - order.indexOf(b.file))
    .map(section)
  return [introduction, ...sections, logSection(lines)].join('\n')
}
