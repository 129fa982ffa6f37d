import assert from 'node:assert/strict'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../hosts/hosts.js'
import { refreshCookieOf, textOf } from '../hosts/http-client.js'

export const goodPassword = 'correct horse battery staple'
export const otherPassword = 'a wholly different passphrase'

export interface Person {
  readonly id: string
  readonly email: string
  readonly password: string
}

export interface SignedIn {
  readonly bearer: string
  /** `name=value`, to be sent back as it is. */
  readonly cookie: string
  /** The refresh token itself. */
  readonly refreshToken: string
}

let people = 0

/** A verified account, made in code. */
export async function person(host: ContractHost, surface: Surface): Promise<Person> {
  people += 1
  const email = `person-${people}@example.org`
  const { id } = await host.auth[surface].users.create({
    email,
    password: goodPassword,
    name: 'Ada',
    emailVerified: true,
  })
  return { id, email, password: goodPassword }
}

/** Signs in over HTTP on the web route. */
export async function signIn(host: ContractHost, surface: Surface, who: Person): Promise<SignedIn> {
  const { email, password } = who
  const reply = await host.send('POST', `/v1/auth/${surface}/login`, { body: { email, password } })
  assert.equal(reply.status, 200, reply.text)
  const cookie = refreshCookieOf(reply, surface)
  const refreshToken = cookie.slice(cookie.indexOf('=') + 1)
  return { bearer: textOf(reply.json(), 'accessToken'), cookie, refreshToken }
}

export async function signedInPerson(
  host: ContractHost,
  surface: Surface,
): Promise<Person & SignedIn> {
  const who = await person(host, surface)
  return { ...who, ...(await signIn(host, surface, who)) }
}
