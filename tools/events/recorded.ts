import { toAuditRecord } from '../../src/domain/events/to-audit-record.js'
import type { AuthEvent } from '../../src/ports/auth-event.js'
import type { EventEntry } from './event-catalogue.js'

/** What the audit log keeps of an event: `in part` where it depends on what the event says. */
export interface Recorded {
  readonly when: 'always' | 'in part' | 'never'
  /** Empty when there is never a record. */
  readonly outcome: string
  /** The names of the members that are kept beside the accounts and the session. */
  readonly details: readonly string[]
}

/** Asks the code that writes the records about the event with every value that decides. */
export function recordedOf(event: EventEntry): Recorded {
  const records = [full(event), withNulls(event), ...refusals(event)].map(toAuditRecord)
  const kept = records.filter((record) => record !== null)
  const [first] = kept
  if (first === undefined) return { when: 'never', outcome: '', details: [] }
  return {
    when: kept.length === records.length ? 'always' : 'in part',
    outcome: first.outcome,
    details: Object.keys(first.details),
  }
}

const head = { surface: 'operator', at: 0, ip: null, userAgent: null }

function eventOf(event: EventEntry, textFor: (member: EventEntry['members'][number]) => unknown) {
  const members = event.members.map((member) => [member.name, textFor(member)] as const)
  // Made out of the catalogue itself, so of the form that the type has.
  return { ...head, type: event.type, ...Object.fromEntries(members) } as AuthEvent
}

const full = (event: EventEntry) => eventOf(event, ({ values }) => values[0] ?? 'x')

const withNulls = (event: EventEntry) =>
  eventOf(event, ({ values, isNullable }) => (isNullable ? null : (values[0] ?? 'x')))

/** Of refusals the code decides; this one has a record. */
const refusals = (event: EventEntry) =>
  event.members.some(({ name }) => name === 'reason')
    ? [
        eventOf(
          event,
          ({ name, values }) => values[0] ?? (name === 'reason' ? 'invalid_token' : 'x'),
        ),
      ]
    : []
