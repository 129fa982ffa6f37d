import type { AuthClient } from 'postern/client'
import type { Field } from '../field.ts'
import { currentPasswordField } from '../password-field.ts'

/** What shows that the owner asks, and not a person who found the page open. */
export interface OwnerProof {
  /** A field for the password, where there is no second factor. With one, the client's hook asks for it. */
  readonly fields: readonly Field[]
  readonly input: () => { readonly currentPassword?: string }
  readonly hasFactor: boolean
}

export async function ownerProof(client: AuthClient<'client'>): Promise<OwnerProof> {
  const [account, factors] = await Promise.all([client.call('GET /me'), client.call('GET /mfa')])
  const hasFactor = factors.totp.enrolled || factors.passkeys > 0
  if (hasFactor || !account.hasPassword) return { fields: [], input: () => ({}), hasFactor }
  const password = currentPasswordField()
  const input = () => ({ currentPassword: password.input.value })
  return { fields: [password], input, hasFactor }
}
