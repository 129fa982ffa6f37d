import {
  createPrivateKey,
  createPublicKey,
  createSign,
  generateKeyPairSync,
  verify,
} from 'node:crypto'
import { inspect } from 'node:util'
import { calculateJwkThumbprint, importPKCS8 } from 'jose'
import { describe, expect, test } from 'vitest'
import {
  generateSigningKey,
  type KeyRing,
  loadKeyRing,
  type RemoteKey,
  type SigningInput,
} from '../../src/crypto/key-ring.js'
import { OptionsError } from '../../src/errors/index.js'
import { rsaPair } from './forge.js'

const strong = rsaPair(3072).privateKey
const first = rsaPair()
const second = rsaPair()

const pkcs8Pem = { type: 'pkcs8', format: 'pem' } as const
const spkiPem = { type: 'spki', format: 'pem' } as const
const pem = { publicKeyEncoding: spkiPem, privateKeyEncoding: pkcs8Pem } as const

/** The error a ring is refused with; the ring itself stays untyped, as from a host in JavaScript. */
async function refusal(ring: unknown): Promise<OptionsError> {
  try {
    await loadKeyRing(ring as KeyRing)
  } catch (error) {
    if (error instanceof OptionsError) return error
    throw error
  }
  throw new Error('the ring was accepted')
}

test('generateSigningKey makes RSA-3072 in PKCS#8 PEM, which loads without a warning', async () => {
  const made = await generateSigningKey()
  expect(made).toMatch(/^-----BEGIN PRIVATE KEY-----\n/)
  expect(await generateSigningKey()).not.toBe(made)
  const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(made)
  expect(asymmetricKeyType).toBe('rsa')
  expect(asymmetricKeyDetails).toMatchObject({ modulusLength: 3072, publicExponent: 65_537n })
  await expect(importPKCS8(made, 'RS256')).resolves.toBeDefined()
  expect((await loadKeyRing({ current: made })).warnings).toEqual([])
})

test('2048 bits are accepted with a warning that names the option', async () => {
  const ring = await loadKeyRing({
    current: first.privateKey,
    next: strong,
    previous: [second.publicKey],
  })
  expect(ring.warnings).toEqual([
    expect.stringMatching(/^keys\.current has 2048 bits/),
    expect.stringMatching(/^keys\.previous\[0\] has 2048 bits/),
  ])
})

test.each([
  ['1024 bits', rsaPair(1024).privateKey, /1024 bits.*generateSigningKey/],
  ['2047 bits', rsaPair(2047).privateKey, /2047 bits/],
  ['a public exponent of 3', rsaPair(2048, 3).privateKey, /exponent/],
  ['an EC key', generateKeyPairSync('ec', { namedCurve: 'P-256', ...pem }).privateKey, /type ec/],
  ['an Ed25519 key', generateKeyPairSync('ed25519', pem).privateKey, /type ed25519/],
  [
    'an RSA-PSS key',
    generateKeyPairSync('rsa-pss', { modulusLength: 2048, ...pem }).privateKey,
    /type rsa-pss/,
  ],
  ['a public key only', first.publicKey, /private key/],
  [
    'an encrypted key',
    generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: spkiPem,
      privateKeyEncoding: { ...pkcs8Pem, cipher: 'aes-256-cbc', passphrase: 'x' },
    }).privateKey,
    /unencrypted/,
  ],
  ['a key without its line breaks', strong.replaceAll('\n', '\\n'), /line breaks/],
  ['no PEM', 'secret-hunter2', /PKCS#8 PEM/],
  ['an empty text', '', /PKCS#8 PEM/],
  ['no text', 42, /PKCS#8 PEM/],
  ['a parsed key', createPrivateKey(first.privateKey), /PKCS#8 PEM/],
])('%s is refused as current and as next', async (_, key, message) => {
  const asCurrent = await refusal({ current: key })
  expect(asCurrent.option).toBe('keys.current')
  expect(asCurrent.message).toMatch(message)
  const asNext = await refusal({ current: strong, next: key })
  expect(asNext.option).toBe('keys.next')
  expect(asNext.message).toMatch(message)
})

test('previous keys are held to the same strength', async () => {
  const weak = await refusal({
    current: strong,
    previous: [second.publicKey, rsaPair(1024).publicKey],
  })
  expect(weak.option).toBe('keys.previous[1]')
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256', ...pem }).publicKey
  expect((await refusal({ current: strong, previous: [ec] })).option).toBe('keys.previous[0]')
})

test('a ring of another shape is refused', async () => {
  for (const ring of [undefined, null, strong]) {
    expect((await refusal(ring)).option, String(ring)).toBe('keys')
  }
  expect((await refusal({})).option).toBe('keys.current')
  expect((await refusal({ current: strong, previous: second.publicKey })).option).toBe(
    'keys.previous',
  )
  for (const key of [null, createPrivateKey(first.privateKey), { key: first.privateKey }]) {
    expect((await refusal({ current: strong, previous: [key] })).option).toBe('keys.previous[0]')
  }
})

test('what is refused for its shape says which shape it needs', async () => {
  expect((await refusal(strong)).message).toMatch(
    /must be an object \{ current, next\?, previous\? \}/,
  )
  const previous = await refusal({ current: strong, previous: second.publicKey })
  expect(previous.message).toMatch(/must be an array of PEM texts/)
  const sign = await refusal({ current: strong, sign: 'kms' })
  expect([sign.option, sign.message]).toEqual([
    'keys.sign',
    expect.stringMatching(/must be a function that resolves to the bytes of a signature/),
  ])
  expect((await refusal({ current: strong, previous: ['x'] })).message).toMatch(
    /SPKI or unencrypted/,
  )
})

describe('a ring whose key is kept elsewhere', () => {
  const sign = async ({ data }: SigningInput) => createSign('RSA-SHA256').update(data).sign(strong)
  const half = createPublicKey(strong).export(spkiPem).toString()
  // As a host in JavaScript may write it.
  const withoutSigner = { current: strong, sign: undefined } as unknown as KeyRing

  test('signs by the host’s function, which is told the key and the algorithm', async () => {
    const told: SigningInput[] = []
    const ring = await loadKeyRing({
      current: half,
      next: second.publicKey,
      previous: [first.publicKey],
      sign: async (input) => {
        told.push(input)
        return sign(input)
      },
    })
    const data = Buffer.from('what is signed')
    const signature = await ring.signer.sign(data)
    expect(verify('RSA-SHA256', data, createPublicKey(strong), signature)).toBe(true)
    expect(told).toMatchObject([{ kid: ring.kid, alg: 'RS256', data }])
    expect(told[0]?.signal.aborted).toBe(false)
    expect(ring.signer.isElsewhere).toBe(true)
    expect((await loadKeyRing(withoutSigner)).signer.isElsewhere).toBe(false)
  })

  test('is given to what signs with a bound, where there is such a thing', async () => {
    const bound = (key: RemoteKey) => async () => Buffer.from(key.kid)
    const ring = await loadKeyRing({ current: half, sign }, bound)
    expect(Buffer.from(await ring.signer.sign(new Uint8Array())).toString()).toBe(ring.kid)
  })

  test('holds no private half: one that is given is refused', async () => {
    const sec1 = createPrivateKey(first.privateKey).export({ type: 'pkcs1', format: 'pem' })
    for (const current of [strong, sec1, ` ${strong}`]) {
      const error = await refusal({ current, sign })
      expect([error.option, error.message]).toEqual([
        'keys.current',
        expect.stringMatching(/must be the public half \(SPKI PEM\)/),
      ])
    }
    for (const current of [42, 'no PEM', { key: half }]) {
      const error = await refusal({ current, sign })
      expect(error.message).toMatch(/an RSA public key in SPKI PEM/)
    }
    const next = await refusal({ current: half, next: 'no PEM', sign })
    expect(next.option).toBe('keys.next')
  })
})

test('a key in two places is refused, whichever half and form it comes in', async () => {
  const one = await refusal({ current: strong, next: strong })
  expect(one.option).toBe('keys.next')
  expect(one.message).toContain('keys.current')
  for (const previous of [
    [first.publicKey],
    [first.privateKey],
    [second.publicKey, second.privateKey],
  ]) {
    const error = await refusal({ current: first.privateKey, previous })
    expect(error.option).toBe(`keys.previous[${previous.length - 1}]`)
  }
})

test('errors never repeat key material', async () => {
  const body = strong.split('\n')[1] ?? ''
  expect(body.length).toBeGreaterThan(60)
  for (const ring of [
    { current: strong, next: strong },
    { current: strong.replace('-----END', '-----FIN') },
    { current: body },
    { current: strong, previous: [strong.slice(0, 500)] },
  ]) {
    const error = await refusal(ring)
    expect(inspect(error, { depth: 9 })).not.toContain(body.slice(0, 20))
    expect(error.cause).toBeUndefined()
  }
})

test('kid is the RFC 7638 thumbprint, for the key of its §3.1 too', async () => {
  const n =
    '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw'
  const published = createPublicKey({ key: { kty: 'RSA', n, e: 'AQAB' }, format: 'jwk' })
  const ring = await loadKeyRing({
    current: strong,
    previous: [published.export({ type: 'spki', format: 'pem' }).toString()],
  })
  expect(ring.verifyingKeys.has('NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs')).toBe(true)
  const { n: ours = '', e = '' } = createPublicKey(strong).export({ format: 'jwk' })
  expect(ring.kid).toBe(await calculateJwkThumbprint({ kty: 'RSA', n: ours, e }))
})

test('the published set has every key once, and public members only (RFC 7517)', async () => {
  const ring = await loadKeyRing({
    current: strong,
    next: first.privateKey,
    previous: [second.privateKey],
  })
  const { keys } = ring.jwks()
  expect(new Set(keys.map((key) => key.kid))).toEqual(new Set(ring.verifyingKeys.keys()))
  expect(keys).toHaveLength(3)
  for (const key of keys) {
    expect(Object.keys(key).toSorted()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use'])
    expect(key).toMatchObject({ kty: 'RSA', alg: 'RS256', use: 'sig', e: 'AQAB' })
    expect(ring.verifyingKeys.get(key.kid)?.type).toBe('public')
  }
  const held = createPublicKey(first.privateKey).export({ format: 'jwk' })
  expect(keys.find((key) => key.n === held.n)).toBeDefined()
})

test('what a caller does to the published set does not reach the ring', async () => {
  const ring = await loadKeyRing({ current: strong })
  const handedOut = ring.jwks()
  Object.assign(handedOut.keys[0] ?? {}, { n: 'changed' })
  Object.assign(handedOut, { keys: [] })
  expect(ring.jwks().keys[0]?.n).toBe(createPublicKey(strong).export({ format: 'jwk' }).n)
})

test('a ring shows no private key when it is logged', async () => {
  const ring = await loadKeyRing({ current: strong, next: first.privateKey })
  const shown = inspect(ring, { depth: 9, showHidden: true }) + JSON.stringify(ring)
  for (const key of [strong, first.privateKey]) {
    const { d = '', p = '' } = createPrivateKey(key).export({ format: 'jwk' })
    expect(shown).not.toContain(d)
    expect(shown).not.toContain(p)
    expect(shown).not.toContain(key.split('\n')[1])
  }
})
