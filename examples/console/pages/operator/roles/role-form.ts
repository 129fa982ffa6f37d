import type { ShownPermission, ShownRole } from '../../../host/replies.ts'
import { append, element } from '../../shared/element.ts'
import { type Field, field } from '../../shared/field.ts'
import { form } from '../../shared/form.ts'
import { hostCall, queryOf } from '../../shared/host-call.ts'
import { section } from '../../shared/section.ts'
import type { OperatorContext } from '../operator-page.ts'
import type { RolePlace } from './role-place.ts'

export interface RoleFormOptions extends RolePlace {
  /** Those that mean something on this host. */
  readonly permissions: readonly ShownPermission[]
  /** The role to change; null for a new one. */
  readonly edited: ShownRole | null
}

/** Defines a role, or gives one other permissions. */
export function roleForm(context: OperatorContext, options: RoleFormOptions): HTMLElement {
  const { operator, announce, go } = context
  const { surface, tenantId, edited } = options
  return section(edited === null ? 'Define a role' : `Change ${edited.name}`, (body) => {
    const name = field({
      name: 'name',
      label: 'Name',
      value: edited?.name ?? '',
      attributes: {
        required: true,
        maxlength: 100,
        autocomplete: 'off',
        readonly: edited !== null,
      },
    })
    const known = checkboxes(options)
    const others = ownKeys(options)
    const submit = async () => {
      const chosen = known.filter(({ input }) => input.checked).map(({ name: key }) => key)
      const permissions = [...new Set([...chosen, ...others.keys()])]
      const given = { name: name.input.value.trim(), permissions }
      const tenant = tenantId === null ? {} : { tenantId }
      await hostCall(operator, 'PUT', `/roles/${surface}`, { ...given, ...tenant })
      announce(`The role ${given.name} is saved. It counts from the next request on.`)
      go(`/roles${queryOf({ surface, tenantId })}`)
    }
    const legend = element('legend', {}, 'Permissions of this host')
    const groups = known.map(({ row }) => row)
    const made = form({
      fields: [name],
      before: [groups.length > 0 && element('fieldset', {}, legend, groups), others.row],
      submit: edited === null ? 'Define the role' : 'Save the role',
      beside:
        edited &&
        element(
          'a',
          { class: 'button', href: `/roles${queryOf({ surface, tenantId })}` },
          'Cancel',
        ),
      onSubmit: submit,
    })
    // The permissions stand side by side.
    made.classList.add('wide')
    append(body, made)
  })
}

/** A box for each permission. A role of a tenant takes none of the system set. */
function checkboxes({ permissions, edited, tenantId }: RoleFormOptions): readonly Field[] {
  return permissions
    .filter(({ system }) => tenantId === null || !system)
    .map(({ key, grants }) =>
      field({
        name: key,
        label: key,
        hint: grants,
        attributes: { type: 'checkbox', checked: edited?.permissions.includes(key) ?? false },
      }),
    )
}

/** Permissions that the host's other routes ask for, as text. */
function ownKeys({ permissions, edited }: RoleFormOptions) {
  const id = `field-${crypto.randomUUID()}`
  const isKnown = (key: string) => permissions.some((one) => one.key === key)
  const text = (edited?.permissions ?? []).filter((key) => !isKnown(key)).join('\n')
  const input = element(
    'textarea',
    { id, name: 'permissions', rows: 3, spellcheck: 'false', 'aria-describedby': `${id}-hint` },
    text,
  )
  const row = element(
    'div',
    { class: 'field' },
    element('label', { for: id }, 'Permissions of your application'),
    element(
      'p',
      { id: `${id}-hint`, class: 'hint' },
      'One a line, such as orders.read. There are no wildcards.',
    ),
    input,
  )
  return { row, keys: () => input.value.split(/\s+/).filter((key) => key !== '') }
}
