import assert from 'node:assert/strict'
import { decodeJwt } from 'jose'
import { openCollections } from '../../../src/domain/context/open-collections.js'
import type { Delivery } from '../../../src/engine/refresh-rules.js'
import type { Collections } from '../../../src/model/collections.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import {
  type Reply,
  refreshCookieOf,
  type SendOptions,
  textOf,
} from '../../support/hosts/http-client.js'
import { goodPassword, type Person } from '../../support/people/people.js'

/** What one reply put into a client's hands. */
export interface Held {
  readonly userId: string
  readonly sessionId: string
  readonly bearer: string
  /** Null after `GET session`, which mints none. */
  readonly refreshToken: string | null
  /** Where it was handed out, and so is good. */
  readonly delivery: Delivery
}

/** Held with a refresh token: the outcome of a login or a refresh. */
export interface Holder extends Held {
  readonly refreshToken: string
  /** `name=value`, as a browser would send it. */
  readonly cookie: string
}

/** One person's dealings with one surface: what happened to others does not show in it. */
export interface World {
  readonly host: ContractHost
  readonly surface: Surface
  /** The database, past every check of the library. */
  readonly stored: Collections
  /** Everything replies handed out so far. */
  readonly held: readonly Held[]
  /** How much of `held` is from before the request under test. */
  readonly heldAtStart: number
  readonly userIds: ReadonlySet<string>
  /** Whom the request under test deletes. */
  readonly deleted: ReadonlySet<string>
  /** `path` below `/v1/auth/{surface}`, or a whole one. Comes from an address nobody used before. */
  send(method: string, path: string, options?: SendOptions): Promise<Reply>
  /** A verified account, made by the host's code. */
  person(): Promise<Person>
  /** Without a delivery, as an app. */
  signIn(who: Person, delivery?: Delivery): Promise<Holder>
  /** Shows the refresh token where it is good. */
  refresh(held: Held): Promise<Reply>
  rotate(holder: Holder): Promise<Holder>
  /** Signs in and refreshes, so that the row has a past. Later sign-ins are later by the clock. */
  oldSession(who: Person): Promise<Holder>
  /** What is handed out from now on, the request under test and its like handed out. */
  start(): void
  /** The request under test is to delete this user. */
  willDelete(userId: string): void
  /** Counts an account made by other means as this world's. */
  adopt(userId: string): void
}

const cookieNames = { operator: '__Host-op_refresh', client: '__Host-cl_refresh' } as const

let people = 0
let worlds = 0

/** A network of one world's own, so that what is known of it is the same each time a flow is walked. */
function newNetwork(): string {
  worlds += 1
  return `172.${16 + ((worlds >> 8) & 15)}.${worlds & 255}.1`
}

export function newWorld(shared: ContractHost, surface: Surface): World {
  const held: Held[] = []
  const userIds = new Set<string>()
  const deleted = new Set<string>()
  const address = newNetwork()
  let heldAtStart = 0

  function keep(reply: Reply): void {
    if (reply.status >= 300 || !reply.text.includes('"accessToken"')) return
    const body = reply.json()
    const cookie = reply.setCookies.length > 0 ? refreshCookieOf(reply, surface) : ''
    const fromBody = body['refreshToken']
    const fromCookie = cookie.slice(cookie.indexOf('=') + 1)
    const refreshToken = typeof fromBody === 'string' ? fromBody : fromCookie
    const bearer = textOf(body, 'accessToken')
    const { sub = '', sid } = decodeJwt(bearer)
    userIds.add(sub)
    held.push({
      userId: sub,
      sessionId: String(sid),
      bearer,
      refreshToken: refreshToken === '' ? null : refreshToken,
      delivery: typeof fromBody === 'string' ? 'body' : 'cookie',
    })
  }

  /** Every request of this world comes from its network: from another one, a login would be reported. */
  const host: ContractHost = {
    ...shared,
    send: (method, path, options = {}) =>
      shared.send(method, path, {
        ...options,
        headers: { 'x-forwarded-for': address, ...options.headers },
      }),
  }

  async function send(method: string, path: string, options?: SendOptions): Promise<Reply> {
    const whole = path.startsWith('/v1/') ? path : `/v1/auth/${surface}${path}`
    const reply = await host.send(method, whole, options)
    keep(reply)
    return reply
  }

  function newest(reply: Reply): Holder {
    assert.equal(reply.status, 200, reply.text)
    const last = held.at(-1)
    assert.ok(last !== undefined && last.refreshToken !== null, 'no refresh token was handed out')
    const { refreshToken } = last
    return { ...last, refreshToken, cookie: `${cookieNames[surface]}=${refreshToken}` }
  }

  async function signIn({ email, password }: Person, delivery: Delivery = 'body'): Promise<Holder> {
    const door = delivery === 'body' ? '/mobile/login' : '/login'
    return newest(await send('POST', door, { body: { email, password } }))
  }

  function refresh({ refreshToken, delivery }: Held): Promise<Reply> {
    return delivery === 'body'
      ? send('POST', '/refresh', { body: { refreshToken } })
      : send('POST', '/refresh-cookie', { cookie: `${cookieNames[surface]}=${refreshToken}` })
  }

  const rotate = async (holder: Holder): Promise<Holder> => newest(await refresh(holder))

  return {
    host,
    surface,
    stored: openCollections(host.backend.store, surface, ''),
    held,
    get heldAtStart() {
      return heldAtStart
    },
    userIds,
    deleted,
    send,
    async person() {
      people += 1
      const email = `fault-${people}@example.org`
      const made = { email, password: goodPassword, name: 'Ada', emailVerified: true }
      const { id } = await host.auth[surface].users.create(made)
      userIds.add(id)
      return { id, email, password: goodPassword }
    },
    signIn,
    refresh,
    rotate,
    async oldSession(who) {
      const holder = await rotate(await signIn(who))
      // Ids of one millisecond are in no order.
      await host.clock.advance(1)
      return holder
    },
    start() {
      heldAtStart = held.length
    },
    willDelete(userId) {
      deleted.add(userId)
    },
    adopt(userId) {
      userIds.add(userId)
    },
  }
}
