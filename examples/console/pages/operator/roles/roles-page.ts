import type { RolesReply, ShownRole } from '../../../host/replies.ts'
import { actionButton } from '../../shared/action-button.ts'
import { isConfirmed } from '../../shared/confirm-dialog.ts'
import { append, type Child, element } from '../../shared/element.ts'
import { field } from '../../shared/field.ts'
import { hostCall, queryOf } from '../../shared/host-call.ts'
import { section } from '../../shared/section.ts'
import { table } from '../../shared/table.ts'
import type { OperatorContext, OperatorPage } from '../operator-page.ts'
import { factorHint } from '../shared/factor-hint.ts'
import { accountsOf, surfaceIn, surfaceSwitch } from '../shared/surface-switch.ts'
import { withPermission } from '../shared/with-permission.ts'
import { roleForm } from './role-form.ts'
import type { RolePlace } from './role-place.ts'

/** The roles of a surface, or of a tenant there. */
export const rolesPage: OperatorPage = {
  path: '/roles',
  title: 'Roles',
  audience: 'user',
  render: withPermission<OperatorContext>('console.roles.read', async (main, context) => {
    const surface = surfaceIn(context.query)
    const tenantId = context.query.get('tenantId')
    const path = `/roles/${surface}${queryOf({ tenantId })}`
    const [hint, reply] = await Promise.all([
      factorHint(context),
      hostCall<RolesReply>(context.operator, 'GET', path),
    ])
    const edited = reply.roles.find(({ id }) => id === context.query.get('role')) ?? null
    const where = { surface, tenantId }
    const list = section(titleOf(where), (body) => {
      append(body, roles(context, where, reply.roles), tenantSearch(context, where))
    })
    const permissions = reply.permissions
    append(main, surfaceSwitch('/roles', surface), hint, list)
    append(main, roleForm(context, { ...where, permissions, edited }))
  }),
}

function titleOf({ surface, tenantId }: RolePlace): string {
  const whose = `Roles of ${accountsOf[surface].toLowerCase()}`
  return tenantId === null ? whose : `${whose} in the tenant ${tenantId}`
}

function roles(
  { operator, announce, reload }: OperatorContext,
  place: RolePlace,
  items: readonly ShownRole[],
): HTMLElement {
  const remove = ({ id, name }: ShownRole) =>
    actionButton({
      label: 'Delete …',
      attributes: { 'aria-label': `Delete ${name}` },
      run: async () => {
        const isWanted = await isConfirmed({
          title: `Delete the role ${name}?`,
          text: 'From the next request on, no account holds it.',
          action: 'Delete',
        })
        if (!isWanted) return
        await hostCall(operator, 'DELETE', `/roles/${place.surface}/${id}`)
        announce(`The role ${name} is deleted.`)
        reload()
      },
    })
  const edit = ({ id, name }: ShownRole) => {
    const href = `/roles${queryOf({ ...place, role: id })}`
    return element('a', { class: 'button', href, 'aria-label': `Change ${name}` }, 'Change')
  }
  return table({
    caption: 'Roles, oldest first. They are given to an account on its own page',
    heads: ['Name', 'Permissions', 'Change'],
    rows: items.map((role): readonly Child[] => [
      role.name,
      permissionList(role.permissions),
      element('div', { class: 'buttons' }, edit(role), remove(role)),
    ]),
    none: 'There is no role here yet.',
  })
}

function permissionList(permissions: readonly string[]): Child {
  if (permissions.length === 0) return 'none'
  const items = permissions.map((key) => element('li', {}, element('code', {}, key)))
  return element('ul', { class: 'plain' }, items)
}

function tenantSearch({ go }: OperatorContext, { surface, tenantId }: RolePlace): HTMLElement {
  const tenant = field({
    name: 'tenantId',
    label: 'Roles of one tenant',
    value: tenantId ?? '',
    attributes: { type: 'search', maxlength: 64, autocomplete: 'off' },
  })
  const show = (event: Event) => {
    event.preventDefault()
    go(`/roles${queryOf({ surface, tenantId: tenant.input.value.trim() })}`)
  }
  return element(
    'form',
    { class: 'inline', role: 'search', onsubmit: show },
    tenant.row,
    element('button', { type: 'submit' }, 'Show'),
  )
}
