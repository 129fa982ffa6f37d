import { createDecipheriv, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  type ConfigKey,
  openValues,
  planReencryption,
  sealValues,
  secretBox,
} from '../../src/crypto/secret-box.js'
import { secretTest } from '../../src/engine/configuration/revisions.js'
import { describeError, SecretKeyError } from '../../src/errors/index.js'
import { deepFreeze, mailFields } from '../engine/configuration/mail-module.js'

const random = { bytes: (length: number) => new Uint8Array(randomBytes(length)) }
const newKey = (id: string): ConfigKey => ({ id, key: randomBytes(32).toString('base64') })
const [first, second] = [newKey('k1'), newKey('k2')]
const place = { module: 'mail', environment: 'production', key: 'apiKey' }
/** Made in the test itself, so that a box that cannot be made fails the test that needs it. */
const box = () => secretBox([first], random)

describe('the secret box', () => {
  test.each(['S3CR3T', ' ', 'ключ 🔑', 'enc:v1:k1:a:b', 'x'.repeat(65_536)])(
    'opens what it sealed (%#)',
    (secret) => {
      const sealed = box().seal(secret, place)
      expect(box().open(sealed, place)).toBe(secret)
      expect(sealed).toMatch(/^enc:v1:k1:[\w-]{16}:[\w-]+$/)
      expect(sealed).not.toContain('S3CR3T')
    },
  )

  test('is AES-256-GCM by a key of 32 bytes: never alike, and nothing but whole', () => {
    const sealed = box().seal('S3CR3T', place)
    expect(sealed).not.toContain('S3CR3T')
    expect(box().seal('S3CR3T', place)).not.toBe(sealed)
    for (const length of [0, 16, 31, 33, 64]) {
      const key = randomBytes(length).toString('base64')
      expect(() => secretBox([{ id: 'k', key }], random), `${length}`).toThrow(SecretKeyError)
    }
    const parts = sealed.split(':')
    const whole = Buffer.from(parts.at(-1) ?? '', 'base64url')
    for (let at = 0; at < whole.length; at += 1) {
      const flipped = Buffer.from(whole)
      flipped[at] = (flipped[at] ?? 0) ^ 1
      const text = [...parts.slice(0, -1), flipped.toString('base64url')].join(':')
      expect([at, box().open(text, place)]).toEqual([at, null])
    }
    const [, , , nonce = '', body = ''] = parts
    const bytes = Buffer.from(body, 'base64url')
    const key = Buffer.from(first.key, 'base64')
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'))
    decipher.setAAD(Buffer.from('mail|production|apiKey'))
    decipher.setAuthTag(bytes.subarray(-16))
    const text = Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()])
    expect(text.toString()).toBe('S3CR3T')
  })

  test('keeps the empty text empty: it is no secret', () => {
    expect([box().seal('', place), box().open('', place), box().isCurrent('')]).toEqual([
      '',
      '',
      true,
    ])
  })

  test('seals an equal secret differently each time', () => {
    const one = box()
    const nonces = Array.from({ length: 20_000 }, () => one.seal('x', place).split(':')[3])
    expect(new Set(nonces).size).toBe(nonces.length)
  })

  test('a text sealed for one place opens at no other', () => {
    const sealed = box().seal('S3CR3T', place)
    expect(box().open(sealed, { ...place, module: 'auth' })).toBeNull()
    expect(box().open(sealed, { ...place, environment: 'sandbox' })).toBeNull()
    expect(box().open(sealed, { ...place, key: 'hooks.a.token' })).toBeNull()
  })

  test('no changed character of a sealed text goes unnoticed', () => {
    const sealed = box().seal('S3CR3T', place)
    for (let at = 0; at < sealed.length; at += 1) {
      const other = sealed[at] === 'A' ? 'B' : 'A'
      const changed = sealed.slice(0, at) + other + sealed.slice(at + 1)
      expect([at, box().open(changed, place)]).toEqual([at, null])
    }
  })

  test.each([
    'S3CR3T',
    'enc:v1:',
    'enc:v1:k1',
    'enc:v1:k1::',
    'enc:v2:k1:a:b',
    'enc:v1:k1:AAAA:AAAA',
  ])('%j is not taken for a secret', (text) => {
    expect(box().open(text, place)).toBeNull()
  })

  test('cut, prolonged and re-spelled texts open nothing', () => {
    const sealed = box().seal('S3CR3T', place)
    for (const text of [
      sealed.slice(0, -1),
      `${sealed}=`,
      `${sealed}:x`,
      `${sealed} `,
      ` ${sealed}`,
    ]) {
      expect(box().open(text, place)).toBeNull()
    }
  })

  test('the first key of the ring seals, all of them open', () => {
    const old = box().seal('S3CR3T', place)
    const both = secretBox([second, first], random)
    expect(both.open(old, place)).toBe('S3CR3T')
    expect([both.isCurrent(old), both.isCurrent(both.seal('x', place))]).toEqual([false, true])
    expect(secretBox([second], random).open(old, place)).toBeNull()
    expect(secretBox([{ ...second, id: 'k1' }], random).open(old, place)).toBeNull()
  })

  test.each<[string, readonly ConfigKey[], string]>([
    ['no key', [], 'is missing'],
    ['16 bytes', [{ id: 'k', key: randomBytes(16).toString('base64') }], 'must be 32 random bytes'],
    ['33 bytes', [{ id: 'k', key: randomBytes(33).toString('base64') }], 'openssl rand -base64 32'],
    [
      '64 hex digits',
      [{ id: 'k', key: randomBytes(32).toString('hex') }],
      'must be 32 random bytes',
    ],
    ['a stray character', [{ id: 'k', key: `!${first.key}` }], 'must be 32 random bytes'],
    ['an empty key', [{ id: 'k', key: '' }], 'must be 32 random bytes'],
    ['an id with a colon', [{ ...first, id: 'a:b' }], 'needs an id'],
    ['a key in place of the id', [{ id: first.key, key: 'k1' }], 'key "" needs an id'],
    ['an id twice', [first, { ...second, id: 'k1' }], 'in the ring twice'],
  ])('%s is refused, without repeating the key', (_, keys, problem) => {
    const make = () => secretBox(keys, random)
    expect(make).toThrow(SecretKeyError)
    expect(make).toThrow(problem)
    try {
      make()
    } catch (error) {
      const told = JSON.stringify([String(error), describeError(error)])
      expect(keys.filter(({ key }) => key !== '' && told.includes(key))).toEqual([])
    }
  })

  test('names the keys of its ring, the one that seals first', () => {
    expect(secretBox([second, first, newKey('k3')], random).keyIds).toEqual(['k2', 'k1', 'k3'])
  })

  test.each([42, null, undefined, ['k'], {}])('%j for a key is refused', (key) => {
    const ring = [{ id: 'k', key }] as unknown as readonly ConfigKey[]
    expect(() => secretBox(ring, random)).toThrow('must be 32 random bytes')
  })

  test('opens what another one sealed with bytes of another kind', () => {
    const bytes = (length: number) => new Uint8Array(Buffer.alloc(length + 8, 7).buffer, 0, length)
    const sealed = secretBox([first], { bytes }).seal('S3CR3T', place)
    expect(sealed.split(':')[3]).toBe(Buffer.from(bytes(12)).toString('base64url'))
    expect(box().open(sealed, place)).toBe('S3CR3T')
  })

  test('an empty ring is refused without the name of a key', () => {
    expect(() => secretBox([], random)).toThrow(expect.objectContaining({ keyId: '' }))
  })

  test('takes a key in base64url, with or without padding', () => {
    const sealed = box().seal('S3CR3T', place)
    const url = Buffer.from(first.key, 'base64').toString('base64url')
    for (const key of [url, first.key.replace('=', '')]) {
      expect(secretBox([{ id: 'k1', key }], random).open(sealed, place)).toBe('S3CR3T')
    }
  })
})

const isSecret = secretTest(mailFields)
const where = { module: 'mail', environment: 'production' }
const seal = (values: Readonly<Record<string, string>>, with_ = box()) =>
  deepFreeze(
    sealValues(
      { values: deepFreeze(values), changed: Object.keys(values) },
      isSecret,
      with_,
      where,
    ),
  )

describe('the secrets of an environment', () => {
  const plain = {
    sender: 'me',
    apiKey: 'S3CR3T-1',
    'hooks.__items': 'a',
    'hooks.a.url': 'u',
    'hooks.a.token': 'S3CR3T-2',
  }

  test('are sealed at their keys, one like the other, and nothing else is', () => {
    const sealed = seal(plain)
    expect(Object.keys(sealed)).toEqual(Object.keys(plain))
    expect(sealed).toMatchObject({ sender: 'me', 'hooks.__items': 'a', 'hooks.a.url': 'u' })
    expect(sealed['apiKey']).toMatch(/^enc:v1:k1:/)
    expect(sealed['hooks.a.token']).toMatch(/^enc:v1:k1:/)
    expect(openValues(sealed, isSecret, box(), where)).toEqual({ values: plain, unreadable: [] })
  })

  test('are sealed only where a patch set them', () => {
    const sealed = seal(plain)
    const next = { ...sealed, apiKey: 'S3CR3T-3' }
    const resealed = sealValues({ values: next, changed: ['apiKey'] }, isSecret, box(), where)
    expect(resealed).toEqual({ ...sealed, apiKey: expect.stringMatching(/^enc:v1:k1:/) })
  })

  test('one that does not open is told by its key, and is no empty text', () => {
    const damaged = { ...seal(plain), apiKey: 'S3CR3T in clear' }
    const { values, unreadable } = openValues(damaged, isSecret, box(), where)
    expect(unreadable).toEqual(['apiKey'])
    expect(Object.hasOwn(values, 'apiKey')).toBe(false)
    expect(values['hooks.a.token']).toBe('S3CR3T-2')
  })

  test('a change of key re-encrypts what the old one sealed, once', () => {
    const undeclared = { 'hooks.a.old': box().seal('S3CR3T-4', { ...where, key: 'hooks.a.old' }) }
    const lost = secretBox([newKey('k0')], random).seal('gone', { ...where, key: 'hooks.a.lost' })
    const before = deepFreeze({ ...seal(plain), ...undeclared, 'hooks.a.lost': lost })
    const ring = secretBox([second, first], random)
    const { texts, unreadable } = planReencryption(before, isSecret, ring, where)
    expect(Object.keys(texts).sort()).toEqual(['apiKey', 'hooks.a.old', 'hooks.a.token'])
    expect(unreadable).toEqual(['hooks.a.lost'])
    const after = { ...before, ...texts }
    const withoutOld = openValues(after, isSecret, secretBox([second], random), where)
    expect(withoutOld.values).toEqual({ ...plain, 'hooks.a.old': 'S3CR3T-4' })
    expect(planReencryption(after, isSecret, ring, where).texts).toEqual({})
  })
})
