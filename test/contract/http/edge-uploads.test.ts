import { once } from 'node:events'
import { createServer } from 'node:http2'
import { connect } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { bodyParser } from '@koa/bodyparser'
import Koa from 'koa'
import { describe, expect, it } from 'vitest'
import { fetchHandler } from '../../../adapters/fetch.js'
import { koaRouter } from '../../../adapters/koa.js'
import { nodeExchange } from '../../../adapters/shared/node-exchange.js'
import { http2Client } from '../../support/hosts/http2-client.js'
import { eachFramework } from '../../support/hosts/matrix.js'
import { openHost } from '../../support/hosts/open-host.js'
import { listen } from '../../support/hosts/running-host.js'
import { type TestAuth, testAuth } from '../../support/hosts/test-auth.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { goodPassword, signedInPerson } from '../../support/people/people.js'

const credentials = { email: 'ada@example.org', password: goodPassword }
const json = { 'content-type': 'application/json' }
const login = '/v1/auth/client/login'

eachFramework.describe('an upload that breaks off', (kind) => {
  it('is no error of the library’s, and of no effect', async () => {
    const host = await openHost({}, kind)
    const { port, hostname } = new URL(host.url)
    const brokenOff = () => host.logger.lines.some(({ message }) => /broke off/.test(message))
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.write(
      `POST ${login} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"email":`,
    )
    // The bytes come before the end of the connection, so that the request begins.
    socket.end()
    await expect.poll(brokenOff, { interval: 1, timeout: 20_000 }).toBe(true)
    const errors = host.logger.lines.filter(({ level }) => level === 'error')
    expect(errors).toEqual([])
  })

  it('is answered 408 once it was silent for half a minute, and its connection ends', async () => {
    const { url, clock } = await openHost({}, kind)
    const { port, hostname } = new URL(url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.write(
      `POST ${login} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"email":`,
    )
    let reply = ''
    socket.on('data', (bytes) => {
      reply += String(bytes)
    })
    const tick = async () => {
      await clock.advance(1000)
      return socket.readableEnded
    }
    await expect.poll(tick, { interval: 1, timeout: 20_000 }).toBe(true)
    expect(reply).toMatch(/^HTTP\/1\.1 408 .*\r\nconnection: close\r\n.*request_body_timeout/is)
    socket.destroy()
  })
})

describe.each(['/v1/auth/client/login', '/v1/auth/refresh'])('a slow body to %s', (path) => {
  const headers = { ...json, host: 'app.example.com' }
  const readers = {
    async node(auth: TestAuth['auth'], stream: PassThrough) {
      const members = { method: 'POST', headers, httpVersionMajor: 2, socket: {} }
      const request = Object.assign(stream, members)
      const reply = await auth.both.handle(
        nodeExchange(request, { url: path, parsed: () => undefined }),
      )
      return `${reply?.status} ${JSON.parse(reply?.body ?? '{}').code}`
    },
    async fetch(auth: TestAuth['auth'], stream: PassThrough) {
      const body = Readable.toWeb(stream)
      const init = { method: 'POST', headers, body, duplex: 'half' as const }
      const reply = await fetchHandler(auth.both)(
        new Request(`https://app.example.com${path}`, init as RequestInit),
      )
      return `${reply?.status} ${JSON.parse((await reply?.text()) ?? '{}').code}`
    },
  }
  const late = '408 request_body_timeout'

  it.each([
    ['silent from its begin on', [], late, 30],
    ['silent after a while', [10, 29], late, 69],
    ['with a byte every 20 seconds', new Array<number>(9).fill(20), late, 120],
    ['that comes in time', [29, 29, 29, 29], '400 invalid_request', 116],
  ])('%s', async (_what, pauses, expected, seconds) => {
    for (const answerOf of Object.values(readers)) {
      const { auth, clock } = await testAuth({ sweep: false })
      const begunAt = clock.now()
      const stream = new PassThrough()
      let answer: readonly [string, number] | null = null
      const pending = answerOf(auth, stream).then((text) => {
        answer = [text, (clock.now() - begunAt) / 1000]
      })
      for (const [at, pause] of pauses.entries()) {
        await clock.advance(pause * 1000)
        stream.write('x')
        if (expected !== late && at === pauses.length - 1) stream.end()
        await clock.advance(0)
      }
      for (let s = 0; s < 130 && answer === null; s += 1) await clock.advance(1000)
      await pending
      expect(answer).toEqual([expected, seconds])
    }
  })
})

eachFramework.describe('an upload without an end', (kind) => {
  it('is answered 413 once it is too large, and not kept until it ends', async () => {
    const { url } = await openHost({}, kind)
    const { port, hostname } = new URL(url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    const answered = once(socket, 'data').then(([bytes]) => String(bytes))
    socket.write(
      `POST ${login} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    )
    const size = 65 * 1024
    socket.write(`${size.toString(16)}\r\n${' '.repeat(size)}\r\n`)
    const unanswered = setTimeout(6_000, 'still waits for the rest', { ref: false })
    expect(await Promise.race([answered, unanswered])).toMatch(/^HTTP\/1\.1 413 /)
    socket.destroy()
  })
})

describe('a fetch request whose body another reader took', () => {
  async function started() {
    const host = await openHost(withoutLimits)
    const who = await signedInPerson(host, 'client')
    const handle = fetchHandler(host.auth.client)
    const request = () =>
      new Request('https://app.example.com/v1/auth/client/logout', {
        method: 'POST',
        headers: { ...json, authorization: `Bearer ${who.bearer}` },
        body: JSON.stringify({ everywhere: true }),
      })
    const status = async (given: Request) =>
      (await handle(given, { remoteAddress: '192.0.2.1' }))?.status
    return { request, status }
  }

  it('is refused with 400, also where a body is optional', async () => {
    const { request, status } = await started()
    const consumed = request()
    await consumed.text()
    expect(await status(consumed)).toBe(400)
    const locked = request()
    locked.body?.getReader()
    expect(await status(locked)).toBe(400)
    expect(await status(request())).toBe(204)
  })
})

it('a caller is judged once the body is there, however slowly it comes', async () => {
  const host = await openHost(withoutLimits)
  const who = await signedInPerson(host, 'client')
  let pull: (sender: ReadableStreamDefaultController<Uint8Array>) => void = () => {}
  const asked = new Promise<Parameters<typeof pull>[0]>((resolve) => {
    pull = resolve
  })
  const body = new ReadableStream<Uint8Array>(
    { pull: (sender) => pull(sender) },
    { highWaterMark: 0 },
  )
  const init = {
    method: 'PATCH',
    headers: { ...json, authorization: `Bearer ${who.bearer}` },
    body,
    duplex: 'half' as const,
  }
  const request = new Request('https://app.example.com/v1/auth/client/me', init)
  const reply = fetchHandler(host.auth.client)(request, { remoteAddress: '192.0.2.1' })
  const sender = await asked
  await host.auth.client.terminateSessionsOf(who.id)
  sender.enqueue(new TextEncoder().encode('{"name":"Mallory"}'))
  sender.close()
  expect((await reply)?.status).toBe(401)
})

describe('bodies over HTTP/2, which need no length', () => {
  const parsers = {
    'no parser': [],
    'a parser before': [bodyParser()],
    'a reader that hands nothing on': [
      async ({ req }: Koa.Context, next: Koa.Next) => {
        for await (const _chunk of req);
        await next()
      },
    ],
  }

  async function served(middleware: readonly Koa.Middleware[]) {
    const { auth } = await testAuth(withoutLimits)
    await auth.client.users.create({ ...credentials, emailVerified: true })
    const app = new Koa()
    for (const one of middleware) app.use(one)
    const answer = app.use(koaRouter(auth.both)).callback()
    const server = createServer((request, response) => void answer(request, response))
    const running = await listen(server)
    const send = http2Client(running.url)
    const post = (path: string, headers: object, pieces: readonly Uint8Array[] = []) =>
      send({ ':method': 'POST', ':path': path, ...headers }, pieces)
    return { post, running }
  }

  const pieces = (body: object) => {
    const bytes = Buffer.from(JSON.stringify(body))
    return [bytes.subarray(0, 5), bytes.subarray(5)]
  }

  it.each(Object.entries(parsers).slice(0, 2))('are read with %s', async (_what, middleware) => {
    const { post, running } = await served(middleware)
    const signedIn = await post(login, json, pieces(credentials))
    expect(signedIn.status, signedIn.text).toBe(200)
    const authorization = `Bearer ${JSON.parse(signedIn.text).accessToken}`
    const logout = '/v1/auth/client/logout'
    const headers = { ...json, authorization }
    expect((await post(logout, headers, pieces({ everywhere: 1 }))).status).toBe(400)
    expect((await post(logout, { authorization })).status).toBe(204)
    const large = { ...credentials, password: 'x'.repeat(66_000) }
    expect((await post(login, json, pieces(large))).status).toBe(413)
    await running.close()
  })

  it('are refused where another reader took them', async () => {
    const { post, running } = await served(parsers['a reader that hands nothing on'])
    expect((await post(login, json, pieces(credentials))).status).toBe(400)
    expect((await post('/v1/auth/client/logout', json, pieces({ everywhere: true }))).status).toBe(
      400,
    )
    expect((await post('/v1/auth/client/refresh-cookie', {})).status).toBe(401)
    await running.close()
  })
})
