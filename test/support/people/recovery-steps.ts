import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../hosts/hosts.js'
import type { Reply } from '../hosts/http-client.js'
import { mailedToken } from '../hosts/open-host.js'

/** Asks for a reset link, from an address of its own unless one is given. */
export function forgot(
  host: ContractHost,
  surface: Surface,
  email: string,
  from?: string,
): Promise<Reply> {
  return host.send('POST', `/v1/auth/${surface}/password/forgot`, {
    body: { email },
    headers: from === undefined ? {} : { 'x-forwarded-for': from },
  })
}

/** The token of a reset link mailed just now; fails when none was. */
export async function linkFor(
  host: ContractHost,
  surface: Surface,
  email: string,
): Promise<string> {
  host.mailer.clear()
  await forgot(host, surface, email)
  return mailedToken(host, 'resetPassword', email)
}

export function reset(
  host: ContractHost,
  surface: Surface,
  token: string,
  newPassword: string,
): Promise<Reply> {
  const body = { token, newPassword }
  return host.send('POST', `/v1/auth/${surface}/password/reset`, { body })
}

export function login(
  host: ContractHost,
  surface: Surface,
  email: string,
  password: string,
): Promise<Reply> {
  return host.send('POST', `/v1/auth/${surface}/login`, { body: { email, password } })
}
