import { expect } from 'vitest'
import type { Reply } from './http-client.js'

const house = {
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** What every reply of the library has to carry, whatever it says. */
export function expectHouseHeaders(reply: Reply, cacheControl = 'no-store'): void {
  const { headers, status, text } = reply
  expect(Object.fromEntries(headers)).toMatchObject({ ...house, 'cache-control': cacheControl })
  const type = status < 400 ? 'application/json' : 'application/problem+json'
  if (status === 204) expect([headers.get('content-type'), text]).toEqual([null, ''])
  else expect(headers.get('content-type')).toBe(`${type}; charset=utf-8`)
  if (status === 401) expect(headers.get('www-authenticate')).toBe('Bearer')
  if (status === 405) expect(headers.get('allow')).toMatch(/^[A-Z]+(, [A-Z]+)*$/)
  if (status === 429) expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  if (status === 503) expect(headers.get('retry-after')).toBe('1')
}

/** What some problems tell beside the members of every one. */
function toldBy(code = ''): readonly string[] {
  if (code === 'password_policy') return ['violations']
  return code === 'config.roster_conflict' ? ['field'] : []
}

/**
 * The problem body of this status and code; without a code, the plain 401. With `key`: of a value that
 * its declaration refuses, at this key, which the detail names.
 */
export function expectProblem(reply: Reply, status: number, code?: string, key?: string): void {
  expect([reply.status, reply.code], reply.text).toEqual([status, code])
  expectHouseHeaders(reply)
  const body = reply.json()
  const own = [...(code === undefined ? [] : ['code']), ...toldBy(code)]
  const members = ['status', 'title', 'detail', ...own]
  expect(Object.keys(body).sort()).toEqual(members.sort())
  expect([body['status'], typeof body['title'], typeof body['detail']]).toEqual([
    status,
    'string',
    'string',
  ])
  if (key !== undefined) expect(body['detail']).toContain(`"${key}"`)
}
