import { form } from '../form.ts'
import type { PageContext, SurfaceOptions } from '../page.ts'
import { newPasswordField } from '../password-field.ts'

/** Replaces the password by the token of a mailed link, or of a login whose password is too old. */
export function newPasswordForm(
  { client, announce, go }: PageContext,
  options: SurfaceOptions,
  token: string,
): HTMLElement {
  const newPassword = newPasswordField(options, 'newPassword')
  return form({
    fields: [newPassword],
    submit: 'Save the password',
    fieldOf: { password_policy: 'newPassword' },
    onSubmit: async () => {
      const input = { token, newPassword: newPassword.input.value }
      await client.call('POST /password/reset', input)
      // It ended every session, perhaps one of this browser.
      if (client.get().status === 'signedIn') await client.restore()
      announce('Your password is saved. Sign in with it.')
      go('/login')
    },
  })
}
