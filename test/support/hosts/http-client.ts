import assert from 'node:assert/strict'
import type { Surface } from '../../../src/ports/surface.js'
import { watchReply } from './watch-replies.js'

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly setCookies: readonly string[]
  readonly text: string
  /** The parsed body; fails for a reply that is not JSON. */
  json(): Record<string, unknown>
  /** The problem's `code`, or a token endpoint's `error`; undefined when the body has none. */
  readonly code: unknown
}

export interface SendOptions {
  readonly body?: unknown
  readonly bearer?: string
  readonly cookie?: string
  readonly headers?: Readonly<Record<string, string>>
}

export type Send = (method: string, path: string, options?: SendOptions) => Promise<Reply>

/** Plain HTTP without a cookie jar: tests say which cookie they send. */
export function httpClient(url: string): Send {
  return async (method, path, { body, bearer, cookie, headers = {} } = {}) => {
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(cookie === undefined ? {} : { cookie }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const json = (): Record<string, unknown> => {
      assert.match(response.headers.get('content-type') ?? '', /json/)
      return JSON.parse(text)
    }
    const reply = {
      status: response.status,
      headers: response.headers,
      setCookies: response.headers.getSetCookie(),
      text,
      json,
      code: codeOf(path, response, json),
    }
    watchReply(method, path, reply)
    return reply
  }
}

function codeOf(path: string, { status, headers }: Response, json: Reply['json']): unknown {
  if (headers.get('content-type')?.startsWith('application/problem+json')) return json()['code']
  // Of a token endpoint (RFC 6749 §5.2).
  const isRefusal = path.startsWith('/v1/auth/oauth2/') && [400, 401].includes(status)
  return isRefusal ? json()['error'] : undefined
}

/** `name=value` of the refresh cookie a reply sets; fails when it sets none. */
export function refreshCookieOf(reply: Reply, surface: Surface): string {
  const short = surface === 'operator' ? 'op_refresh' : 'cl_refresh'
  const found = reply.setCookies.find((cookie) => cookie.split('=')[0]?.endsWith(short))
  assert.ok(found !== undefined, `no ${short} cookie in ${reply.setCookies.join(' | ') || 'none'}`)
  return found.split(';')[0] ?? ''
}

export function textOf(json: Record<string, unknown>, member: string): string {
  const value = json[member]
  assert.ok(typeof value === 'string', `"${member}" is not a string`)
  return value
}
