import { describe, expect, it } from 'vitest'
import {
  type CookiePolicy,
  clearCookie,
  clearOthers,
  cookieName,
  cookiesIn,
  flowKeysIn,
  onlyCookie,
  setCookie,
} from '../../src/http/cookies.js'

const hostOnly: CookiePolicy = { surface: 'operator', secure: true, domain: null, path: '/' }
const shared: CookiePolicy = {
  surface: 'client',
  secure: true,
  domain: 'example.com',
  path: '/v1/auth',
}
const local: CookiePolicy = { surface: 'client', secure: false, domain: null, path: '/' }

describe.each(['refresh', 'device'] as const)('the %s cookie', (what) => {
  it.each([
    [hostOnly, '__Host-op_refresh'],
    [{ ...hostOnly, surface: 'client' as const }, '__Host-cl_refresh'],
    [shared, '__Secure-cl_refresh'],
    [{ ...shared, surface: 'operator' as const }, '__Secure-op_refresh'],
    [local, 'cl_refresh'],
    [{ ...local, surface: 'operator' as const, domain: 'localhost' }, 'op_refresh'],
  ])('%j is called %s', (policy, name) => {
    expect(cookieName(policy, what)).toBe(name.replace('refresh', what))
  })

  it.each([
    [
      hostOnly,
      'strict',
      '__Host-op_refresh=a.b.c; Max-Age=60; Path=/; HttpOnly; SameSite=Strict; Secure',
    ],
    [
      hostOnly,
      'none',
      '__Host-op_refresh=a.b.c; Max-Age=60; Path=/; HttpOnly; SameSite=None; Secure',
    ],
    [
      shared,
      'lax',
      '__Secure-cl_refresh=a.b.c; Max-Age=60; Path=/v1/auth; HttpOnly; SameSite=Lax; Domain=example.com; Secure',
    ],
    [local, 'lax', 'cl_refresh=a.b.c; Max-Age=60; Path=/; HttpOnly; SameSite=Lax'],
    [local, 'none', 'cl_refresh=a.b.c; Max-Age=60; Path=/; HttpOnly; SameSite=Lax'],
  ] as const)('%j with SameSite %s is set as a whole', (policy, sameSite, line) => {
    const expected = line.replace('refresh', what)
    expect(setCookie(policy, what, sameSite, { value: 'a.b.c', maxAge: 60 })).toBe(expected)
  })

  it.each([hostOnly, shared, local])('%j is cleared where it was set', (policy) => {
    const withoutValue = (line: string) => line.replace(/^([^=]+)=[^;]*; Max-Age=\d+/, '$1')
    const set = setCookie(policy, what, 'lax', { value: 'a.b.c', maxAge: 60 })
    const cleared = clearCookie(policy, what, 'lax')
    expect(withoutValue(cleared)).toBe(withoutValue(set))
    expect(cleared).toMatch(/^[^=]+=; Max-Age=0; /)
  })
})

describe('taking away cookies of the same name', () => {
  const domainsOf = (lines: readonly string[]) =>
    lines.map((one) => `${/Domain=([^;]+)/.exec(one)?.[1] ?? ''} ${/Path=([^;]+)/.exec(one)?.[1]}`)

  it('goes through the host alone, the other domains, and the root path; leaves the own one', () => {
    const policy = { ...shared, otherDomains: ['app.example.com'] }
    const lines = clearOthers(policy, 'refresh', 'lax')
    expect(domainsOf(lines)).toEqual([
      'example.com /',
      ' /v1/auth',
      ' /',
      'app.example.com /v1/auth',
      'app.example.com /',
    ])
    for (const one of lines) expect(one).toMatch(/^__Secure-cl_refresh=; Max-Age=0; /)
  })

  it('has nothing to do for a `__Host-` cookie, which is the only one', () => {
    expect(clearOthers(hostOnly, 'refresh', 'lax')).toEqual([])
  })
})

describe('reading a cookie', () => {
  it.each([
    [undefined, null],
    ['', null],
    ['op_refresh=x', 'x'],
    ['a=1; op_refresh=x; b=2', 'x'],
    ['a=1;op_refresh=x;b=2', 'x'],
    ['  op_refresh =  x  ', 'x'],
    ['\top_refresh\t=\tx\t', 'x'],
    // A page of another subdomain may have planted one of them (RFC 6265bis §8.6).
    ['op_refresh=x; op_refresh=y', null],
    ['op_refresh=x; a=1; op_refresh=x', null],
    ['op_refresh=; op_refresh=x', null],
    ['\u00a0op_refresh=x', null],
    ['op_refresh=x; \u00a0op_refresh=y', 'x'],
    ['op_refresh=x=y==', 'x=y=='],
    ['op_refresh=', null],
    ['op_refresh', null],
    ['=x', null],
    ['; ; ;', null],
    ['OP_REFRESH=x', null],
    ['xop_refresh=x', null],
    ['op_refresh2=x', null],
    ['a="op_refresh=x"', null],
    ['__proto__=1', null],
    [`${'a=1; '.repeat(10_000)}op_refresh=x`, 'x'],
  ])('%s', (header, value) => {
    expect(onlyCookie(cookiesIn(header), 'op_refresh')).toBe(value)
  })
})

describe('the cookies of flows', () => {
  const flow = 'abcdefghijklmnop'
  const name = `__Host-op_oauth_${flow}`
  const keysIn = (cookie: string) => flowKeysIn(cookiesIn(cookie), '__Host-op_oauth_')

  it.each([
    [`${name}=k1`, [{ mode: 'query', flow, key: 'k1' }]],
    [`a=b; __Host-op_oauth_form_${flow}=k1`, [{ mode: 'form_post', flow, key: 'k1' }]],
    [`${name}=k1; ${name}=k2`, []],
    [`${name}=; ${name}=k1`, []],
    [`${name}=k1; ${name}=`, []],
    [`${name}=`, []],
    [`${name}q=k1`, []],
  ])('%s', (header, keys) => {
    expect(keysIn(header)).toEqual(keys)
  })
})
