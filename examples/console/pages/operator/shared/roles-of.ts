import type { BindingsReply, RolesReply } from '../../../host/replies.ts'
import { actionButton } from '../../shared/action-button.ts'
import { type Child, element } from '../../shared/element.ts'
import { field } from '../../shared/field.ts'
import { form } from '../../shared/form.ts'
import { hostCall, queryOf } from '../../shared/host-call.ts'
import { section } from '../../shared/section.ts'
import { table } from '../../shared/table.ts'
import type { OperatorContext } from '../operator-page.ts'
import { selectField } from './select-field.ts'
import type { Surface } from './surface-switch.ts'
import { timeOf } from './time-of.ts'
import { withPermission } from './with-permission.ts'

/** A user or a service account that holds roles. */
export interface Holder {
  readonly surface: Surface
  readonly id: string
  /** What the page calls it. */
  readonly label: string
}

type Binding = BindingsReply['bindings'][number]

/** The roles that an account holds: gives one, takes one away. */
export function rolesOf(context: OperatorContext, holder: Holder): HTMLElement {
  const { operator } = context
  const { surface, id } = holder
  const fill = withPermission<() => void>('console.roles.read', async (body, refresh) => {
    const [{ bindings }, { roles }] = await Promise.all([
      hostCall<BindingsReply>(operator, 'GET', `/bindings/${surface}/${id}`),
      hostCall<RolesReply>(operator, 'GET', `/roles/${surface}`),
    ])
    body.append(held(context, holder, bindings, refresh))
    if (roles.length > 0) body.append(giving(context, holder, roles, refresh))
    else {
      const page = element('a', { href: `/roles?surface=${surface}` }, 'Define one')
      body.append(element('p', { class: 'soft' }, 'There is no role to give yet. ', page, '.'))
    }
  })
  return section('Roles', fill)
}

function held(
  { operator, announce }: OperatorContext,
  { surface, id }: Holder,
  bindings: readonly Binding[],
  refresh: () => void,
): HTMLElement {
  const take = ({ roleId, tenantId, role }: Binding) =>
    actionButton({
      label: 'Take away',
      attributes: { 'aria-label': `Take away the role ${role ?? ''}` },
      run: async () => {
        const path = `/bindings/${surface}/${id}/${roleId}${queryOf({ tenantId })}`
        await hostCall(operator, 'DELETE', path)
        announce('The role is taken away. This counts from the next request on.')
        refresh()
      },
    })
  return table({
    caption: 'Roles held',
    heads: ['Role', 'Where', 'Since', 'Change'],
    rows: bindings.map((one): readonly Child[] => [
      one.role ?? 'deleted',
      one.tenantId === null ? 'everywhere' : `tenant ${one.tenantId}`,
      timeOf(one.createdAt),
      take(one),
    ]),
    none: 'No role is held.',
  })
}

function giving(
  { operator, announce }: OperatorContext,
  { surface, id, label }: Holder,
  roles: RolesReply['roles'],
  refresh: () => void,
): HTMLElement {
  const choices = roles.map((role) => [role.id, role.name] as const)
  const { row, select } = selectField({ name: 'roleId', label: 'Role', choices })
  const tenant = field({
    name: 'tenantId',
    label: 'Tenant (optional)',
    hint: 'Left empty, the role counts everywhere.',
    attributes: { maxlength: 64, autocomplete: 'off' },
  })
  const give = form({
    fields: [tenant],
    before: null,
    submit: 'Give the role',
    onSubmit: async () => {
      const tenantId = tenant.input.value.trim()
      const given = tenantId === '' ? {} : { tenantId }
      await hostCall(operator, 'PUT', `/bindings/${surface}/${id}/${select.value}`, given)
      announce(`${label} has the role ${select.selectedOptions[0]?.text ?? ''}.`)
      refresh()
    },
  })
  give.prepend(row)
  return element('details', {}, element('summary', {}, 'Give a role'), give)
}
