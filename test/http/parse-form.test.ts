import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isBasic, readTokenRequest } from '../../src/engine/client-authentication.js'
import { AuthError } from '../../src/errors/index.js'
import { parsedForm, parseForm } from '../../src/http/request-input.js'

const bytesOf = (text: string) => new TextEncoder().encode(text)
/** Bytes that lie where a reader of forms can go wrong. */
const odd = fc.constantFrom(
  ...[
    '%',
    '%0',
    '%00',
    '%2',
    '%26',
    '%3D',
    '%ff',
    '%C3%A9',
    '%c3',
    '%ED%A0%80',
    '+',
    '&',
    '=',
    '&&',
  ],
  ...['a', 'client_id', 'grant_type', '__proto__', 'constructor', 'é', '\n', '\0', ' ', ';'],
)
const forms = fc.oneof(
  fc.array(odd, { maxLength: 40 }).map((parts) => bytesOf(parts.join(''))),
  fc.uint8Array({ maxLength: 60 }),
)

function parsed(bytes: Uint8Array): Readonly<Record<string, string>> | null {
  try {
    return parseForm(bytes)
  } catch (error) {
    expect(error).toBeInstanceOf(AuthError)
    expect(error).toMatchObject({ code: 'invalid_request' })
    return null
  }
}

describe('a form', () => {
  it('is read as it was written', () => {
    const names = fc.string({ unit: 'binary', maxLength: 20 })
    fc.assert(
      fc.property(fc.dictionary(names, names, { maxKeys: 20 }), (members) => {
        fc.pre(Object.keys(members).length > 0)
        const text = new URLSearchParams({ ...members }).toString()
        const fair = Object.entries(members).map((pair) => pair.map((one) => one.toWellFormed()))
        fc.pre(new Set(fair.map(([name]) => name)).size === fair.length)
        expect(Object.entries(parseForm(bytesOf(text))).sort()).toEqual(fair.sort())
      }),
    )
  })

  it('whatever is accepted is safe: few members, each once, each a text with a form in UTF-8', () => {
    fc.assert(
      fc.property(forms, (bytes) => {
        const form = parsed(bytes)
        if (form === null) return
        const members = Object.entries(form)
        expect(members.length).toBeLessThanOrEqual(64)
        expect(Object.getPrototypeOf(form)).toBe(Object.prototype)
        for (const text of members.flat()) expect(text.isWellFormed()).toBe(true)
        // Another strict reader, that of the URL standard, sees the same.
        const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
        const others = [...new URLSearchParams(`&${text}`)]
        const named = members.filter(([name, value]) => name !== '' || value !== '')
        expect(others.filter(([name, value]) => name !== '' || value !== '')).toEqual(
          expect.arrayContaining(named),
        )
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['a=1&a=1', null],
    ['a=1&%61=2', null],
    ['a=%ff', null],
    ['a=%ED%A0%80', null],
    ['a=%', null],
    ['a=%zz', null],
    ['%=1', null],
    [Array.from({ length: 65 }, (_, at) => `m${at}=`).join('&'), null],
    ['', {}],
    ['a', { a: '' }],
    ['a=b=c', { a: 'b=c' }],
    ['a+b=%2B+%26%3d', { 'a b': '+ &=' }],
    ['a=%C3%A9%0A', { a: 'é\n' }],
  ])('%s', (text, form) => {
    expect(parsed(bytesOf(text))).toEqual(form)
  })

  it('that the host has read already is held to the same', () => {
    expect(parsedForm({ a: 'b', c: '' })).toEqual({ a: 'b', c: '' })
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`m${at}`, '']))
    for (const other of [{ a: ['b', 'c'] }, { a: { b: 'c' } }, { a: 1 }, null, 'a=b', many]) {
      expect(() => parsedForm(other)).toThrow(AuthError)
    }
  })
})

describe('the credentials of a token request', () => {
  const form = { grant_type: 'client_credentials' }
  const texts = fc.string({ unit: 'binary', maxLength: 30 }).map((text) => text.toWellFormed())
  const encoded = (text: string) => encodeURIComponent(text).replaceAll('%20', '+')
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

  it('are the texts that the client encoded, by either method', () => {
    fc.assert(
      fc.property(texts, texts, (clientId, clientSecret) => {
        const authorization = basic(`${encoded(clientId)}:${encoded(clientSecret)}`)
        const pair = { ok: true, clientId, clientSecret }
        expect(readTokenRequest({ authorization, form })).toEqual(pair)
        const members = { ...form, client_id: clientId, client_secret: clientSecret }
        expect(readTokenRequest({ authorization: undefined, form: members })).toEqual(pair)
      }),
    )
  })

  it('never throw, whatever the header holds, and are two texts with a form in UTF-8', () => {
    const headers = fc.oneof(
      fc.string({ maxLength: 40 }).map((text) => `Basic ${text}`),
      fc
        .uint8Array({ maxLength: 40 })
        .map((bytes) => `bAsIc  ${Buffer.from(bytes).toString('base64')}`),
      fc.array(odd, { maxLength: 10 }).map((parts) => basic(parts.join(''))),
    )
    fc.assert(
      fc.property(headers, (authorization) => {
        const read = readTokenRequest({ authorization, form })
        expect(isBasic(authorization)).toBe(true)
        expect(read.ok).toBe(true)
        if (!read.ok) return
        expect(read.clientId.isWellFormed() && read.clientSecret.isWellFormed()).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })
})
