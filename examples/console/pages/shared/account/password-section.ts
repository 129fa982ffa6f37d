import { form } from '../form.ts'
import type { PageContext } from '../page.ts'
import { currentPasswordField, newPasswordField } from '../password-field.ts'
import { section } from '../section.ts'

/** Changes the password. */
export function passwordSection({ client, announce, options }: PageContext): HTMLElement {
  return section('Password', async (body, refresh) => {
    const current = currentPasswordField('Present password')
    const next = newPasswordField(await options(), 'newPassword')
    body.append(
      form({
        fields: [current, next],
        submit: 'Change the password',
        fieldOf: { invalid_credentials: 'currentPassword', password_policy: 'newPassword' },
        onSubmit: async () => {
          const input = { currentPassword: current.input.value, newPassword: next.input.value }
          await client.call('POST /me/password', input)
          announce('Your password is changed. Your other sessions are ended.')
          refresh()
        },
      }),
    )
  })
}
