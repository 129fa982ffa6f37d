import assert from 'node:assert/strict'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost, HostOptions } from '../hosts/hosts.js'
import { type Reply, textOf } from '../hosts/http-client.js'
import { storedIn } from '../hosts/open-host.js'
import { type Enrolled, enrolled, ticketOf } from './authenticator.js'
import type { Person } from './people.js'

/** Both surfaces trust devices; the operators' does not by default. */
export const trusting = {
  settings: { trustedDeviceOperatorEnabled: true, trustedDeviceClientEnabled: true },
} as const satisfies HostOptions

/** Where a device keeps its token: a browser in a cookie, an app on its own. */
export const doors = ['login', 'mobile/login'] as const
export type Door = (typeof doors)[number]

/** `name=value` of the device cookie a reply sets; fails when it sets none. */
export function deviceCookieOf(reply: Reply, surface: Surface): string {
  const short = surface === 'operator' ? 'op_device' : 'cl_device'
  const found = reply.setCookies.find((cookie) => cookie.split('=')[0]?.endsWith(short))
  assert.ok(found !== undefined, `no ${short} cookie in ${reply.setCookies.join(' | ') || 'none'}`)
  return found.split(';')[0] ?? ''
}

/** The token in a device cookie, or in the body of an app's login. */
export function deviceTokenOf(reply: Reply, surface: Surface, door: Door): string {
  if (door !== 'login') return textOf(reply.json(), 'deviceToken')
  return deviceCookieOf(reply, surface).split('=')[1] ?? ''
}

/** The second half of a login, with the device to be trusted. */
export function finishTrusting(
  host: ContractHost,
  surface: Surface,
  mfaToken: string,
  code: string,
  rest: object = { trustDevice: true },
): Promise<Reply> {
  const body = { mfaToken, method: 'totp', code, ...rest }
  return host.send('POST', `/v1/auth/${surface}/login/mfa`, { body })
}

export interface Trusting extends Enrolled {
  readonly door: Door
  readonly deviceToken: string
  /** The access token of the login the device was trusted with. */
  readonly trustedBearer: string
}

/** Somebody with a second factor, and the device they trusted while they signed in with it. */
export async function trustingPerson(
  host: ContractHost,
  surface: Surface,
  door: Door = 'login',
): Promise<Trusting> {
  const who = await enrolled(host, surface)
  const mfaToken = await ticketOf(host, surface, who, door)
  const reply = await finishTrusting(host, surface, mfaToken, await who.nextCode())
  assert.equal(reply.status, 200, reply.text)
  const deviceToken = deviceTokenOf(reply, surface, door)
  return { ...who, door, deviceToken, trustedBearer: textOf(reply.json(), 'accessToken') }
}

/** A first factor from a device that shows this token. */
export function deviceLogin(
  host: ContractHost,
  surface: Surface,
  { email, password }: Pick<Person, 'email'> & { readonly password?: string },
  deviceToken: string,
  door: Door,
): Promise<Reply> {
  const account = { email, ...(password === undefined ? {} : { password }) }
  const path = `/v1/auth/${surface}/${door}`
  if (door !== 'login') return host.send('POST', path, { body: { ...account, deviceToken } })
  const name = surface === 'operator' ? '__Host-op_device' : '__Host-cl_device'
  return host.send('POST', path, { body: account, cookie: `${name}=${deviceToken}` })
}

/** What a login comes to: its `status`, or the code of its refusal. */
export function comesTo(reply: Reply): unknown {
  return reply.status === 200 ? reply.json()['status'] : `${reply.status} ${reply.code}`
}

/** What is stored of somebody's devices, newest first. */
export function devicesIn(host: ContractHost, surface: Surface, userId: string) {
  const { trustedDevices } = storedIn(host, surface)
  return trustedDevices.find({ userId }, { limit: 100, newestFirst: true })
}
