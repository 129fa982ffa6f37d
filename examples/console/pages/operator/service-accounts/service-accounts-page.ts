import type { ServiceAccount } from 'postern/client'
import { append, type Child, element } from '../../shared/element.ts'
import { field } from '../../shared/field.ts'
import { form } from '../../shared/form.ts'
import { queryOf } from '../../shared/host-call.ts'
import { section } from '../../shared/section.ts'
import { table } from '../../shared/table.ts'
import { timeText } from '../../shared/time-text.ts'
import type { OperatorContext, OperatorPage } from '../operator-page.ts'
import { factorHint } from '../shared/factor-hint.ts'
import { pager } from '../shared/pager.ts'
import { withPermission } from '../shared/with-permission.ts'
import { showSecret } from './secret-dialog.ts'

/** The machines that have an identity here. */
export const serviceAccountsPage: OperatorPage = {
  path: '/service-accounts',
  title: 'Service accounts',
  audience: 'user',
  render: withPermission<OperatorContext>('auth.service_accounts.read', async (main, context) => {
    const cursor = context.query.get('cursor')
    const [hint, { items, nextCursor }] = await Promise.all([
      factorHint(context),
      context.operator.call('GET /v1/admin/service-accounts', {
        limit: '25',
        ...(cursor === null ? {} : { cursor }),
      }),
    ])
    const first = cursor && '/service-accounts'
    const next = nextCursor && `/service-accounts${queryOf({ cursor: nextCursor })}`
    const list = section('Machines', (body) => {
      append(body, accounts(items), pager({ first, next }))
    })
    append(main, hint, list, creation(context))
  }),
}

function accounts(items: readonly ServiceAccount[]): HTMLElement {
  return table({
    caption: 'Service accounts, oldest first',
    heads: ['Name', 'State', 'Credentials', 'Last used', 'Created'],
    rows: items.map((account): readonly Child[] => [
      element('a', { href: `/service-accounts/${account.id}` }, account.name),
      machineState(account),
      `${activeOf(account).length} of 2 active`,
      timeText(lastUsed(account)),
      timeText(account.createdAt),
    ]),
    none: 'There is no service account yet.',
  })
}

/** The credentials that are good. */
export function activeOf({ credentials }: ServiceAccount): ServiceAccount['credentials'] {
  return credentials.filter(({ status }) => status === 'active')
}

/** Whether a machine gets tokens. */
export function machineState({ enabled }: ServiceAccount): HTMLElement {
  return enabled
    ? element('span', { class: 'badge good' }, 'active')
    : element('span', { class: 'badge danger' }, 'disabled')
}

function lastUsed({ credentials }: ServiceAccount): string | null {
  const times = credentials.map((one) => one.lastUsedAt).filter((time) => time !== null)
  return times.sort().at(-1) ?? null
}

function creation({ operator, announce, go }: OperatorContext): HTMLElement {
  return section('Create one', (body) => {
    const name = field({
      name: 'name',
      label: 'Name',
      hint: 'Such as “Nightly export”. It may do nothing until you give it a role.',
      attributes: { required: true, maxlength: 100, autocomplete: 'off' },
    })
    body.append(
      form({
        fields: [name],
        submit: 'Create',
        onSubmit: async () => {
          const given = { name: name.input.value.trim() }
          const made = await operator.call('POST /v1/admin/service-accounts', given)
          await showSecret(made)
          announce(`${made.name} is created.`)
          go(`/service-accounts/${made.id}`)
        },
      }),
    )
  })
}
