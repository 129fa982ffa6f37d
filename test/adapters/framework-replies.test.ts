import { fastify } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fastifyRouter } from '../../adapters/fastify.js'
import type { ExchangeReply, ExchangeRequest, Mountable } from '../../src/http/http-message.js'
import { frameworks } from '../support/hosts/frameworks.js'
import { rawClient } from '../support/hosts/raw-client.js'

/** Answers every request with this reply, and keeps what it was asked. */
function answering(reply: ExchangeReply) {
  const asked: ExchangeRequest[] = []
  const mountable: Mountable = {
    paths: ['/v1/auth'],
    async handle(request) {
      asked.push(request)
      return reply
    },
  }
  return { asked, mountable }
}

const plain = { headers: {}, cookies: [], body: null }
const json = { 'content-type': 'application/json; charset=utf-8' }
const problem = { 'content-type': 'application/problem+json; charset=utf-8' }
const text = { 'content-type': 'text/plain; charset=utf-8' }

it.each(['/', '/identity/', '/identity'])(
  'fastify with the prefix %s asks for the path behind it',
  async (prefix) => {
    const { asked, mountable } = answering({ ...plain, status: 204 })
    const app = fastify()
    await app.register(fastifyRouter(mountable), { prefix })
    const url = `${prefix.replace(/\/$/, '')}/v1/auth/client/login`
    expect((await app.inject({ url })).statusCode).toBe(204)
    expect(asked.map(({ path }) => path)).toEqual(['/v1/auth/client/login'])
  },
)

describe.each(Object.entries(frameworks))('a reply on %s', (_name, serve) => {
  async function open(reply: Partial<ExchangeReply> & Pick<ExchangeReply, 'status'>) {
    const { asked, mountable } = answering({ ...plain, ...reply })
    const host = await serve(mountable)
    onTestFinished(() => host.close())
    return { asked, raw: rawClient(host.url) }
  }

  it.each([
    { status: 200, headers: json, body: '{"name":"Ünïcödé 😀"}' },
    { status: 201, headers: json, body: '{}' },
    { status: 401, headers: { ...problem, 'www-authenticate': 'Bearer' }, body: '{"status":401}' },
    { status: 404, headers: problem, body: '{"status":404}' },
    { status: 422, headers: text, body: 'Unprocessable Entity' },
    { status: 500, headers: problem, body: '{"status":500}' },
    { status: 503, headers: { ...problem, 'retry-after': '1' }, body: '{"status":503}' },
  ])('is that of status $status, to the byte', async (reply) => {
    const { raw } = await open(reply)
    const got = await raw('POST', '/v1/auth/x')
    expect([got.status, got.text]).toEqual([reply.status, reply.body])
    expect(Object.fromEntries(got.headers)).toMatchObject(reply.headers)
    expect(got.headers.get('content-length') ?? String(Buffer.byteLength(reply.body))).toBe(
      String(Buffer.byteLength(reply.body)),
    )
    const head = await raw('HEAD', '/v1/auth/x')
    expect([head.status, head.text, head.headers.get('content-type')]).toEqual([
      reply.status,
      '',
      reply.headers['content-type'],
    ])
  })

  it.each([204, 302, 303, 200])('has no body and no type with status %s', async (status) => {
    const { raw } = await open({ status, headers: { location: 'https://app.example.com/' } })
    const got = await raw('GET', '/v1/auth')
    expect([got.status, got.text, got.headers.get('content-type')]).toEqual([status, '', null])
    expect(got.headers.get('location')).toBe('https://app.example.com/')
  })

  it('keeps several cookies apart, in their order', async () => {
    const cookies = ['a=1; Path=/; Expires=Thu, 01 Jan 2026 00:00:00 GMT', 'b=2; HttpOnly']
    for (const reply of [
      { status: 200, headers: json, body: '{}', cookies },
      { status: 302, cookies },
      { status: 204, cookies },
    ]) {
      const { raw } = await open(reply)
      expect((await raw('POST', '/v1/auth/x')).setCookies).toEqual(cookies)
    }
  })

  it('is to a request handed over as it was sent', async () => {
    const { asked, raw } = await open({ status: 204 })
    const headers = {
      authorization: ['Bearer a', 'Bearer b'],
      cookie: ['a=1', 'b=2'],
      'x-some': 'Thing',
      'x-forwarded-for': '198.51.100.1',
    }
    await raw('DELETE', '/v1/auth/a%2Fb//c;x?q=%20/a?b&q=2', { headers })
    const [request] = asked
    expect(request).toMatchObject({ method: 'DELETE', query: 'q=%20/a?b&q=2' })
    expect([request?.path, request?.remoteAddress]).toEqual(['/v1/auth/a%2Fb//c;x', '127.0.0.1'])
    const named = ['authorization', 'cookie', 'x-some', 'x-forwarded-for', 'x-none']
    expect(named.map((name) => request?.header(name))).toEqual([
      expect.stringMatching(/^Bearer a, ?Bearer b$/),
      'a=1; b=2',
      'Thing',
      '198.51.100.1',
      undefined,
    ])
  })
})
