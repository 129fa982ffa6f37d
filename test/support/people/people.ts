import assert from 'node:assert/strict'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../hosts/hosts.js'
import { type Reply, refreshCookieOf, textOf } from '../hosts/http-client.js'

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

/**
 * Signs in over HTTP as an app does: its refresh token comes in the body, and is good there. The
 * `cookie` is one that the app would have to make up.
 */
export async function signInApp(
  host: ContractHost,
  surface: Surface,
  who: Person,
): Promise<SignedIn> {
  const { email, password } = who
  const body = { email, password }
  const reply = await host.send('POST', `/v1/auth/${surface}/mobile/login`, { body })
  assert.equal(reply.status, 200, reply.text)
  const refreshToken = textOf(reply.json(), 'refreshToken')
  const cookie = `${cookieNames[surface]}=${refreshToken}`
  return { bearer: textOf(reply.json(), 'accessToken'), cookie, refreshToken }
}

export async function signedInApp(
  host: ContractHost,
  surface: Surface,
): Promise<Person & SignedIn> {
  const who = await person(host, surface)
  return { ...who, ...(await signInApp(host, surface, who)) }
}

const cookieNames = { operator: '__Host-op_refresh', client: '__Host-cl_refresh' } as const

/** Refreshes with a browser's token, and shows the next one where an app would find it. */
export async function refreshByCookie(
  host: ContractHost,
  surface: Surface,
  refreshToken: string,
): Promise<Reply> {
  const path = `/v1/auth/${surface}/refresh-cookie`
  const cookie = `${cookieNames[surface]}=${refreshToken}`
  const reply = await host.send('POST', path, { cookie })
  if (reply.status !== 200) return reply
  const next = refreshCookieOf(reply, surface)
  const token = next.slice(next.indexOf('=') + 1)
  return { ...reply, json: () => ({ ...reply.json(), refreshToken: token }) }
}
