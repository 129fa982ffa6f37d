import assert from 'node:assert/strict'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../hosts/hosts.js'
import type { Reply } from '../hosts/http-client.js'
import { mailedToken } from '../hosts/open-host.js'
import { goodPassword } from './people.js'

/** `name=value` of the cookie that keeps a browser's registrations; undefined when none was set. */
export function registrationCookieOf(reply: Reply): string | undefined {
  const found = reply.setCookies.find((cookie) => /^(__Host-)?(op|cl)_registration=/.test(cookie))
  return found?.split(';')[0]
}

/** Registers in a browser, which keeps what it was given; `cookie` is what it kept before. */
export async function registerHere(
  host: ContractHost,
  surface: Surface,
  given: object,
  cookie?: string,
): Promise<{ readonly reply: Reply; readonly cookie: string }> {
  const body = { password: goodPassword, ...given }
  const kept = cookie === undefined ? {} : { cookie }
  const reply = await host.send('POST', `/v1/auth/${surface}/register`, { body, ...kept })
  const set = registrationCookieOf(reply)
  assert.ok(set !== undefined, `no registration cookie: ${reply.text}`)
  return { reply, cookie: set }
}

/** Follows a mailed link, in the browser that keeps this cookie or in another one. */
export function verifyWith(
  host: ContractHost,
  surface: Surface,
  shown: { readonly token: string; readonly newPassword?: string },
  cookie?: string,
): Promise<Reply> {
  const kept = cookie === undefined ? {} : { cookie }
  return host.send('POST', `/v1/auth/${surface}/email/verify`, { body: shown, ...kept })
}

/** Registers and follows the link in the same browser: an account with a proved mailbox. */
export async function registeredPerson(
  host: ContractHost,
  surface: Surface,
  given: { readonly email: string },
): Promise<void> {
  const { cookie } = await registerHere(host, surface, given)
  const token = await mailedToken(host, 'verifyEmail', given.email)
  const reply = await verifyWith(host, surface, { token }, cookie)
  assert.equal(reply.status, 200, reply.text)
}
