import { createHash } from 'node:crypto'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import type { Duplex, Readable } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { AuthError } from '../../../src/errors/index.js'
import type { ConnectionSession } from '../../../src/index.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { refreshCookieOf } from '../../support/hosts/http-client.js'
import { eachHost } from '../../support/hosts/matrix.js'
import { openHost, storedIn } from '../../support/hosts/open-host.js'
import { listen } from '../../support/hosts/running-host.js'
import { smallSigningKey, testSigningKey } from '../../support/keys.js'
import {
  otherPassword,
  type Person,
  type SignedIn,
  signedInPerson,
  signIn,
} from '../../support/people/people.js'
import { faultyBackend, withCall } from '../../support/stores/faulty-backend.js'
import { spyBackend } from '../../support/stores/spy-backend.js'
import { pass, sessionOf } from '../events/event-scenario.js'

const origin = 'https://app.example.com'
const second = 1000

/** A WebSocket frame that closes, with 4401 for its reason (RFC 6455 §5.5.1). */
const closing = Buffer.from([0x88, 2, 0x11, 0x31])

/** Asks every 15 seconds of the host's clock, and closes when the session has ended. */
function watch(host: ContractHost, session: ConnectionSession, close: () => void): void {
  const ask = async (): Promise<void> => {
    // A store that does not answer says neither; it is asked again.
    const found = await session.recheck().catch(() => undefined)
    if (found === null) close()
    else host.clock.after(15 * second, () => void ask())
  }
  host.clock.after(15 * second, () => void ask())
}

/** A server that takes WebSockets (RFC 6455 §4.2.2) and streams of events, of people who are signed in. */
async function openServer(host: ContractHost): Promise<string> {
  const connect = (request: IncomingMessage) =>
    host.auth.client.sessionOf(request, { use: 'connection' })
  const server = createServer((request, response) => {
    connect(request)
      .then((session) => {
        response.writeHead(session === null ? 401 : 200, { 'content-type': 'text/event-stream' })
        if (session === null) return void response.end()
        response.write(`data: ${session.user.id}\n\n`)
        return watch(host, session, () => response.end('data: over\n\n'))
      })
      .catch((error: unknown) => response.writeHead(statusOf(error)).end())
  })
  const upgraded: Duplex[] = []
  server.on('upgrade', (request, socket: Duplex) => {
    upgraded.push(socket)
    connect(request)
      .then((session) => {
        if (session === null) return void socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n')
        const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
        const accept = createHash('sha1').update(key).digest('base64')
        const head = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade'
        socket.write(`${head}\r\nsec-websocket-accept: ${accept}\r\n\r\n`)
        return watch(host, session, () => socket.end(closing))
      })
      .catch((error: unknown) => socket.end(`HTTP/1.1 ${statusOf(error)} Refused\r\n\r\n`))
  })
  const running = await listen(server)
  onTestFinished(() => {
    // The server counts them no more, and yet waits for them.
    for (const socket of upgraded) socket.destroy()
    return running.close()
  })
  return running.url
}

function statusOf(error: unknown): number {
  return error instanceof AuthError ? error.status : 500
}

interface Opened {
  readonly status: number
  /** All that came, once the server closed. */
  readonly closed: Promise<string>
}

const upgrade = {
  connection: 'upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

function dial(url: string, headers: Readonly<Record<string, string>>): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { headers })
    const opened = ({ statusCode = 0 }: IncomingMessage, stream: Readable): void => {
      const closed = textOf(stream)
      // Not every test waits for it.
      closed.catch(() => {})
      resolve({ status: statusCode, closed })
    }
    request.on('error', reject)
    request.on('response', (response) => opened(response, response))
    request.on('upgrade', opened)
    request.end()
  })
}

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString('latin1')
}

type Who = Person & SignedIn

/** What ends a session while a connection is open. */
const endings: Readonly<Record<string, (host: ContractHost, who: Who) => Promise<unknown>>> = {
  'a sign-out': (host, { cookie }) => host.send('POST', '/v1/auth/client/logout', { cookie }),
  'an end in code': (host, { refreshToken }) =>
    host.auth.client.terminateSession(sessionOf(refreshToken)),
  'a disabled user': (host, { id }) => host.auth.client.users.update(id, { enabled: false }),
  'a deleted user': (host, { id }) => host.auth.client.users.delete(id),
  'an end of all sessions': (host) => host.auth.terminateAllSessions(),
}

async function refreshed(host: ContractHost, cookie: string): Promise<string> {
  const reply = await host.send('POST', '/v1/auth/client/refresh-cookie', { cookie })
  return refreshCookieOf(reply, 'client')
}

describe.each(['a WebSocket', 'an EventSource'])('%s of a person who is signed in', (what) => {
  const more = what === 'a WebSocket' ? upgrade : { accept: 'text/event-stream' }

  it.each(Object.entries(endings))('closes within 30 s of %s', async (_name, end) => {
    const host = await openHost()
    const who = await signedInPerson(host, 'client')
    const url = await openServer(host)
    const { status, closed } = await dial(url, { ...more, cookie: who.cookie, origin })
    expect(status).toBe(what === 'a WebSocket' ? 101 : 200)
    let isOpen = true
    const text = closed.then((all) => {
      isOpen = false
      return all
    })
    // It outlives refreshes, after which its cookie is worth nothing.
    await pass(host, 60 * second)
    const next = await refreshed(host, await refreshed(host, who.cookie))
    await pass(host, 60 * second)
    expect(isOpen).toBe(true)
    await end(host, { ...who, cookie: next, refreshToken: next.slice(next.indexOf('=') + 1) })
    await pass(host, 30 * second)
    expect(await text).toContain(what === 'a WebSocket' ? closing.toString('latin1') : 'over')
  })

  it('is refused without the origin of a page of the surface', async () => {
    const host = await openHost()
    const { cookie } = await signedInPerson(host, 'client')
    const url = await openServer(host)
    const ask = async (headers: Record<string, string>) =>
      (await dial(url, { ...more, ...headers })).status
    for (const headers of [{}, { origin: 'https://shop.example.com' }, { origin: 'null' }]) {
      expect(await ask({ cookie, ...headers })).toBe(403)
    }
    expect(await ask({ cookie, 'sec-fetch-site': 'same-site' })).toBe(403)
    expect(await ask({ origin })).toBe(401)
    expect(await ask({ cookie: '__Host-cl_refresh=forged', origin })).toBe(401)
  })
})

eachHost.describe('recheck', (kind) => {
  it('reads the session afresh by its row, and not by the cookie that opened it', async () => {
    const host = await openHost({ settings: { sessionAbsoluteTTL: '240h' } }, kind)
    const { cookie, id } = await signedInPerson(host, 'client')
    const request = { method: 'GET', headers: { cookie, origin } }
    const session = await host.auth.client.sessionOf(request, { use: 'connection' })
    if (session === null) throw new Error('not found')
    const day = 86_400 * second
    let newest = cookie
    for (let at = 0; at < 9; at += 1) {
      newest = await refreshed(host, newest)
      await pass(host, day)
      const found = await session.recheck()
      expect([at, found?.user.id]).toEqual([at, id])
      expect(found?.session.idleExpiresAt).toBe(host.clock.now() + 6 * day)
    }
    expect(found(await session.recheck())).not.toHaveProperty('recheck')
    // The request itself was answered once and for all.
    expect(await host.auth.client.sessionOf(request, { use: 'connection' })).not.toBeNull()
    host.events.splice(0)
    await pass(host, day + 1)
    expect(await session.recheck()).toBeNull()
    expect(host.events).toMatchObject([{ type: 'session.overdue', reason: 'max_age' }])
  })
})

eachHost.describe('mint', (kind) => {
  it('gives a token of a session that stands now, however old the request is', async () => {
    const host = await openHost({}, kind)
    const { cookie } = await signedInPerson(host, 'client')
    const request = { method: 'GET', headers: { cookie, origin } }
    const ask = () => host.auth.client.sessionOf(request, { use: 'connection', mint: true })
    expect(await ask()).toHaveProperty('access')
    const newest = await refreshed(host, await refreshed(host, cookie))
    await pass(host, 60 * second)
    expect(await ask()).toHaveProperty('access')
    await host.send('POST', '/v1/auth/client/logout', { cookie: newest })
    // The denylist forgets the session a day later. No token of it may be minted then.
    await pass(host, 2 * 86_400 * second)
    expect(await ask()).toBeNull()
  })
})

eachHost.describe('a request that is asked about twice', (kind) => {
  /** What it says before and after a sign-out that comes between its head and the end of its body. */
  async function aroundSignOut(method: string, use: 'page' | 'action' | 'connection') {
    const host = await openHost({}, kind)
    const { cookie } = await signedInPerson(host, 'client')
    const request = { method, headers: { cookie, origin } }
    const { sessionOf } = host.auth.client
    // The overloads want each use by itself.
    const ask = async () => (await sessionOf(request, { use: use as 'action' })) !== null
    const before = [await ask(), await ask()]
    await host.send('POST', '/v1/auth/client/logout', { cookie })
    return [...before, await ask()]
  }

  it('has no session for an action or a connection after a sign-out', async () => {
    expect(await aroundSignOut('POST', 'action')).toEqual([true, true, false])
    expect(await aroundSignOut('GET', 'connection')).toEqual([true, true, false])
  })

  it('is answered alike wherever a page asks', async () => {
    expect(await aroundSignOut('GET', 'page')).toEqual([true, true, true])
  })
})

it('a request that is asked about twice is asked once more where the store lags', async () => {
  const older: object[] = []
  const host = await openHost({
    wrapBackend: (backend) =>
      withCall(backend, async (called, work) => {
        const found = await work()
        const isLagging = called === 'client_refresh_tokens.get' && older.length > 0
        return isLagging ? Object.assign({}, found, older.pop()) : found
      }),
  })
  const { cookie, id: userId } = await signedInPerson(host, 'client')
  const [row] = await storedIn(host, 'client').families.find({ userId }, { limit: 1 })
  const newest = await refreshed(host, cookie)
  const request = { method: 'POST', headers: { cookie: newest, origin } }
  const ask = () => host.auth.client.sessionOf(request, { use: 'action' })
  expect(await ask()).not.toBeNull()
  older.push(row ?? {})
  expect(await ask()).not.toBeNull()
  expect(older).toEqual([])
})

describe('a connection that a thief opened with a copy of the cookie', () => {
  it('ends with a change of the password in the same session, once that is refreshed', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, 'client')
    const { bearer, password: currentPassword } = who
    const request = { method: 'GET', headers: { cookie: who.cookie, origin } }
    const ask = () => host.auth.client.sessionOf(request, { use: 'connection', mint: true })
    const session = found(await ask())
    const second = await refreshed(host, who.cookie)
    expect(await session.recheck()).not.toBeNull()
    const body = { currentPassword, newPassword: otherPassword }
    const changed = await host.send('POST', '/v1/auth/client/me/password', { bearer, body })
    expect(changed.status).toBeLessThan(300)
    const third = await refreshed(host, second)
    expect(await session.recheck()).toBeNull()
    expect(await ask()).toBeNull()
    // The page opens another one, which outlives its refreshes as before.
    const own = { method: 'GET', headers: { cookie: third, origin } }
    const anew = found(await host.auth.client.sessionOf(own, { use: 'connection' }))
    await refreshed(host, third)
    expect(await anew.recheck()).not.toBeNull()
  })

  it('ends, and gets no token, once the signing key is replaced', async () => {
    let keys = { current: await testSigningKey() }
    const host = await openHost({ keys: async () => keys })
    const { cookie } = await signedInPerson(host, 'client')
    const request = { method: 'GET', headers: { cookie, origin } }
    const ask = () => host.auth.client.sessionOf(request, { use: 'connection', mint: true })
    const session = found(await ask())
    // Of one request object that a middleware has asked about before.
    const again = found(await ask())
    keys = { current: smallSigningKey() }
    expect(await session.recheck()).not.toBeNull()
    await host.auth.keys.reload()
    expect(await session.recheck()).toBeNull()
    expect(await again.recheck()).toBeNull()
    expect(await ask()).toBeNull()
  })
})

describe('a request that has no session', () => {
  it('has none either when it is asked about again with `mint`', async () => {
    const host = await openHost()
    const request = { method: 'GET', headers: { origin } }
    const ask = () => host.auth.client.sessionOf(request, { use: 'connection', mint: true })
    expect([await ask(), await ask()]).toEqual([null, null])
  })

  it('has none either when it names its path alone, and no host', async () => {
    const host = await openHost()
    const request = { method: 'GET', url: '/orders', headers: { origin } }
    expect(await host.auth.client.sessionOf(request, { use: 'connection' })).toBeNull()
  })
})

function found<T>(value: T | null): T {
  if (value === null) throw new Error('not found')
  return value
}

describe('recheck', () => {
  it('is null at the end of the idle window, and a 503 while the store does not answer', async () => {
    const spy = spyBackend()
    const host = await openHost({ backend: spy.backend })
    const { cookie } = await signedInPerson(host, 'client')
    const request = { method: 'GET', headers: { cookie, origin } }
    const session = found(await host.auth.client.sessionOf(request, { use: 'connection' }))
    await host.auth.close()
    spy.fail(() => new Error('down'))
    await expect(session.recheck()).rejects.toMatchObject({
      status: 503,
      code: 'session_enforcement_unavailable',
    })
    spy.fail(null)
    spy.written.length = 0
    expect(await session.recheck()).not.toBeNull()
    await pass(host, 7 * 86_400 * second)
    expect(await session.recheck()).toBeNull()
    expect(spy.written).toEqual([])
  })

  it('is null, and nothing is minted, after a sign-out everywhere that was cut off', async () => {
    const faulty = faultyBackend(memory())
    const host = await openHost({ backend: faulty.backend })
    const who = await signedInPerson(host, 'client')
    const { cookie, bearer } = await signIn(host, 'client', who)
    const request = { method: 'GET', headers: { cookie, origin } }
    const ask = () => host.auth.client.sessionOf(request, { use: 'connection', mint: true })
    const session = found(await ask())
    expect(await session.recheck()).not.toBeNull()
    faulty.failNext('denylist.put', 'before')
    const body = { everywhere: true }
    const cutOff = await host.send('POST', '/v1/auth/client/logout', { bearer: who.bearer, body })
    expect(cutOff.status).toBe(503)
    // Its access token lives on until the ending is completed; no other is given meanwhile.
    expect((await host.send('GET', '/v1/auth/client/me', { bearer })).status).toBe(200)
    expect(await session.recheck()).toBeNull()
    expect(await ask()).toBeNull()
  })
})
