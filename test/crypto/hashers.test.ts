import { randomBytes } from 'node:crypto'
import { argon2d, argon2i, hash as packageHash } from 'argon2'
import { describe, expect, test } from 'vitest'
import { argon2Hasher, nodeRsHasher } from '../../src/crypto/argon2-hashers.js'
import { parsePhc } from '../../src/crypto/phc.js'

const weak = { memoryCost: 64, timeCost: 1, parallelism: 1 }
const utf8 = (text: string) => new TextEncoder().encode(text)
const salt = () => new Uint8Array(randomBytes(16))
const hashers = { argon2: argon2Hasher(), '@node-rs/argon2': nodeRsHasher() }

describe.each(Object.entries(hashers))('%s', (_, hasher) => {
  test('writes an argon2id PHC string with a 32-byte tag and the salt it is given', async () => {
    const given = salt()
    const phc = await hasher.hash(utf8('correct horse'), weak, given)
    expect(phc).toMatch(/^\$argon2id\$v=19\$m=64,t=1,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect([...(parsePhc(phc)?.salt ?? [])]).toEqual([...given])
    expect(await hasher.hash(utf8('correct horse'), weak, given)).toBe(phc)
  })

  test.each([
    ['a character after byte 72', `${'x'.repeat(72)}a`, `${'x'.repeat(72)}b`],
    ['case', 'Password', 'password'],
    ['a trailing space', 'password ', 'password'],
    ['a leading space', ' password', 'password'],
    ['what follows a NUL', 'a\u0000b', 'a\u0000c'],
    ['an emoji', '🦉', '🦆'],
    ['something and nothing', 'a', ''],
  ])('passwords that differ by %s do not verify for each other', async (_what, one, other) => {
    const phc = await hasher.hash(utf8(one), weak, salt())
    expect(await hasher.verify(phc, utf8(one))).toBe(true)
    expect(await hasher.verify(phc, utf8(other))).toBe(false)
  })

  test('hashes a view into a larger buffer without its surroundings', async () => {
    const around = utf8('xxsecretxx')
    const view = around.subarray(2, 8)
    const phc = await hasher.hash(view, weak, new Uint8Array(32).fill(3).subarray(8, 24))
    expect(await hasher.verify(phc, utf8('secret'))).toBe(true)
    expect(await hasher.verify(phc, around)).toBe(false)
  })

  test('verifies with the costs inside the string', async () => {
    for (const costs of [
      { memoryCost: 8_192, timeCost: 1, parallelism: 1 },
      { memoryCost: 65_536, timeCost: 3, parallelism: 4 },
    ]) {
      const phc = await hasher.hash(utf8('pw'), costs, salt())
      expect(parsePhc(phc)).toMatchObject(costs)
      expect(await hasher.verify(phc, utf8('pw'))).toBe(true)
      expect(await hasher.verify(phc, utf8('px'))).toBe(false)
    }
  })

  test.each([
    ['argon2i', { type: argon2i }],
    ['argon2d', { type: argon2d }],
    ['the older version', { version: 16 }],
    ['a 16-byte tag', { hashLength: 16 }],
    ['an 8-byte salt', { salt: Buffer.alloc(8, 5) }],
  ])('verifies older hashes: %s', async (_what, options) => {
    const phc = await packageHash('pw', { ...weak, ...options })
    expect(parsePhc(phc)).not.toBeNull()
    expect(await hasher.verify(phc, utf8('pw'))).toBe(true)
    expect(await hasher.verify(phc, utf8('px'))).toBe(false)
  })

  // The argon2 package writes them in the order of the alphabet from 0.45 on.
  test.each(['m=64,p=1,t=2', 't=2,p=1,m=64'])(
    'verifies a hash with its parameters in the order %s',
    async (params) => {
      const phc = await hasher.hash(utf8('pw'), { ...weak, timeCost: 2 }, salt())
      const other = phc.replace('m=64,t=2,p=1', params)
      expect(other).not.toBe(phc)
      expect(await hasher.verify(other, utf8('pw'))).toBe(true)
      expect(await hasher.verify(other, utf8('px'))).toBe(false)
    },
  )

  test.each([
    '',
    'garbage',
    '$2b$12$C6UzMDM.H6dfI/f/IKcEeO7ZUHl3cHT3sVu8GZB1tXh9xq0v1h5t2',
    '$argon2id$v=19$m=64,t=1,p=1$BwcHBwcHBwcHBwcHBwcHBw',
    '$argon2id$v=19$m=4194304,t=1,p=1$BwcHBwcHBwcHBwcHBwcHBw$CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk',
    '$argon2id$v=19$m=64,t=4294967295,p=1$BwcHBwcHBwcHBwcHBwcHBw$CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk',
    '$argon2id$v=19$m=1024,t=1,p=128$BwcHBwcHBwcHBwcHBwcHBw$CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk',
  ])('answers false for %j, at once', async (phc) => {
    expect(await hasher.verify(phc, utf8('pw'))).toBe(false)
  })

  test('a real failure rejects', async () => {
    await expect(hasher.hash(utf8('pw'), weak, new Uint8Array(2))).rejects.toThrow()
  })
})

test('either hasher verifies what the other wrote, and both write the same', async () => {
  const [one, other] = [hashers.argon2, hashers['@node-rs/argon2']]
  const costs = { memoryCost: 256, timeCost: 2, parallelism: 2 }
  const password = utf8('ünïcode 🦉')
  const given = salt()
  const phc = await one.hash(password, costs, given)
  expect(await other.hash(password, costs, given)).toBe(phc)
  expect(await other.verify(phc, password)).toBe(true)
  expect(await one.verify(await other.hash(password, costs, salt()), password)).toBe(true)
})
