import { onTestFinished } from 'vitest'
import { openCollections } from '../../../src/domain/context/open-collections.js'
import type { Collections } from '../../../src/model/collections.js'
import type { User } from '../../../src/model/user.js'
import type { AuthOptions } from '../../../src/options.js'
import type { AuthEvent } from '../../../src/ports/events.js'
import type { Surface } from '../../../src/ports/surface.js'
import { type ContractHost, type HostKind, type HostOptions, memoryHost } from './hosts.js'
import type { Reply, Send } from './http-client.js'

export const surfaces = ['operator', 'client'] as const

const often = { limit: 100_000, windowMs: 60_000 }
const rateLimits = { recoveryPerAddress: often, passwordChangePerUser: often }

/** The usual surfaces without the limits of one account, for tests that ask for much. */
export const generousSurfaces: AuthOptions['surfaces'] = {
  operator: { baseUrl: 'https://admin.example.com', rateLimits },
  client: { baseUrl: 'https://app.example.com', rateLimits },
}

let visitors = 0

/** An address nobody came from before. */
export function newAddress(): string {
  visitors += 1
  return `10.${(visitors >> 16) & 255}.${(visitors >> 8) & 255}.${visitors & 255}`
}

/** The next 255 addresses are of one network: a person who comes from them is known there. */
export function beginNetwork(): void {
  visitors |= 255
}

/**
 * A host of one test's own, closed with the test. Every request comes from an address of its own
 * unless its headers name one, so that no limit per address is met by accident. Where limits, lockouts
 * or floods are the subject, use `openHostAtOneAddress`, or name the addresses.
 */
export async function openHost(
  options: HostOptions = {},
  kind: HostKind = memoryHost,
): Promise<ContractHost> {
  return fromNewAddresses(await openHostAtOneAddress(options, kind))
}

/**
 * A host of one test's own, closed with the test. Every request comes from one address, as a user's do,
 * unless its headers name another: the limits per address are met as callers meet them.
 */
export async function openHostAtOneAddress(
  options: HostOptions = {},
  kind: HostKind = memoryHost,
): Promise<ContractHost> {
  const host = await kind.start({ trustProxy: 1, ...options })
  // Whoever comes first must not come from two networks, depending on what other tests asked before.
  beginNetwork()
  onTestFinished(() => host.close())
  return host
}

/** The same host, to which each request comes from an address that none came from before. */
function fromNewAddresses(host: ContractHost): ContractHost {
  const send: Send = (method, path, given = {}) =>
    host.send(method, path, {
      ...given,
      headers: { 'x-forwarded-for': newAddress(), ...given.headers },
    })
  return { ...host, send }
}

/** What the host's database holds for a surface, past every check of the library. */
export function storedIn(host: Pick<ContractHost, 'backend'>, surface: Surface): Collections {
  return openCollections(host.backend.store, surface, '')
}

/** The stored record of an address; fails when there is none. */
export async function storedUser(
  host: Pick<ContractHost, 'backend'>,
  surface: Surface,
  email: string,
): Promise<User> {
  const [user] = await storedIn(host, surface).users.find({ email }, { limit: 1 })
  if (user === undefined) throw new Error(`no user ${email} on the ${surface} surface`)
  return user
}

/** All that a caller can see of a reply, but for the time of day and the random key of a registration. */
export function seenOf(reply: Reply): unknown {
  const headers = [...reply.headers].filter(([name]) => name !== 'date')
  const shown = (text: string) => text.replace(/_registration=[\w.-]+/, '_registration=…')
  return {
    status: reply.status,
    headers: headers.map(([name, value]) => [name, shown(value)]),
    cookies: reply.setCookies.map(shown),
    text: reply.text,
  }
}

/** `['401 session_revoked', '200']` for quick comparisons of many replies. */
export function outcomeOf({ status, code }: Reply): string {
  return code === undefined ? String(status) : `${status} ${code}`
}

/** The token of the newest mail of this template to this address; fails when there is none. */
export async function mailedToken(
  host: ContractHost,
  template: 'verifyEmail' | 'changeEmail' | 'resetPassword',
  email: string,
): Promise<string> {
  await host.auth.close() // mail is sent beside the request
  return host.mailer.last(template, email).data.token
}

/** The events of one type so far, in order. */
export function eventsOf<T extends AuthEvent['type']>(
  { events }: Pick<ContractHost, 'events'>,
  type: T,
): readonly Extract<AuthEvent, { readonly type: T }>[] {
  const isOfType = (event: AuthEvent): event is Extract<AuthEvent, { readonly type: T }> =>
    event.type === type
  return events.filter(isOfType)
}
