import type { AuthClient } from 'postern/client'
import type { Surface } from '../shared/surface-switch.ts'

/** Has the library mail a user a link with which to set a password. */
export async function mailPasswordLink(
  operator: AuthClient<'operator'>,
  surface: Surface,
  userId: string,
): Promise<void> {
  await operator.call('POST /users/{userId}/password-reset', { userId, surface })
}

/** Has the library mail a user a link that confirms the address. */
export async function mailConfirmationLink(
  operator: AuthClient<'operator'>,
  surface: Surface,
  userId: string,
): Promise<void> {
  await operator.call('POST /users/{userId}/email-verification', { userId, surface })
}
