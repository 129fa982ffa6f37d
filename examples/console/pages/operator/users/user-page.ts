import type { UserReply } from '../../../host/replies.ts'
import { append, element } from '../../shared/element.ts'
import { hostCall } from '../../shared/host-call.ts'
import type { OperatorContext, OperatorPage } from '../operator-page.ts'
import { factorHint } from '../shared/factor-hint.ts'
import { rolesOf } from '../shared/roles-of.ts'
import { accountsOf } from '../shared/surface-switch.ts'
import { withPermission } from '../shared/with-permission.ts'
import { accountSection } from './account-section.ts'
import { deleteSection } from './delete-section.ts'
import { providersSection } from './providers-section.ts'
import { systemRoleSection } from './system-role-section.ts'
import type { UserOnPage } from './user-on-page.ts'
import { userSessions } from './user-sessions.ts'

/** One person: account, sessions, roles. */
export const userPage: OperatorPage = {
  path: '/users/:surface/:id',
  title: 'User',
  audience: 'user',
  render: withPermission<OperatorContext>('console.users.read', async (main, context) => {
    const { params, operator, client } = context
    const surface = params['surface'] === 'operator' ? 'operator' : 'client'
    const id = params['id'] ?? ''
    const [hint, reply] = await Promise.all([
      factorHint(context),
      hostCall<UserReply>(operator, 'GET', `/users/${surface}/${encodeURIComponent(id)}`),
    ])
    const state = client.get()
    const isSelf = surface === 'operator' && state.status === 'signedIn' && state.user.id === id
    const shown = { ...reply, surface, isSelf } as const
    append(
      main,
      hint,
      links(shown),
      accountSection(context, shown),
      userSessions(context, shown),
      reply.identities.length > 0 && providersSection(context, shown),
      surface === 'operator' && !isSelf && systemRoleSection(context, shown),
      rolesOf(context, { surface, id, label: reply.user.email }),
      !isSelf && deleteSection(context, shown),
    )
  }),
}

function links({ surface, user }: UserOnPage): HTMLElement {
  const account = encodeURIComponent(user.id)
  return element(
    'p',
    { class: 'links' },
    element('a', { href: `/users?surface=${surface}` }, `All ${accountsOf[surface].toLowerCase()}`),
    element(
      'a',
      { href: `/audit?surface=${surface}&account=${account}` },
      'Audit log of this user',
    ),
  )
}
