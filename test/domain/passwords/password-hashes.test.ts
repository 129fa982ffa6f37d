import { randomBytes, scryptSync } from 'node:crypto'
import { argon2d, argon2i, hash as packageHash } from 'argon2'
import { describe, expect, test } from 'vitest'
import { argon2Hasher } from '../../../src/crypto/argon2-hashers.js'
import { hashGate } from '../../../src/crypto/hash-gate.js'
import { parsePhc } from '../../../src/crypto/phc.js'
import { createPasswordHashes } from '../../../src/domain/hashing/password-hashes.js'
import { argon2Ceiling } from '../../../src/engine/passwords.js'
import type { Argon2Params, LegacyVerifier } from '../../../src/ports/host.js'
import { countingHasher } from '../../../src/testing/counting-hasher.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { anyLine } from '../../support/hash-line.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'

/** Cheap, yet with something below it on both axes. */
const params: Argon2Params = { memoryCost: 128, timeCost: 2, parallelism: 1 }
const random = { bytes: (length: number) => new Uint8Array(randomBytes(length)) }
const utf8 = (text: string) => new TextEncoder().encode(text)

/** A stand-in for an imported user base: `scrypt:<salt>:<tag>`. */
const scrypt: LegacyVerifier = {
  recognises: (hash) => /^scrypt:[a-z]+:[0-9a-f]{64}$/.test(hash),
  verify: async (hash, password) => {
    const [, salt = '', tag] = hash.split(':')
    return scryptSync(password, salt, 32, { N: 16 }).toString('hex') === tag
  },
}
const scryptHash = (password: string) =>
  `scrypt:salt:${scryptSync(password, 'salt', 32, { N: 16 }).toString('hex')}`

const clock = fakeClock()

function setUp(legacyVerifiers: readonly LegacyVerifier[] = [], current = params) {
  const hasher = countingHasher(argon2Hasher())
  const logger = recordingLogger()
  const gate = hashGate({ concurrency: 1, queue: 1, clock })
  const deps = { hasher, legacyVerifiers, gate, params: current, random, logger, clock }
  return { hasher, logger, passwords: createPasswordHashes(deps) }
}

const startedAt = clock.now()
const wrong = { ok: false, rehashTo: null, startedAt }
const right = { ok: true, rehashTo: null, startedAt }

describe('hash and verify', () => {
  test('stores argon2id in PHC format, of the current costs and a fresh 16-byte salt', async () => {
    const { passwords } = setUp()
    const [one, other] = [
      await passwords.hash('correct horse', anyLine),
      await passwords.hash('correct horse', anyLine),
    ]
    expect(one).toMatch(/^\$argon2id\$v=19\$m=128,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(parsePhc(one)?.salt).not.toEqual(parsePhc(other)?.salt)
    expect(await passwords.verify(one, 'correct horse', anyLine)).toEqual(right)
    expect(await passwords.verify(one, 'correct hors3', anyLine)).toEqual(wrong)
  })

  test.each([
    ['a difference after byte 72', `${'x'.repeat(72)}a`, `${'x'.repeat(72)}b`],
    ['128 characters', 'x'.repeat(128), 'x'.repeat(127)],
    ['emoji', '🦉🦉', '🦉🦆'],
    ['a trailing space', 'password ', 'password'],
    ['a leading space', ' password', 'password'],
    ['case', 'Password', 'password'],
    ['an embedded NUL', 'a\u0000b', 'a\u0000c'],
    ['1,024 bytes', 'x'.repeat(1_024), 'x'.repeat(1_023)],
    ['a compatibility form', 'ﬁne', 'fine'],
    ['nothing', '', ' '],
  ])('the whole password counts: %s', async (_, one, other) => {
    const { passwords } = setUp()
    const stored = await passwords.hash(one, anyLine)
    expect(await passwords.verify(stored, one, anyLine)).toEqual(right)
    expect(await passwords.verify(stored, other, anyLine)).toEqual(wrong)
  })

  test('composed and decomposed spellings are one password', async () => {
    const { passwords } = setUp()
    const stored = await passwords.hash('caf\u00e9', anyLine)
    expect(await passwords.verify(stored, 'cafe\u0301', anyLine)).toEqual(right)
    expect(
      await passwords.verify(await passwords.hash('cafe\u0301', anyLine), 'caf\u00e9', anyLine),
    ).toEqual(right)
  })

  test('refuses to hash what can never be verified', async () => {
    const { passwords, hasher } = setUp()
    await expect(passwords.hash('a\ud800', anyLine)).rejects.toMatchObject({
      code: 'invalid_request',
    })
    await expect(passwords.hash('x'.repeat(1_025), anyLine)).rejects.toMatchObject({
      code: 'password_policy',
    })
    expect(hasher.hashes).toBe(0)
  })
})

describe('every path costs exactly one verification', async () => {
  const stored = await setUp().passwords.hash('right', anyLine)
  const damaged = stored.replace('t=2', 't=02')
  const unbounded = stored.replace('m=128', `m=${argon2Ceiling.memoryCost + 1}`)

  test.each([
    ['a right password', stored, 'right', true],
    ['a wrong password', stored, 'wrong', false],
    ['no such account, or one without a password', null, 'right', false],
    ['a hash of an unknown scheme', '$9$what', 'right', false],
    ['a damaged hash', damaged, 'right', false],
    ['a hash of absurd cost', unbounded, 'right', false],
    ['an empty hash', '', 'right', false],
    ['a lone surrogate', stored, 'right\ud800', false],
    ['1,025 bytes', stored, 'x'.repeat(1_025), false],
    ['1,025 bytes for no account', null, 'x'.repeat(1_025), false],
  ])('%s', async (_, storedHash, password, ok) => {
    const { passwords, hasher } = setUp()
    expect((await passwords.verify(storedHash, password, anyLine)).ok).toBe(ok)
    expect(hasher.verified).toHaveLength(1)
    expect(hasher.hashes).toBe(0)
  })

  test.each([
    ['no account', null, 'right'],
    ['an unreadable hash', damaged, 'right'],
    ['a password too long', stored, 'x'.repeat(1_025)],
  ])(
    'the dummy for %s is a readable hash of the current costs',
    async (_, storedHash, password) => {
      const current = { memoryCost: 256, timeCost: 3, parallelism: 2 }
      const { passwords, hasher } = setUp([], current)
      await passwords.verify(storedHash, password, anyLine)
      await passwords.verify(storedHash, password, anyLine)
      expect(parsePhc(hasher.verified[0] ?? '')).toMatchObject({ variant: 'argon2id', ...current })
      expect(hasher.verified[1]).toBe(hasher.verified[0])
    },
  )

  test('the dummy is another one in every instance', async () => {
    const [one, other] = [setUp(), setUp()]
    await one.passwords.verify(null, 'x', anyLine)
    await other.passwords.verify(null, 'x', anyLine)
    expect(one.hasher.verified).not.toEqual(other.hasher.verified)
  })

  test('the costliest parameters a host may choose still make a dummy that is verified', () => {
    const { memoryCost, timeCost, parallelism } = argon2Ceiling
    const costs = `m=${memoryCost},t=${timeCost},p=${parallelism}`
    expect(parsePhc(stored.replace('m=128,t=2,p=1', costs))).not.toBeNull()
  })

  test('an unreadable hash is logged, without the hash', async () => {
    const { passwords, logger } = setUp()
    await passwords.verify(damaged, 'right', anyLine)
    expect(logger.lines.map(({ level }) => level)).toEqual(['warn'])
    expect(JSON.stringify(logger.lines)).not.toContain('argon2')
  })
})

describe('what a right password says about its hash', () => {
  const upgrade = async (costs: Argon2Params) => {
    const { passwords } = setUp()
    return (await passwords.verify(await passwords.rehash('pw', costs, anyLine), 'pw', anyLine))
      .rehashTo
  }

  test.each([
    ['less memory', { memoryCost: 127, timeCost: 2, parallelism: 1 }, params],
    ['fewer passes', { memoryCost: 128, timeCost: 1, parallelism: 1 }, params],
    [
      'less memory, more passes and lanes',
      { memoryCost: 64, timeCost: 5, parallelism: 4 },
      { memoryCost: 128, timeCost: 5, parallelism: 4 },
    ],
  ])('%s: rehash, of each cost the higher one', async (_, costs, expected) => {
    expect(await upgrade(costs)).toEqual(expected)
  })

  test.each([
    ['the current costs', params],
    ['more memory', { ...params, memoryCost: 129 }],
    ['twice the memory', { ...params, memoryCost: 256 }],
    ['more passes', { ...params, timeCost: 3 }],
    ['more lanes', { ...params, parallelism: 4 }],
  ])('%s: leave it', async (_, costs) => {
    expect(await upgrade(costs)).toBeNull()
  })

  test.each([
    ['argon2i', { type: argon2i }],
    ['argon2d', { type: argon2d }],
    ['the older version', { version: 16 }],
    ['a 16-byte tag', { hashLength: 16 }],
    ['an 8-byte salt', { salt: Buffer.alloc(8, 1) }],
  ])('%s: rehash', async (_, options) => {
    const { passwords } = setUp()
    const stored = await packageHash('pw', { ...params, ...options })
    expect(await passwords.verify(stored, 'pw', anyLine)).toEqual({
      ok: true,
      rehashTo: params,
      startedAt,
    })
    const upgraded = await passwords.rehash('pw', params, anyLine)
    expect(await passwords.verify(upgraded, 'pw', anyLine)).toEqual(right)
  })

  test('a wrong password never asks for a rehash', async () => {
    const { passwords } = setUp([scrypt])
    const weak = await passwords.rehash(
      'pw',
      { memoryCost: 64, timeCost: 1, parallelism: 1 },
      anyLine,
    )
    expect(await passwords.verify(weak, 'px', anyLine)).toEqual(wrong)
    expect(await passwords.verify(scryptHash('pw'), 'px', anyLine)).toEqual(wrong)
  })
})

describe('legacy verifiers', () => {
  test('a hash one of them recognises is verified by it, once, and upgraded', async () => {
    const { passwords, hasher } = setUp([scrypt])
    expect(await passwords.verify(scryptHash('pw'), 'pw', anyLine)).toEqual({
      ok: true,
      rehashTo: params,
      startedAt,
    })
    expect(await passwords.verify(scryptHash('pw'), 'px', anyLine)).toEqual(wrong)
    expect(hasher.verified).toEqual([])
  })

  test('none of them is asked about argon2id, nor about what none recognises', async () => {
    const asked: string[] = []
    const greedy: LegacyVerifier = {
      recognises: (hash) => hash.startsWith('$argon2'),
      verify: async (hash) => asked.push(hash) > 0,
    }
    const { passwords, hasher } = setUp([scrypt, greedy])
    expect(await passwords.verify(await passwords.hash('pw', anyLine), 'px', anyLine)).toEqual(
      wrong,
    )
    expect(await passwords.verify('md5:00', 'pw', anyLine)).toEqual(wrong)
    expect(asked).toEqual([])
    expect(hasher.verified).toHaveLength(2)
    const old = await packageHash('pw', { ...params, type: argon2i })
    expect((await passwords.verify(old, 'pw', anyLine)).ok).toBe(true)
    expect(asked).toEqual([old])
  })

  test('only a literal true is a yes', async () => {
    const careless = {
      recognises: () => true,
      verify: async () => 'false',
    } as unknown as LegacyVerifier // A host without a type checker.
    const { passwords } = setUp([careless])
    expect(await passwords.verify('md5:00', 'pw', anyLine)).toEqual(wrong)
  })

  test('they get the text as it was typed, then its NFC form, and never a password that is too long', async () => {
    const seen: string[] = []
    const recorder: LegacyVerifier = {
      recognises: () => true,
      verify: async (_, password) => seen.push(Buffer.from(password).toString()) < 0,
    }
    const { passwords } = setUp([recorder])
    await passwords.verify('md5:00', 'cafe\u0301', anyLine)
    await passwords.verify('md5:00', 'caf\u00e9', anyLine)
    await passwords.verify('md5:00', 'x'.repeat(1_025), anyLine)
    expect(seen).toEqual(['cafe\u0301', 'caf\u00e9', 'caf\u00e9'])
  })

  test.each(['cafe\u0301', 'caf\u00e9'])(
    'a hash of %j is met by those very bytes',
    async (text) => {
      const { passwords } = setUp([scrypt])
      const verdict = await passwords.verify(scryptHash(text), 'cafe\u0301', anyLine)
      expect(verdict).toEqual({ ok: true, rehashTo: params, startedAt })
    },
  )

  test.each([
    [72, '$2b$', params],
    [73, '$2b$', null],
    [73, 'bcrypt$$2y$', null],
    [73, '$scrypt$', params],
  ])('%i bytes that match a hash %s…: the new costs are %j', async (length, prefix, rehashTo) => {
    const cuts: LegacyVerifier = { recognises: () => true, verify: async () => true }
    const { passwords } = setUp([cuts])
    const hash = `${prefix}04$${'x'.repeat(53)}`
    expect(await passwords.verify(hash, 'x'.repeat(length), anyLine)).toEqual({
      ok: true,
      rehashTo,
      startedAt,
    })
  })
})

describe('admission', () => {
  test('known, unknown and legacy accounts and new hashes share one gate', async () => {
    const { passwords, hasher } = setUp([scrypt])
    const stored = await passwords.hash('pw', anyLine)
    const calls = [
      () => passwords.verify(stored, 'pw', anyLine),
      () => passwords.verify(null, 'pw', anyLine),
      () => passwords.verify(scryptHash('pw'), 'pw', anyLine),
      () => passwords.hash('pw', anyLine),
      () => passwords.rehash('pw', params, anyLine),
      () => passwords.verify(stored, 'x'.repeat(1_025), anyLine),
    ]
    for (const call of calls) {
      // One runs and one waits: the third is refused, whatever it is.
      const others = [
        passwords.verify(stored, 'pw', anyLine),
        passwords.verify(stored, 'pw', anyLine),
      ]
      await expect(call()).rejects.toMatchObject({ code: 'server_busy', retryAfter: 1 })
      await Promise.all(others)
    }
    expect(hasher.peak).toBe(1)
  })

  test('a failure of the hasher is no wrong password', async () => {
    const broken = { ...argon2Hasher(), verify: () => Promise.reject(new Error('no memory')) }
    const gate = hashGate({ concurrency: 1, clock })
    const passwords = createPasswordHashes({
      hasher: broken,
      legacyVerifiers: [],
      gate,
      params,
      random,
      clock,
    })
    await expect(passwords.verify(null, 'pw', anyLine)).rejects.toThrow('no memory')
    const stored = await passwords.hash('pw', anyLine)
    await expect(passwords.verify(stored, 'pw', anyLine)).rejects.toThrow('no memory')
  })
})

test('what is hashed is the UTF-8 form', async () => {
  const { passwords } = setUp()
  const stored = await passwords.hash('Zoë 🦉', anyLine)
  expect(await argon2Hasher().verify(stored, utf8('Zoë 🦉'))).toBe(true)
})
