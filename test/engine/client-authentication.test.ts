import { describe, expect, it } from 'vitest'
import { isBasic, readTokenRequest } from '../../src/engine/client-authentication.js'

const grant = { grant_type: 'client_credentials' }
const base64 = (text: string) => Buffer.from(text).toString('base64')
const basic = (text: string) => `Basic ${base64(text)}`
const unreadable = { ok: true, clientId: '', clientSecret: '' }
const invalid = { ok: false, code: 'invalid_request' }

const read = (authorization: string | undefined, form: object = {}) =>
  readTokenRequest({ authorization, form: { ...grant, ...form } })

describe('whether a client authenticates by the header', () => {
  it('is known by its scheme, however it is written', () => {
    const basics = ['Basic', 'basic abc', ' BASIC  abc ', 'Basic ']
    const others = [undefined, '', 'Bearer abc', 'Basics abc', 'a Basic abc', 'Basic\tabc']
    expect(basics.map(isBasic)).toEqual([true, true, true, true])
    expect(others.map(isBasic)).toEqual(others.map(() => false))
  })
})

describe('the pair that a client authenticates with', () => {
  it.each([
    ['of the form', undefined, { client_id: 'a', client_secret: 'b' }, ['a', 'b']],
    ['of a form without any', undefined, {}, ['', '']],
    ['of the header', basic('a:b'), {}, ['a', 'b']],
    ['of the header, after several spaces', `Basic   ${base64('a:b')} `, {}, ['a', 'b']],
    ['of the header, with a colon in the secret', basic('a:b:c'), {}, ['a', 'b:c']],
    ['of the header, with empty parts', basic(':'), {}, ['', '']],
    ['of the header, form-encoded', basic('a%3Ab:c+d'), {}, ['a:b', 'c d']],
    ['of the header, in UTF-8', basic('é:ü'), {}, ['é', 'ü']],
    [
      'of the header, with what elsewhere marks the order of bytes',
      basic('\ufeffa:b'),
      {},
      ['\ufeffa', 'b'],
    ],
    [
      'of the header, where the form names the same client',
      basic('a:b'),
      { client_id: 'a' },
      ['a', 'b'],
    ],
    ['of the header, beside an empty secret', basic('a:b'), { client_secret: '' }, ['a', 'b']],
  ] as const)('is that %s', (_name, authorization, form, [clientId, clientSecret]) => {
    expect(read(authorization, form)).toEqual({ ok: true, clientId, clientSecret })
  })

  it.each([
    ['no credentials', 'Basic'],
    ['no colon', basic('ab')],
    ['no colon in a pair of the form', `Basic ${base64('ab')}`],
    ['what is no base64', `Basic ${base64('a:b')}!`],
    ['what begins with no base64', `Basic !${base64('a:b')}`],
    ['base64 that is cut off', 'Basic YTpiY'],
    ['bytes that are no UTF-8', `Basic ${Buffer.from([0x61, 0x3a, 0xff]).toString('base64')}`],
    ['a stray percent sign in the id', basic('%:b')],
    ['a stray percent sign in the secret', basic('a:%')],
  ])('is no client’s with %s', (_name, authorization) => {
    expect(read(authorization)).toEqual(unreadable)
    // And so it is not the client that the form names.
    expect(read(authorization, { client_id: 'a' })).toEqual(invalid)
  })
})

describe('a token request', () => {
  it.each([
    ['two methods', basic('a:b'), { client_secret: 'b' }],
    ['two others', basic('a:b'), { client_assertion: 'c' }],
    ['two in the form', undefined, { client_id: 'a', client_secret: 'b', client_assertion: 'c' }],
    ['two clients', basic('a:b'), { client_id: 'c' }],
    ['no grant', undefined, { grant_type: '' }],
    ['two methods and no grant', basic('a:b'), { grant_type: undefined, client_secret: 'b' }],
    ['two methods and another grant', basic('a:b'), { grant_type: 'password', client_secret: 'b' }],
  ])('with %s is invalid', (_name, authorization, form) => {
    expect(read(authorization, form)).toEqual(invalid)
  })

  it('asks for this grant alone, and for no scope', () => {
    const unsupported = { ok: false, code: 'unsupported_grant_type' }
    expect(read(undefined, { grant_type: 'password', scope: 'all' })).toEqual(unsupported)
    expect(read(undefined, { scope: 'all' })).toEqual({ ok: false, code: 'invalid_scope' })
    expect(read(basic('a:b'), { scope: '' })).toEqual({
      ok: true,
      clientId: 'a',
      clientSecret: 'b',
    })
  })
})
