import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemFetcher } from '../../src/system/system-fetcher.js'
import { listen, type RunningHost } from '../support/hosts/running-host.js'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const routes: Readonly<Record<string, Handler>> = {
  '/echo': (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const { method, headers } = request
      const body = Buffer.concat(chunks).toString()
      response.end(JSON.stringify({ method, test: headers['x-test'], body }))
    })
  },
  '/hundred': (_request, response) => response.end('é'.repeat(50)),
  '/hundred-one': (_request, response) => response.end(`${'é'.repeat(50)}x`),
  '/endless': (_request, response) => {
    const more = (): void => {
      if (response.write('x'.repeat(1024))) setImmediate(more)
      else response.once('drain', more)
    }
    more()
  },
  '/broken': (_request, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('half')
    setImmediate(() => response.destroy())
  },
  '/error': (_request, response) => response.writeHead(503).end('later'),
  '/moved': (_request, response) => response.writeHead(302, { location: '/echo' }).end('gone'),
  '/silent': () => {},
  '/stalls': (_request, response) => {
    response.writeHead(200)
    response.write('the beginning')
  },
}

let host: RunningHost
let seen: string[]

beforeEach(async () => {
  seen = []
  host = await listen(
    createServer((request, response) => {
      seen.push(request.url ?? '')
      routes[request.url ?? '']?.(request, response)
    }),
  )
})
afterEach(() => host.close())

const get = (path: string, limits: { timeoutMs?: number; maxBytes?: number } = {}) =>
  systemFetcher.fetch({
    url: host.url + path,
    method: 'GET',
    headers: {},
    timeoutMs: 10_000,
    maxBytes: 1000,
    ...limits,
  })

describe('the system fetcher', () => {
  it('sends method, headers and body, and gives back status and text', async () => {
    const reply = await systemFetcher.fetch({
      url: `${host.url}/echo`,
      method: 'POST',
      headers: { 'x-test': 'yes' },
      body: 'söme bödy',
      timeoutMs: 10_000,
      maxBytes: 1000,
    })
    expect(reply.status).toBe(200)
    expect(JSON.parse(reply.body)).toEqual({ method: 'POST', test: 'yes', body: 'söme bödy' })
    expect(await get('/error')).toEqual({ status: 503, body: 'later' })
  })

  it('counts bytes, and takes as many as were allowed', async () => {
    expect((await get('/hundred', { maxBytes: 100 })).body).toBe('é'.repeat(50))
    await expect(get('/hundred-one', { maxBytes: 100 })).rejects.toThrow(/larger than 100 bytes/)
    await expect(get('/endless')).rejects.toThrow(/larger than 1000 bytes/)
  })

  it('follows no redirect', async () => {
    const reply = await get('/moved')
    expect([reply.status, seen]).toEqual([302, ['/moved']])
  })

  it('gives up when the time is over, the body included', async () => {
    await expect(get('/silent', { timeoutMs: 50 })).rejects.toThrow(/timeout/i)
    await expect(get('/stalls', { timeoutMs: 50 })).rejects.toThrow(/timeout/i)
  })

  it('rejects when nobody answers, or not to the end', async () => {
    await expect(get('/broken')).rejects.toThrow()
    const closed = createServer()
    const { url, close } = await listen(closed)
    const gone = once(closed, 'close')
    await close()
    await gone
    const request = { method: 'GET', headers: {}, timeoutMs: 10_000, maxBytes: 10 } as const
    await expect(systemFetcher.fetch({ url, ...request })).rejects.toThrow()
  })
})
