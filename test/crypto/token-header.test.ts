import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { loadKeyRing } from '../../src/crypto/key-ring.js'
import { signAccess } from '../../src/crypto/tokens.js'
import { testSigningKey } from '../support/keys.js'
import { accessClaims } from './claims.js'
import { encode, forge, forgeHmac, rsaPair, without } from './forge.js'
import { expecting, judge as judgeWith } from './judge.js'

const pem = await testSigningKey()
const ring = await loadKeyRing({ current: pem })
const publicKey = createPublicKey(pem)
const header = { alg: 'RS256', kid: ring.kid, typ: 'at+jwt' }
const claims = accessClaims()
const genuine = await signAccess(claims, ring)

const judge = (token: unknown) => judgeWith(token, expecting(ring, 'access'))

test('the genuine token of this file passes', () => {
  expect(judge(genuine)).toBe('ok')
  expect(judge(forge(header, claims, pem))).toBe('ok')
})

test('no other algorithm passes, whatever the signature', async () => {
  const unsigned = `${encode({ ...header, alg: 'none' })}.${encode(claims)}`
  const forged = [unsigned, `${unsigned}.`, `${unsigned}.${genuine.split('.')[2]}`]
  for (const alg of [
    'none',
    'None',
    'NONE',
    'rs256',
    'RS256 ',
    'RS384',
    'RS512',
    'PS256',
    'ES256',
    '',
    null,
    256,
    ['RS256'],
  ]) {
    forged.push(forge({ ...header, alg }, claims, pem))
  }
  forged.push(forge(without(header, 'alg'), claims, pem))
  expect(forged.map(judge)).toEqual(forged.map(() => 'invalid'))
})

test('HS256 keyed with any form of the public key does not pass', () => {
  const forms = [
    publicKey.export({ type: 'spki', format: 'pem' }),
    publicKey.export({ type: 'pkcs1', format: 'pem' }),
    publicKey.export({ type: 'spki', format: 'der' }),
    publicKey.export({ type: 'pkcs1', format: 'der' }),
    JSON.stringify(publicKey.export({ format: 'jwk' })),
    JSON.stringify(ring.jwks().keys[0]),
    ring.kid,
    '',
  ]
  for (const form of forms) {
    for (const alg of ['HS256', 'RS256']) {
      expect(judge(forgeHmac({ ...header, alg }, claims, form))).toBe('invalid')
    }
  }
})

test('properly signed RS384, RS512, PS256 and ES256 tokens do not pass under any label', async () => {
  const key = createPrivateKey(pem)
  for (const alg of ['RS384', 'RS512', 'PS256'] as const) {
    const token = await new SignJWT({ ...claims }).setProtectedHeader({ ...header, alg }).sign(key)
    const relabelled = `${encode(header)}.${token.split('.').slice(1).join('.')}`
    expect([judge(token), judge(relabelled)], alg).toEqual(['invalid', 'invalid'])
    const input = `${encode(header)}.${encode(claims)}`
    const digest = alg === 'RS384' ? 'RSA-SHA384' : 'RSA-SHA512'
    expect(judge(`${input}.${sign(digest, Buffer.from(input), pem).toString('base64url')}`)).toBe(
      'invalid',
    )
  }
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const es256 = await new SignJWT({ ...claims })
    .setProtectedHeader({ ...header, alg: 'ES256' })
    .sign(ec)
  expect(judge(es256)).toBe('invalid')
  expect(judge(`${encode(header)}.${es256.split('.').slice(1).join('.')}`)).toBe('invalid')
})

test('a key in or named by the header is never used, and its presence refuses', () => {
  const own = rsaPair()
  const jwk = createPublicKey(own.publicKey).export({ format: 'jwk' })
  const members = {
    jwk,
    jku: 'http://127.0.0.1:9/jwks',
    x5u: 'http://127.0.0.1:9/cert',
    x5c: [own.publicKey],
    x5t: 'x',
    'x5t#S256': 'x',
    crit: ['exp'],
    b64: true,
    zip: 'DEF',
    enc: 'A256GCM',
    p2c: 2_000_000_000,
    p2s: 'x',
    cty: 'JWT',
    nonce: 'x',
  }
  for (const [name, value] of Object.entries(members)) {
    for (const kid of [ring.kid, 'own']) {
      const carrying = { ...header, kid, [name]: value }
      expect(judge(forge(carrying, claims, own.privateKey)), `${name}, own key`).toBe('invalid')
      expect(judge(forge(carrying, claims, pem)), `${name}, our key`).toBe('invalid')
    }
  }
  for (const crit of [[], ['exp'], ['b64'], 'b64', null]) {
    expect(judge(forge({ ...header, crit }, claims, pem))).toBe('invalid')
  }
  expect(judge(forge({ ...header, b64: false, crit: ['b64'] }, claims, pem))).toBe('invalid')
})

test('an unknown or odd kid is invalid', () => {
  for (const kid of [
    undefined,
    null,
    '',
    0,
    true,
    [],
    [ring.kid],
    {},
    { $ne: '' },
    ` ${ring.kid}`,
    `${ring.kid}\0`,
    ring.kid.slice(0, -1),
    ring.kid.toLowerCase(),
    '../../../dev/null',
    "' OR 1=1--",
    '__proto__',
    'constructor',
    'toString',
    'a\r\nb',
    'k'.repeat(10_000),
  ]) {
    expect(judge(forge({ ...header, kid }, claims, pem)), JSON.stringify(kid)).toBe('invalid')
  }
})

test('only the exact typ passes (RFC 9068)', () => {
  for (const typ of [
    undefined,
    null,
    '',
    'JWT',
    'jwt',
    'rt+jwt',
    'AT+JWT',
    'application/at+jwt',
    'at+jwt ',
    'mfa+jwt',
    ['at+jwt'],
    1,
  ]) {
    expect(judge(forge({ ...header, typ }, claims, pem)), JSON.stringify(typ)).toBe('invalid')
  }
})

test('the order of the header members does not matter, before and after it was seen', () => {
  const { alg, kid, typ } = header
  for (const order of [
    { alg, kid, typ },
    { typ, kid, alg },
    { kid, typ, alg },
    { alg, typ, kid },
  ]) {
    const token = forge(order, claims, pem)
    expect([judge(token), judge(token)]).toEqual(['ok', 'ok'])
  }
})

test('a header remembered by one ring means nothing to another', async () => {
  const other = await loadKeyRing({ current: rsaPair().privateKey })
  expect([judge(genuine), judgeWith(genuine, expecting(other, 'access'))]).toEqual([
    'ok',
    'invalid',
  ])
})

test('headers are remembered, and strangers cannot make up ones that are', () => {
  const segment = encode(header)
  expect(ring.readHeader(segment)).not.toBeNull()
  expect(ring.readHeader(segment)).toBe(ring.readHeader(segment))
  for (const changes of [{ typ: 'at+jwt1' }, { typ: '' }, { kid: 'x' }, { alg: 'x' }, { x: 1 }]) {
    expect(ring.readHeader(encode({ ...header, ...changes })), JSON.stringify(changes)).toBeNull()
  }
  const text = JSON.stringify(header)
  for (const spelling of [` ${text}`, text.replace('RS256', '\\u0052S256'), `${text}\n`]) {
    expect(ring.readHeader(encode(spelling)), spelling).toBeNull()
  }
})
