import type { RegistrationsReply, ShownRegistration } from '../../../host/replies.ts'
import { actionButton } from '../../shared/action-button.ts'
import { type Child, element } from '../../shared/element.ts'
import { hostCall } from '../../shared/host-call.ts'
import { section } from '../../shared/section.ts'
import { table } from '../../shared/table.ts'
import type { OperatorContext } from '../operator-page.ts'
import type { Surface } from '../shared/surface-switch.ts'
import { timeOf } from '../shared/time-of.ts'

/** Registrations whose mailed link was not opened yet. */
export function openRegistrations(context: OperatorContext, surface: Surface): HTMLElement {
  const { operator, announce } = context
  return section('Waiting for confirmation', async (body, refresh) => {
    const path = `/registrations/${surface}`
    const page = await hostCall<RegistrationsReply>(operator, 'GET', `${path}?limit=100`)
    const act =
      (label: string, method: 'POST' | 'DELETE', done: string) =>
      (registration: ShownRegistration): Child =>
        actionButton({
          label,
          attributes: { 'aria-label': `${label}: ${registration.email}` },
          run: async () => {
            const end = method === 'POST' ? '/resend' : ''
            await hostCall(operator, method, `${path}/${registration.id}${end}`)
            announce(done)
            refresh()
          },
        })
    const resend = act('Mail again', 'POST', 'The link is mailed again.')
    const remove = act('Remove', 'DELETE', 'The registration is removed.')
    body.append(
      table({
        caption: 'Registrations whose link was not opened yet, oldest first',
        heads: ['E-mail address', 'Name', 'Since', 'Until', 'Change'],
        rows: page.registrations.map((one): readonly Child[] => [
          one.email,
          one.name || '–',
          timeOf(one.createdAt),
          timeOf(one.expiresAt),
          element('div', { class: 'buttons' }, resend(one), remove(one)),
        ]),
        none: 'No registration waits for its link to be opened.',
      }),
    )
    if (page.next !== null) {
      body.append(element('p', { class: 'soft' }, 'These are the hundred oldest.'))
    }
  })
}
