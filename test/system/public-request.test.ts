import type { LookupAddress } from 'node:dns'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { OutboundRequest } from '../../src/ports/host.js'
import { createPublicRequest, systemFetcher } from '../../src/system/system-fetcher.js'
import { certificateFor } from '../support/hosts/certificate.js'

const name = 'hooks.example'
const switching = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'
let ca: string
let port: number
let close: () => Promise<void>
/** What came in over a connection that was made. */
let received: { readonly path: string | undefined; readonly body: string }[]
let connections = 0

beforeAll(async () => {
  const { cert, key } = await certificateFor(name)
  ca = cert
  const server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      received.push({ path: request.url, body: Buffer.concat(chunks).toString() })
      if (request.url === '/silent') return
      if (request.url === '/upgrade') return void request.socket.write(switching)
      if (request.url === '/moved') response.writeHead(302, { location: '/' }).end()
      else response.end('é'.repeat(50))
    })
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    connections += 1
    sockets.add(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
  close = () =>
    new Promise((resolve) => {
      for (const socket of sockets) socket.destroy()
      server.close(() => resolve())
    })
})
afterAll(() => close())
beforeEach(() => {
  received = []
  connections = 0
})

const loopback: LookupAddress = { address: '127.0.0.1', family: 4 }
const onlyLoopback = (address: string) => address === '127.0.0.1'

/** Sends to the server above through a resolver that knows `found`. */
function post(
  found: readonly LookupAddress[],
  isPublic: (address: string) => boolean,
  { path = '/', ...limits }: Partial<OutboundRequest> & { readonly path?: string } = {},
) {
  const send = createPublicRequest({ isPublic, ca, resolve: (_name, done) => done(null, found) })
  return send({
    url: `https://${name}:${port}${path}`,
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: 'söme bödy',
    timeoutMs: 10_000,
    maxBytes: 100,
    ...limits,
  })
}

describe('the request to the public internet', () => {
  it('sends nothing to a server whose certificate no authority vouches for', async () => {
    const send = createPublicRequest({
      isPublic: onlyLoopback,
      resolve: (_name, done) => done(null, [loopback]),
    })
    const body = {
      method: 'POST',
      headers: {},
      body: 'söme bödy',
      timeoutMs: 10_000,
      maxBytes: 100,
    } as const
    await expect(send({ url: `https://${name}:${port}/`, ...body })).rejects.toThrow()
    expect(connections).toBe(1)
    expect(received).toEqual([])
  })

  it('goes to a name whose every address is public, with its certificate checked', async () => {
    expect(await post([loopback], onlyLoopback)).toEqual({ status: 200, body: 'é'.repeat(50) })
    expect(received).toEqual([{ path: '/', body: 'söme bödy' }])
  })

  it('refuses a name with one private address among its addresses', async () => {
    const found = [loopback, { address: '10.0.0.1', family: 4 }]
    await expect(post(found, onlyLoopback)).rejects.toThrow('not public')
    const refusal = { message: expect.stringContaining('not public'), code: 'address_not_public' }
    await expect(post([loopback], () => false)).rejects.toMatchObject(refusal)
    await expect(post([], onlyLoopback)).rejects.toThrow('no address')
    expect(connections).toBe(0)
  })

  it.each(['https://127.0.0.1', 'https://[::1]', 'https://[::ffff:7f00:1]', 'https://0x7f.1'])(
    'the default refuses %s without connecting',
    async (url) => {
      const request = { url: `${url}:${port}/`, method: 'POST', headers: {} } as const
      const limits = { timeoutMs: 10_000, maxBytes: 100, publicOnly: true } as const
      const refused = systemFetcher.fetch({ ...request, ...limits })
      await expect(refused).rejects.toMatchObject({ code: 'address_not_public' })
      expect(connections).toBe(0)
    },
  )

  it('the default resolves names itself, and refuses localhost', async () => {
    const request = { url: `https://localhost:${port}/`, method: 'POST', headers: {} } as const
    const limits = { timeoutMs: 10_000, maxBytes: 100, publicOnly: true } as const
    await expect(systemFetcher.fetch({ ...request, ...limits })).rejects.toThrow('not public')
    expect(connections).toBe(0)
  })

  it('a name that does not resolve is a rejection and ends no process', async () => {
    const notFound = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })
    const send = createPublicRequest({ resolve: (_name, done) => setImmediate(done, notFound) })
    const request = { method: 'POST', headers: {}, timeoutMs: 10_000, maxBytes: 100 } as const
    await expect(send({ ...request, url: `https://${name}/` })).rejects.toBe(notFound)
    const nowhere = { ...request, url: 'https://hooks.invalid/', publicOnly: true } as const
    await expect(systemFetcher.fetch(nowhere)).rejects.toThrow(/getaddrinfo|abort|timeout/i)
  })

  it('sends over TLS only', async () => {
    const request = { url: 'http://hooks.example/', method: 'POST', headers: {} } as const
    const limits = { timeoutMs: 10_000, maxBytes: 100, publicOnly: true } as const
    await expect(systemFetcher.fetch({ ...request, ...limits })).rejects.toThrow('only https:')
  })

  it('follows no redirect, and is bounded in time and size', async () => {
    const moved = await post([loopback], onlyLoopback, { path: '/moved' })
    expect([moved.status, received.length]).toEqual([302, 1])
    await expect(post([loopback], onlyLoopback, { maxBytes: 99 })).rejects.toThrow(/larger than 99/)
    const silent = post([loopback], onlyLoopback, { path: '/silent', timeoutMs: 500 })
    await expect(silent).rejects.toThrow(/abort|timeout/i)
  })

  it('an answer that would turn the connection into another protocol is none', async () => {
    const upgraded = post([loopback], onlyLoopback, { path: '/upgrade', timeoutMs: 2000 })
    await expect(upgraded).rejects.toThrow('ended without a reply')
  })
})
