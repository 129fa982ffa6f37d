import type { AuditReply } from '../../../host/replies.ts'
import { append, element } from '../../shared/element.ts'
import { hostCall, queryOf } from '../../shared/host-call.ts'
import { section } from '../../shared/section.ts'
import type { OperatorContext, OperatorPage } from '../operator-page.ts'
import { pager } from '../shared/pager.ts'
import { surfaceIn, surfaceSwitch } from '../shared/surface-switch.ts'
import { withPermission } from '../shared/with-permission.ts'
import { auditSearch, type Search } from './audit-search.ts'
import { auditTable } from './audit-table.ts'

/** What happened: by the account that was concerned or that acted. */
export const auditPage: OperatorPage = {
  path: '/audit',
  title: 'Audit log',
  audience: 'user',
  render: withPermission<OperatorContext>('console.audit.read', async (main, context) => {
    const search = searchIn(context)
    const after = context.query.get('after')
    const { surface, ...asked } = search
    const path = `/audit/${surface}${queryOf({ ...asked, after })}`
    const reply = asked.account
      ? await hostCall<AuditReply>(context.operator, 'GET', path)
      : { records: [], accounts: {}, next: null }
    const found = section('Records', (body) => {
      if (!asked.account) {
        append(body, element('p', { class: 'soft' }, 'Say whose records you look for.'))
        return
      }
      const first = after && `/audit${queryOf({ ...search })}`
      const next = reply.next && `/audit${queryOf({ ...search, after: reply.next })}`
      append(
        body,
        auditTable(reply, surface),
        reply.records.length === 0 &&
          reply.next !== null &&
          element('p', {}, 'The newest thousand records have no match. There are older ones.'),
        pager({ first, next, nextLabel: 'Older records' }),
      )
    })
    const asking = section('Search', (body) => body.append(auditSearch(context, search)))
    append(main, surfaceSwitch('/audit', surface), asking, found)
  }),
}

/** What the address asks for. Without an account: what the operator who looks at the page did. */
function searchIn({ query, client }: OperatorContext): Search {
  const state = client.get()
  const own = state.status === 'signedIn' ? state.user.email : ''
  const isFirst = !query.has('account') && !query.has('surface')
  const base = { action: query.get('action') ?? '', outcome: query.get('outcome') ?? '' }
  if (isFirst) return { ...base, surface: 'operator', of: 'actor', account: own }
  const of = query.get('of') === 'actor' ? 'actor' : 'target'
  return { ...base, surface: surfaceIn(query), of, account: query.get('account') ?? '' }
}
