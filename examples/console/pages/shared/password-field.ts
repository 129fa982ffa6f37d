import { type Field, field } from './field.ts'
import type { SurfaceOptions } from './page.ts'

/** The input for the password that the account has. */
export function currentPasswordField(label = 'Your password'): Field {
  return field({
    name: 'currentPassword',
    label,
    attributes: { type: 'password', required: true, autocomplete: 'current-password' },
  })
}

/** The input for a password to be. `name` is the member of the request. */
export function newPasswordField(
  { passwordMinLength }: SurfaceOptions,
  name: 'password' | 'newPassword',
): Field {
  return field({
    name,
    label: name === 'password' ? 'Password' : 'New password',
    hint: `At least ${passwordMinLength} characters. A few words are good.`,
    attributes: { type: 'password', required: true, autocomplete: 'new-password' },
  })
}
