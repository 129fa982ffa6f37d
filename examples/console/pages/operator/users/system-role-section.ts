import { form } from '../../shared/form.ts'
import { hostCall } from '../../shared/host-call.ts'
import { section } from '../../shared/section.ts'
import type { OperatorContext } from '../operator-page.ts'
import { selectField } from '../shared/select-field.ts'
import { pathOf, type UserOnPage } from './user-on-page.ts'

const choices = [
  ['guest', 'guest: nothing beyond the roles below'],
  ['developer', 'developer: everything in this console'],
  ['administrator', 'administrator: everything in this console'],
  ['super_admin', 'super_admin: everything in this console'],
] as const

/** The role that an operator has without a binding. */
export function systemRoleSection(context: OperatorContext, shown: UserOnPage): HTMLElement {
  const { operator, announce, reload } = context
  const { systemRole } = shown.user
  const isKnown = choices.some(([value]) => value === systemRole)
  return section('System role', (body) => {
    const { row, select } = selectField({
      name: 'systemRole',
      label: 'What the operator may do',
      hint: 'Three of them grant every permission of this console. Anything else comes from the roles below.',
      choices: isKnown ? choices : [...choices, [systemRole, systemRole]],
      value: systemRole,
    })
    body.append(
      form({
        fields: [],
        before: row,
        submit: 'Save the system role',
        onSubmit: async () => {
          const given = { systemRole: select.value }
          await hostCall(operator, 'PUT', `${pathOf(shown)}/system-role`, given)
          announce(`The system role is ${select.value}.`)
          reload()
        },
      }),
    )
  })
}
