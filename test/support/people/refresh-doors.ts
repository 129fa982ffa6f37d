import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../hosts/hosts.js'
import { type Reply, refreshCookieOf, textOf } from '../hosts/http-client.js'
import { type SignedIn, signedInApp, signedInPerson } from './people.js'

/** The three endpoints that live on a refresh token. */
export const doorNames = ['refresh', 'refresh-cookie', 'session'] as const
export type Door = (typeof doorNames)[number]

type Held = Pick<SignedIn, 'cookie' | 'refreshToken'>

export const refreshDoors = {
  refresh: (host: ContractHost, surface: Surface, { refreshToken }: Held) =>
    host.send('POST', `/v1/auth/${surface}/refresh`, { body: { refreshToken } }),
  'refresh-cookie': (host: ContractHost, surface: Surface, { cookie }: Held) =>
    host.send('POST', `/v1/auth/${surface}/refresh-cookie`, { cookie }),
  session: (host: ContractHost, surface: Surface, { cookie }: Held) =>
    host.send('GET', `/v1/auth/${surface}/session`, { cookie }),
} as const satisfies Readonly<Record<Door, unknown>>

/** A person signed in with what uses this door: an app or a browser. */
export const signedInFor = (door: Door) => (door === 'refresh' ? signedInApp : signedInPerson)

/** What the caller of a door holds after its answer. */
export function heldAfter(door: Door, surface: Surface, before: Held, reply: Reply): SignedIn {
  const body = reply.json()
  const bearer = textOf(body, 'accessToken')
  if (door === 'refresh') {
    const refreshToken = textOf(body, 'refreshToken')
    return {
      bearer,
      refreshToken,
      cookie: before.cookie.replace(before.refreshToken, refreshToken),
    }
  }
  if (door === 'session') return { ...before, bearer }
  const cookie = refreshCookieOf(reply, surface)
  return { bearer, cookie, refreshToken: cookie.slice(cookie.indexOf('=') + 1) }
}
