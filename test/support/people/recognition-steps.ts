import assert from 'node:assert/strict'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../hosts/hosts.js'
import type { Reply } from '../hosts/http-client.js'
import type { Person } from './people.js'

/** The recognition cookie that a reply sets, `name=value`; undefined when it sets none. */
export function recognitionOf(reply: Reply): string | undefined {
  const found = reply.setCookies.find((cookie) => /^(__Host-)?(op|cl)_recognition=/.test(cookie))
  return found?.split(';')[0]
}

/** The ids in it, the newest first. */
export function idsIn(cookie: string): readonly string[] {
  return cookie.slice(cookie.indexOf('=') + 1).split('.')
}

/** A cookie that this surface of a host reads, with these ids. */
export function recognitionCookie(surface: Surface, ...ids: readonly string[]): string {
  return `__Host-${surface === 'operator' ? 'op' : 'cl'}_recognition=${ids.join('.')}`
}

/** Places to sign in from: each has a network and a user agent of its own. */
export const home = { 'x-forwarded-for': '192.0.2.7', 'user-agent': 'Browser/1.0 (Laptop)' }
export const elsewhere = { 'x-forwarded-for': '203.0.113.9', 'user-agent': 'App/3 (Phone)' }

/** A browser signs in at a place, with the recognition cookie that it has by then. */
export async function loginHere(
  host: ContractHost,
  surface: Surface,
  { email, password }: Person,
  headers: Readonly<Record<string, string>>,
  cookie?: string,
): Promise<string> {
  const kept = cookie === undefined ? {} : { cookie }
  const given = { body: { email, password }, headers, ...kept }
  const reply = await host.send('POST', `/v1/auth/${surface}/login`, given)
  assert.equal(reply.status, 200, reply.text)
  // The login is remembered beside the reply.
  await host.auth.close()
  return recognitionOf(reply) ?? assert.fail(`no recognition cookie: ${reply.setCookies.join()}`)
}
