import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { documentOf } from '../../src/openapi/document.js'
import type { Operation } from '../../src/operations/operation.js'
import { replyJudge } from '../support/hosts/documented-replies.js'
import type { Reply } from '../support/hosts/http-client.js'
import { plantedOperation } from './planted.js'

const path = '/v1/auth/client/planted'

function judgeOf(more: Partial<Operation> = {}) {
  const judge = replyJudge(
    documentOf(
      [plantedOperation(more)],
      {},
      {
        surfaces: ['operator', 'client'],
        cookiePrefix: '__Host-',
        info: { title: 'Planted', version: '1.0.0' },
        servers: [{ url: '/' }],
      },
    ),
  )
  return (reply: Reply) => judge('POST', path, reply)?.problems ?? null
}

function reply(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  setCookies: readonly string[] = [],
): Reply {
  const type = status < 400 ? 'application/json' : 'application/problem+json'
  const text = body === null ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  return {
    status,
    headers: new Headers({ 'content-type': `${type}; charset=utf-8`, ...headers }),
    setCookies,
    text,
    json: () => JSON.parse(text),
    code: undefined,
  }
}

const problem = (status: number, title: string, code: string) =>
  ({ status, title, detail: '', code }) as const

describe('what the document says of replies, as tests hold replies against it', () => {
  it('has no objection to what is documented', () => {
    const judge = judgeOf()
    expect(judge(reply(200, { said: 'x' }))).toEqual([])
    expect(judge(reply(200, { said: 'x', at: '2026-01-01T00:00:00.000Z' }))).toEqual([])
    expect(judge(reply(400, problem(400, 'Bad Request', 'invalid_token')))).toEqual([])
    const busy = problem(429, 'Too Many Requests', 'rate_limited')
    expect(judge(reply(429, busy, { 'retry-after': '3' }))).toEqual([])
  })

  it.each([
    ['a status', reply(409, problem(409, 'Conflict', 'email_taken')), /status 409/],
    ['a code', reply(400, problem(400, 'Bad Request', 'token_expired')), /code/],
    ['a member too many', reply(200, { said: 'x', more: 1 }), /additional properties/],
    ['a member too few', reply(200, {}), /said/],
    ['another type', reply(200, { said: 1 }), /string/],
    ['another form of text', reply(200, { said: 'x', at: 'today' }), /date-time/],
    ['another media type', reply(200, 'x', { 'content-type': 'text/plain' }), /text\/plain/],
    ['a header', reply(200, { said: 'x' }, { location: '/' }), /location/],
    ['a cookie', reply(200, { said: 'x' }, {}, ['__Host-cl_refresh=1; Path=/']), /cl_refresh/],
    [
      'no header where one must be',
      reply(429, problem(429, 'Too Many Requests', 'rate_limited')),
      /Retry-After is missing/,
    ],
  ])('finds %s', (_what, given, told) => {
    expect(judgeOf()(given)).toEqual([expect.stringMatching(told)])
  })

  it('knows cookies, headers and bodies that an entry declares, and no others', () => {
    const cookies = { sets: ['device'] } as const
    const judge = judgeOf({
      status: 204,
      reply: z.null(),
      cookies,
      replyHeaders: { 'X-Refresh-Outcome': z.enum(['rotated', 'reissued']) },
    })
    const outcome = { 'x-refresh-outcome': 'rotated' }
    expect(judge(reply(204, null, outcome, ['cl_device=1']))).toEqual([])
    expect(judge(reply(204, null, outcome, ['__Secure-cl_device=1']))).toEqual([])
    expect(judge(reply(204, null, outcome, ['op_device=1']))).toHaveLength(1)
    expect(judge(reply(204, null, outcome, ['cl_refresh=1']))).toHaveLength(1)
    expect(judge(reply(204, null, { 'x-refresh-outcome': 'lost' }))).toHaveLength(1)
    expect(judge(reply(204, null))).toHaveLength(1)
    expect(judge(reply(204, { said: 'x' }, outcome))).toHaveLength(1)
  })

  it('knows the two forms in which a module refuses, where it may', () => {
    const own = reply(422, problem(422, 'Unprocessable Entity', 'mail.sender_unknown'))
    const text = reply(422, 'Unprocessable Entity', { 'content-type': 'text/plain' })
    expect(judgeOf()(own)).toEqual([expect.stringMatching(/status 422/)])
    const judge = judgeOf({ validated: true })
    expect([judge(own), judge(text)]).toEqual([[], []])
    const other = reply(422, 'Unprocessable', { 'content-type': 'text/plain' })
    expect(judge(other)).toHaveLength(1)
  })
})
