import type { AuditReply, ShownRecord } from '../../../host/replies.ts'
import { browserText } from '../../shared/browser-text.ts'
import { type Child, element } from '../../shared/element.ts'
import { table } from '../../shared/table.ts'
import type { Surface } from '../shared/surface-switch.ts'
import { timeOf } from '../shared/time-of.ts'

/** Records of the audit log, with the accounts by their names. */
export function auditTable({ records, accounts }: AuditReply, surface: Surface): HTMLElement {
  const account = (id: string | null): Child => {
    if (id === null) return '–'
    const known = accounts[id]
    // The host's own code names itself; an account that was deleted has its id alone.
    if (known === undefined) return element('code', { title: id }, id)
    const path = known.kind === '' ? `/users/${known.surface}` : '/service-accounts'
    const other = known.surface === surface ? '' : ' (operator)'
    return [element('a', { href: `${path}/${id}` }, known.label), other]
  }
  return table({
    caption: 'Records, newest first',
    heads: ['When', 'Event', 'Acted', 'Concerned', 'From', 'More'],
    rows: records.map((record): readonly Child[] => [
      timeOf(record.at),
      eventOf(record),
      account(record.actorId),
      account(record.targetId),
      fromOf(record),
      moreOf(record),
    ]),
    none: 'No record matches.',
  })
}

function eventOf({ action, outcome }: ShownRecord): Child {
  const failed = element('span', { class: 'badge danger' }, 'failure')
  return [element('code', {}, action), outcome === 'failure' && [' ', failed]]
}

function fromOf({ ip, userAgent }: ShownRecord): Child {
  if (ip === null && userAgent === null) return '–'
  return [ip ?? '', ip && userAgent ? ', ' : '', userAgent === null ? '' : browserText(userAgent)]
}

function moreOf({ details, sessionId }: ShownRecord): Child {
  const all = { ...details, ...(sessionId === null ? {} : { sessionId }) }
  const lines = Object.entries(all).filter(([, value]) => value !== null)
  if (lines.length === 0) return '–'
  return element(
    'details',
    {},
    element('summary', {}, 'Details'),
    element(
      'dl',
      { class: 'small' },
      lines.map(([name, value]) => [
        element('dt', {}, name),
        element('dd', {}, typeof value === 'string' ? value : JSON.stringify(value)),
      ]),
    ),
  )
}
