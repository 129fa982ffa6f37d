import { createPublicKey, KeyObject } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { generateSigningKey, loadKeyRing } from '../../src/crypto/key-ring.js'
import { signAccess } from '../../src/crypto/tokens.js'
import { accessClaims } from './claims.js'
import { encode, forge, forgeSegments } from './forge.js'
import { expecting, judge as judgeWith } from './judge.js'

const pem = await generateSigningKey()
const ring = await loadKeyRing({ current: pem })
const publicKey = createPublicKey(pem)
const header = { alg: 'RS256', kid: ring.kid, typ: 'at+jwt' }
const claims = accessClaims()
const genuine = await signAccess(claims, ring)

const judge = (token: unknown) => judgeWith(token, expecting(ring, 'access'))

const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** The text with the character at `index` replaced by another one. */
function changed(text: string, index: number, to: string): string {
  return `${text.slice(0, index)}${to}${text.slice(index + 1)}`
}

test('members that occur twice, and __proto__, refuse the token and harm nothing (RFC 7515)', () => {
  const text = JSON.stringify(header)
  const payload = JSON.stringify(claims)
  for (const [first, second] of [
    [text.replace('{', '{"alg":"none",'), payload],
    [text.replace('}', ',"alg":"RS256"}'), payload],
    [text.replace('{', `{"kid":"${ring.kid}",`), payload],
    [text, payload.replace('{', '{"aud":"client",')],
    [text, payload.replace('{', '{"sub":"user-2",')],
    [text.replace('{', '{"__proto__":{"alg":"RS256"},'), payload],
    [`{"__proto__":${text}}`, payload],
    [text, `{"__proto__":${payload}}`],
  ]) {
    expect(judge(forge(first, second, pem)), `${first}${second}`).toBe('invalid')
  }
  const poisoned = payload.replace('{', '{"__proto__":{"polluted":true},')
  judge(forge(text, poisoned, pem))
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
})

test('300 tokens, one character changed anywhere: none passes', async () => {
  let tried = 0
  for (let count = 0; count < 300; count += 1) {
    const token = await signAccess(
      accessClaims({ jti: `token-${count}`, sub: `user-${count}` }),
      ring,
    )
    expect(judge(token)).toBe('ok')
    // Every position is reached by some token, and the last character, which has spare bits, by all.
    for (let index = count % 25; index < token.length; index += 25) {
      const to = base64url[(base64url.indexOf(token[index] ?? '') + 1 + (count % 63)) % 64] ?? 'A'
      if (to === token[index]) continue
      tried += 1
      if (judge(changed(token, index, to)) !== 'invalid') throw new Error(`accepted at ${index}`)
    }
  }
  expect(tried).toBeGreaterThan(10_000)
})

test('no second text is the same token (RFC 7515)', () => {
  const [first = '', second = '', third = ''] = genuine.split('.')
  const last = genuine.length - 1
  for (const to of base64url) {
    if (to !== genuine[last]) expect(judge(changed(genuine, last, to)), to).toBe('invalid')
  }
  for (const text of [
    `${genuine}=`,
    `${genuine}==`,
    `${genuine}A`,
    `${genuine}.`,
    `.${genuine}`,
    `${genuine}.${third}`,
    `${genuine} `,
    ` ${genuine}`,
    `${genuine}\n`,
    `${genuine}\0`,
    `${first}=.${second}.${third}`,
    `${first}.${second}=.${third}`,
    `${first}\n.${second}.${third}`,
    `${first}.${second} .${third}`,
    `${first}.${second}.${third.slice(0, 9)} ${third.slice(9)}`,
    `${first}.${second}.${third.slice(0, 9)}\u00e9${third.slice(9)}`,
    genuine.replaceAll('-', '+').replaceAll('_', '/'),
    `${first}.${second}`,
    `${first}.${second}.`,
    `${first}..${third}`,
    `.${second}.${third}`,
    `${first}.${second}.${third}.${third}.${third}`,
    '..',
    '',
  ]) {
    if (text !== genuine) expect(judge(text), text).toBe('invalid')
  }
})

test('characters beyond ASCII that end in the same byte are not taken for their namesakes (RFC 7515)', () => {
  for (let index = 0; index < genuine.length; index += 1) {
    const twin = String.fromCharCode(0x100 + genuine.charCodeAt(index))
    if (judge(changed(genuine, index, twin)) !== 'invalid') throw new Error(`accepted at ${index}`)
  }
})

test('segments spelled unusually are invalid even when properly signed (RFC 7515)', () => {
  const [first, second] = [encode(header), encode(claims)]
  const spaced = encode(JSON.stringify(claims, null, 1))
  const escaped = encode(JSON.stringify(claims).replace('user-1', '\\u0075ser-1'))
  const broken = Buffer.from(
    JSON.stringify(claims).replace('user-1', 'user-\u00ff'),
    'latin1',
  ).toString('base64url')
  for (const [a, b] of [
    [encode(JSON.stringify(header, null, 1)), second],
    [`${first}=`, second],
    [`${first} `, second],
    [first, `${second}=`],
    [first, `${second}!`],
    [first, spaced],
    [first, escaped],
    [first, broken],
  ] as const) {
    expect(judge(forgeSegments(a, b, pem)), `${a} ${b}`).toBe('invalid')
  }
})

test('a JWE, and anything longer than 8,000 characters, is refused before it is decoded', () => {
  const jwe = [
    encode({ alg: 'PBES2-HS256+A128KW', enc: 'A128GCM', p2c: 2_000_000_000 }),
    'x',
    'x',
    'x',
    'x',
  ]
  const padded = (size: number) => forge(header, { ...claims, padding: 'x'.repeat(size) }, pem)
  const room = Math.ceil(((8000 - padded(0).length) * 3) / 4)
  const [longest, tooLong] = [padded(room), padded(room + 1)]
  expect([longest.length, tooLong.length > 8000]).toEqual([8000, true])
  expect([judge(longest), judge(tooLong)]).toEqual(['ok', 'invalid'])
  expect(judge(jwe.join('.'))).toBe('invalid')
  expect(judge('.'.repeat(8000))).toBe('invalid')
  expect(judge(`${'['.repeat(6000)}.a.b`)).toBe('invalid')
  expect(judge(`${encode('['.repeat(6000))}.a.b`)).toBe('invalid')
  expect(
    judge(`${encode(`{"alg":${'['.repeat(2900)}${']'.repeat(2900)},"kid":1,"typ":1}`)}.a.b`),
  ).toBe('invalid')
})

test('what is no text, or is noise, is invalid and never throws', () => {
  for (const value of [
    undefined,
    null,
    0,
    1,
    true,
    {},
    [],
    [genuine],
    Buffer.from(genuine),
    { toString: () => genuine },
    Symbol('x'),
    publicKey instanceof KeyObject,
  ]) {
    expect(judge(value)).toBe('invalid')
  }
  const shards = ['.', '=', '{', '"', '\0', '\ud800', 'é', '漢', 'A', '-', ...genuine.split('.')]
  const noise = fc.array(fc.oneof(fc.constantFrom(...shards), fc.string()))
  fc.assert(
    fc.property(noise, (parts) => {
      const text = parts.join('')
      return text === genuine || judge(text) === 'invalid'
    }),
    { numRuns: 3000 },
  )
})
