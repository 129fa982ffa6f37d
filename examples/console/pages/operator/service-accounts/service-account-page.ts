import type { ServiceAccount } from 'postern/client'
import { type ActionOptions, actionButton } from '../../shared/action-button.ts'
import { isConfirmed } from '../../shared/confirm-dialog.ts'
import { append, element } from '../../shared/element.ts'
import { field } from '../../shared/field.ts'
import { form } from '../../shared/form.ts'
import { section } from '../../shared/section.ts'
import { timeText } from '../../shared/time-text.ts'
import type { OperatorContext, OperatorPage } from '../operator-page.ts'
import { factorHint } from '../shared/factor-hint.ts'
import { rolesOf } from '../shared/roles-of.ts'
import { withPermission } from '../shared/with-permission.ts'
import { credentialsSection } from './credentials-section.ts'
import { machineState } from './service-accounts-page.ts'

/** One machine: credentials, roles, on and off. */
export const serviceAccountPage: OperatorPage = {
  path: '/service-accounts/:id',
  title: 'Service account',
  audience: 'user',
  render: withPermission<OperatorContext>('auth.service_accounts.read', async (main, context) => {
    const id = context.params['id'] ?? ''
    const [hint, account] = await Promise.all([
      factorHint(context),
      context.operator.call('GET /v1/admin/service-accounts/{id}', { id }),
    ])
    append(
      main,
      hint,
      element(
        'p',
        { class: 'links' },
        element('a', { href: '/service-accounts' }, 'All service accounts'),
        element('a', { href: `/audit?surface=operator&account=${id}` }, 'Changes to it'),
        element('a', { href: `/audit?surface=operator&of=actor&account=${id}` }, 'What it did'),
      ),
      accountSection(context, account),
      credentialsSection(context, account),
      rolesOf(context, { surface: 'operator', id, label: account.name }),
    )
  }),
}

function accountSection(context: OperatorContext, account: ServiceAccount): HTMLElement {
  return section(account.name, (body) => {
    const lines = [
      ['State', machineState(account)],
      ['Created', timeText(account.createdAt)],
      ['Changed', timeText(account.updatedAt)],
      ['Id', element('code', {}, account.id)],
    ] as const
    append(
      body,
      element(
        'dl',
        {},
        lines.map(([term, value]) => [element('dt', {}, term), element('dd', {}, value)]),
      ),
      element('div', { class: 'buttons' }, actionButton(standing(context, account))),
      renaming(context, account),
    )
  })
}

function standing(context: OperatorContext, { id, name, enabled }: ServiceAccount): ActionOptions {
  const { operator, announce, reload } = context
  return {
    label: enabled ? 'Disable …' : 'Enable',
    run: async () => {
      const isWanted =
        !enabled ||
        (await isConfirmed({
          title: `Disable ${name}?`,
          text: 'It gets no more tokens. One that it has is refused wherever a permission is asked for.',
          action: 'Disable',
        }))
      if (!isWanted) return
      const given = { id, enabled: !enabled }
      await operator.call('PATCH /v1/admin/service-accounts/{id}', given)
      announce(enabled ? `${name} is disabled.` : `${name} is enabled.`)
      reload()
    },
  }
}

function renaming(context: OperatorContext, account: ServiceAccount): HTMLElement {
  const { operator, announce, reload } = context
  const name = field({
    name: 'name',
    label: 'Name',
    value: account.name,
    attributes: { required: true, maxlength: 100, autocomplete: 'off' },
  })
  const rename = form({
    fields: [name],
    submit: 'Save the name',
    onSubmit: async () => {
      const given = { id: account.id, name: name.input.value.trim() }
      await operator.call('PATCH /v1/admin/service-accounts/{id}', given)
      announce('The name is saved.')
      reload()
    },
  })
  return element('details', {}, element('summary', {}, 'Change the name'), rename)
}
