import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  argon2Ceiling,
  argon2ParamsProblem,
  bareHash,
  defaultArgon2Params,
  normalizePassword,
  type PasswordJudgement,
  type PasswordRule,
  violatedRules,
} from '../../src/engine/passwords.js'

const lenient: Omit<PasswordJudgement, 'password'> = {
  minLength: 15,
  isCommon: () => false,
  contextWords: [],
  blockCommon: true,
  blockContextual: true,
}

function judge(
  password: string,
  changes: Partial<PasswordJudgement> = {},
): readonly PasswordRule[] {
  return violatedRules({ ...lenient, password, ...changes })
}

describe('length is counted in code points after NFC', () => {
  test.each([
    ['n − 1', 'x'.repeat(14), ['too_short']],
    ['n', 'x'.repeat(15), []],
    ['empty', '', ['too_short']],
    ['spaces count', ' '.repeat(15), []],
    ['15 emoji', '🦉'.repeat(15), []],
    ['8 emoji are 16 UTF-16 units', '🦉'.repeat(8), ['too_short']],
    ['15 decomposed é are 30 code units', 'e\u0301'.repeat(15), []],
    ['14 decomposed é', 'e\u0301'.repeat(14), ['too_short']],
  ])('%s', (_, password, rules) => {
    expect(judge(password)).toEqual(rules)
  })

  test('at the least configurable length 8 code points pass and 7 do not', () => {
    expect(judge('🦉🐢🦊🐍🐙🦀🐬🐳', { minLength: 8 })).toEqual([])
    expect(judge('🦉🐢🦊🐍🐙🦀🐬', { minLength: 8 })).toEqual(['too_short'])
  })
})

describe('length is limited in bytes', () => {
  test.each([
    [64, []],
    [128, []],
    [256, []],
    [1024, []],
    [1025, ['too_long']],
    [60_000, ['too_long']],
  ])('%d ASCII characters', (length, rules) => {
    expect(judge('x'.repeat(length))).toEqual(rules)
  })

  test('counts UTF-8 bytes after NFC', () => {
    expect(judge('🦉'.repeat(256))).toEqual([])
    expect(judge(`${'🦉'.repeat(256)}x`)).toEqual(['too_long'])
    expect(judge('e\u0301'.repeat(512))).toEqual([])
  })

  test('asks no list about a text that is too long', () => {
    const asked: string[] = []
    const isCommon = (password: string) => asked.push(password) > 0
    expect(judge('x'.repeat(1025), { isCommon })).toEqual(['too_long'])
    expect(asked).toEqual([])
  })
})

test('there are no composition rules: any single class of characters passes', () => {
  const classes = [
    'abcdefghijklmnopqrstuvwxyz',
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
    '0123456789',
    '!?-_. ',
  ]
  fc.assert(
    fc.property(
      fc.constantFrom(...classes),
      fc.nat(),
      fc.integer({ min: 15, max: 60 }),
      (all, seed, length) => {
        const password = Array.from({ length }, (_, i) => all[(seed + i * i) % all.length]).join('')
        expect(judge(password)).toEqual([])
      },
    ),
  )
})

test('common passwords are refused while the setting says so', () => {
  const isCommon = (password: string) => password === 'password1234567'
  expect(judge('password1234567', { isCommon })).toEqual(['common'])
  expect(judge('password1234567', { isCommon, blockCommon: false })).toEqual([])
  expect(judge('password123456', { isCommon: () => true })).toEqual(['too_short', 'common'])
})

test('the list is asked about the NFC form', () => {
  const isCommon = (password: string) => password === '\u00e9'.repeat(15)
  expect(judge('e\u0301'.repeat(15), { isCommon })).toEqual(['common'])
})

describe('context words', () => {
  const contextWords = [
    'marigold.thistle+news@example.org',
    'Ánna Brückner',
    'Postern',
    'auth.acme.example',
  ]

  test.each([
    'marigold.thistle+news',
    'marigold.thistle+news and sixteen more characters',
    'MARIGOLD.THISTLE+NEWS 0123456',
    'm4r1g0ld.th1$t!3+n3w5 xxxxxxx',
    'my marigold 1234567',
    'M4r1g0ldM4r1g0ld!',
    'brueckner-bruckner',
    'BRÜCKNER-anna-2024',
    'bru\u0308ckner brückner',
    'posternpostern!',
    'P0st3rn-P05tern',
    'acme-auth-2024!!',
    'ａｃｍｅ-ａｕｔｈ-2024!!',
  ])('refuses %s', (password) => {
    expect(judge(password, { contextWords })).toEqual(['contextual'])
  })

  test.each([
    'correct horse battery staple',
    'the postern gate stands open at noon',
    'anna and the seventeen lighthouses',
    'marigolds grow behind the old kiln',
    'mari-gold-thi-stle 93',
  ])('accepts %s: enough is left without the words', (password) => {
    expect(judge(password, { contextWords })).toEqual([])
  })

  test('the local part is refused in a passphrase of any length, from four characters on', () => {
    const passphrase = 'seventeen lighthouses anna and a very long walk'
    expect(judge(passphrase, { contextWords: ['anna@example.org'] })).toEqual(['contextual'])
    expect(judge(passphrase, { contextWords: ['ann@example.org'] })).toEqual([])
    expect(judge(passphrase, { contextWords: ['seventeen@example.org'] })).toEqual(['contextual'])
    expect(judge(passphrase, { contextWords: ['eighteen@example.org'] })).toEqual([])
  })

  test('exactly the least length may be left, and a word goes with all of it, not with its beginning', () => {
    const words = { contextWords: ['acme', 'acmeportal'], minLength: 8 }
    expect(judge('acmeqzwxvtrn', words)).toEqual([])
    expect(judge('acmeqzwxvtr', words)).toEqual(['contextual'])
    expect(judge('acmeportalqz', words)).toEqual(['contextual'])
  })

  test('the domain of the address is no context', () => {
    expect(judge('example.org-2024', { contextWords: ['anna@example.org'] })).toEqual([])
  })

  test('nothing is refused while the setting is off, and short words never are', () => {
    expect(judge('marigold.thistle', { contextWords, blockContextual: false })).toEqual([])
    expect(judge('the-lee-way-lee-lee', { contextWords: ['lee@example.org', 'Kim Lee'] })).toEqual(
      [],
    )
    expect(judge('any old password', { contextWords: ['', '@', 'no', ' - '] })).toEqual([])
  })
})

describe('normalizePassword', () => {
  test('composes and leaves everything else alone', () => {
    expect(normalizePassword('e\u0301')).toBe('\u00e9')
    expect(normalizePassword(' Pass\u0000word ')).toBe(' Pass\u0000word ')
    expect(normalizePassword('ﬁ')).toBe('ﬁ')
    expect(normalizePassword('')).toBe('')
  })

  test('refuses lone surrogates, which have no UTF-8 form', () => {
    expect(normalizePassword('a\ud800')).toBeNull()
    expect(normalizePassword('\udc00a')).toBeNull()
    expect(normalizePassword('\udc00\ud800')).toBeNull()
    expect(normalizePassword('🦉')).toBe('🦉')
  })

  test('is idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const once = normalizePassword(text)
        expect(once === null ? null : normalizePassword(once)).toBe(once)
      }),
    )
  })
})

const problem = (memoryCost: number, timeCost: number, parallelism = 1, allowWeak = false) =>
  argon2ParamsProblem({ memoryCost, timeCost, parallelism }, allowWeak)

describe('the floor of argon2 costs', () => {
  test('the default is OWASP’s and stands on the floor', () => {
    expect(defaultArgon2Params).toEqual({ memoryCost: 19_456, timeCost: 2, parallelism: 1 })
    expect(argon2ParamsProblem(defaultArgon2Params, false)).toBeNull()
  })

  test.each([
    [47_104, 1],
    [19_456, 2],
    [12_288, 3],
    [12_288, 10],
    [1_048_576, 64],
  ])('m=%d t=%d is enough, one KiB less may not be', (memoryCost, timeCost) => {
    expect(problem(memoryCost, timeCost)).toBeNull()
  })

  test.each([
    [47_103, 1],
    [19_455, 2],
    [12_287, 3],
    [12_287, 10],
    [19_456, 1],
  ])('m=%d t=%d is too weak', (memoryCost, timeCost) => {
    expect(problem(memoryCost, timeCost)).toMatch(
      /^needs a memoryCost \(KiB\) from \d+ to 1048576 at/,
    )
  })

  test('tests may drop the floor, not the bounds', () => {
    expect(problem(8, 1, 1, true)).toBeNull()
    expect(problem(7, 1, 1, true)).toMatch(/memoryCost/)
    expect(problem(31, 1, 4, true)).toMatch(/memoryCost/)
    expect(problem(argon2Ceiling.memoryCost + 1, 2)).toMatch(/memoryCost/)
    expect(problem(19_456, 65)).toMatch(/timeCost/)
    expect(problem(19_456, 0, 1, true)).toMatch(/timeCost/)
    expect(problem(19_456, 2, 17)).toMatch(/parallelism/)
    expect(problem(19_456, 2, 0)).toMatch(/parallelism/)
    expect(problem(19_456.5, 2)).toMatch(/memoryCost/)
    expect(problem(Number.NaN, 2)).toMatch(/memoryCost/)
  })
})

const bcrypt = '$2b$04$wYeRgpcbRt4e14gIzO/6HOyz6LukQ7vlCm6VoO1LWYfFywQ7hmDbK'
const argon2 = '$argon2id$v=19$m=32,t=5,p=4$c2VhMA$dGFnMQ'

test.each([
  ...['!', '!x8Kf9AbCdEf', '*', 'NULL', '\\N', '[NULL]', '(null)', ' ', null].map((none) => [
    none,
    null,
  ]),
  ...['%s', '\t%s ', '%s\n', 'bcrypt$%s', '{bcrypt}%s'].map((form) => [
    ...[form.replace('%s', () => bcrypt), bcrypt],
  ]),
  ...['', 'argon2', '{argon2}', '{argon2@SpringSecurity_v5_8}'].map((label) => [
    ...[`${label}$argon2id$v=19$m=32,t=5,p=4$c2VhMA==$dGFnMQ=`, argon2],
  ]),
  ...['*94BDCEBE19083CE2', 'scrypt:16:8:1$a==$b=', 'bcrypt_sha256$$2b$'].map((one) => [one, one]),
])('a hash of another product is kept without what products write around it: %j', (cell, hash) => {
  expect(bareHash(cell ?? null)).toBe(hash)
})
