import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost, HostOptions } from '../hosts/hosts.js'
import { refreshCookieOf, textOf } from '../hosts/http-client.js'
import { enrolled, finish, ticketOf } from './authenticator.js'
import type { Person } from './people.js'

/** A host on which `granted` people hold these permissions, and everybody their own account. */
export function granting(...permissions: readonly string[]) {
  const granted = new Set<string>()
  const options: HostOptions = {
    authorizer: {
      check: async ({ permission, userId }) =>
        ['auth.self', 'auth.mfa.self'].includes(permission) ||
        (permissions.includes(permission) && granted.has(userId)),
    },
  }
  return { granted, options }
}

/** An operator whose session has just shown a second factor. */
export async function provedOperator(
  host: ContractHost,
  surface: Surface = 'operator',
): Promise<Person & { readonly bearer: string; readonly cookie: string }> {
  const who = await enrolled(host, surface)
  const mfaToken = await ticketOf(host, surface, who)
  const reply = await finish(host, surface, mfaToken, await who.nextCode())
  const cookie = refreshCookieOf(reply, surface)
  return { ...who, cookie, bearer: textOf(reply.json(), 'accessToken') }
}
