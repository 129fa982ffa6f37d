import type { ShownUser, UsersReply } from '../../../host/replies.ts'
import { append, type Child, element } from '../../shared/element.ts'
import { field } from '../../shared/field.ts'
import { hostCall, queryOf } from '../../shared/host-call.ts'
import { section } from '../../shared/section.ts'
import { table } from '../../shared/table.ts'
import type { OperatorContext, OperatorPage } from '../operator-page.ts'
import { factorHint } from '../shared/factor-hint.ts'
import { pager } from '../shared/pager.ts'
import { accountsOf, type Surface, surfaceIn, surfaceSwitch } from '../shared/surface-switch.ts'
import { timeOf } from '../shared/time-of.ts'
import { withPermission } from '../shared/with-permission.ts'
import { openRegistrations } from './open-registrations.ts'
import { stateOf } from './user-state.ts'

/** The people of both surfaces. */
export const usersPage: OperatorPage = {
  path: '/users',
  title: 'Users',
  audience: 'user',
  render: withPermission<OperatorContext>('console.users.read', async (main, context) => {
    const surface = surfaceIn(context.query)
    const email = context.query.get('email')
    const after = context.query.get('after')
    const asked = queryOf({ email, after })
    const [hint, reply] = await Promise.all([
      factorHint(context),
      hostCall<UsersReply>(context.operator, 'GET', `/users/${surface}${asked}`),
    ])
    const first = email || after ? `/users?surface=${surface}` : null
    const next = reply.next && `/users${queryOf({ surface, after: reply.next })}`
    const list = section(accountsOf[surface], (body) => {
      const found = people(surface, reply.users, email)
      append(body, search(context, surface, email ?? ''), found, pager({ first, next }))
    })
    append(main, surfaceSwitch('/users', surface), hint, list, openRegistrations(context, surface))
  }),
}

function search({ go }: OperatorContext, surface: Surface, email: string): HTMLElement {
  const address = field({
    name: 'email',
    label: 'Find by e-mail address',
    value: email,
    attributes: { type: 'search', autocomplete: 'off' },
  })
  const find = (event: Event) => {
    event.preventDefault()
    go(`/users${queryOf({ surface, email: address.input.value.trim() })}`)
  }
  return element(
    'form',
    { class: 'inline', role: 'search', onsubmit: find },
    address.row,
    element('button', { type: 'submit' }, 'Find'),
  )
}

function people(surface: Surface, users: readonly ShownUser[], email: string | null): HTMLElement {
  const isOperators = surface === 'operator'
  return table({
    caption: email ? `Accounts with the address ${email}` : 'Accounts, oldest first',
    heads: ['E-mail address', 'Name', 'State', ...(isOperators ? ['Role'] : []), 'Last sign-in'],
    rows: users.map((user): readonly Child[] => [
      element('a', { href: `/users/${surface}/${user.id}` }, user.email),
      user.name || '–',
      stateOf(user),
      ...(isOperators ? [user.systemRole] : []),
      timeOf(user.lastLoginAt),
    ]),
    none: email ? `No account has the address ${email}.` : 'There are no accounts yet.',
  })
}
