import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  allowedFactors,
  decideSecondFactor,
  enrollmentStands,
  formatBackupCode,
  hasFactor,
  isTrusted,
  parseBackupCode,
  plainCode,
  type SecondFactorQuestion,
  trustedUntil,
  usableMethods,
} from '../../src/engine/factors.js'

const none = { totp: false, passkeys: 0, verifyingPasskeys: 0, backupCodes: 0 }
const allowed = { totp: true, webauthn: true, userVerification: true }
const question: SecondFactorQuestion = {
  policy: 'optional',
  enrolled: none,
  allowed,
}
const totp = { ...none, totp: true, backupCodes: 10 }
const passkeys = { ...none, passkeys: 2, verifyingPasskeys: 2 }

const questions = fc.record({
  policy: fc.constantFrom('off' as const, 'optional' as const, 'required' as const),
  enrolled: fc
    .record({
      totp: fc.boolean(),
      passkeys: fc.nat({ max: 2 }),
      others: fc.nat({ max: 2 }),
      backupCodes: fc.nat({ max: 20 }),
    })
    .map(({ passkeys, others, ...rest }) => {
      const verifyingPasskeys = Math.max(passkeys - others, 0)
      return { ...rest, passkeys, verifyingPasskeys }
    }),
  allowed: fc.record({
    totp: fc.boolean(),
    webauthn: fc.boolean(),
    userVerification: fc.boolean(),
  }),
})

describe('decideSecondFactor', () => {
  it('off asks nobody, optional who has a factor, required everybody', () => {
    const kindOf = (policy: SecondFactorQuestion['policy'], enrolled = none) =>
      decideSecondFactor({ ...question, policy, enrolled }).kind
    expect([kindOf('off'), kindOf('optional'), kindOf('required')]).toEqual([
      'none',
      'none',
      'enroll',
    ])
    expect([kindOf('off', passkeys), kindOf('optional', passkeys)]).toEqual(['none', 'ask'])
    expect([kindOf('off', totp), kindOf('optional', totp), kindOf('required', totp)]).toEqual([
      'none',
      'ask',
      'ask',
    ])
  })

  it('whoever has a factor is asked for it, unless the policy is off', () => {
    fc.assert(
      fc.property(questions, (any) => {
        const methods = usableMethods(any)
        expect(methods.length > 0).toBe(hasFactor(any.enrolled))
        const decision = decideSecondFactor(any)
        const excused = any.policy === 'off'
        if (methods.length > 0 && !excused) expect(decision).toEqual({ kind: 'ask', methods })
        if (decision.kind === 'ask') expect(decision.methods.length).toBeGreaterThan(0)
        const lacks = any.policy === 'required' && methods.length === 0
        expect(decision.kind === 'enroll').toBe(lacks)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('usableMethods', () => {
  it('a kind that is off is offered to who has nothing else alone', () => {
    const enrolled = { ...none, totp: true, passkeys: 1, verifyingPasskeys: 1 }
    expect(usableMethods({ enrolled, allowed })).toEqual(['totp', 'webauthn'])
    const only = (kinds: { totp: boolean; webauthn: boolean }) =>
      usableMethods({ enrolled, allowed: { ...allowed, ...kinds } })
    expect(only({ totp: false, webauthn: true })).toEqual(['webauthn'])
    expect(only({ totp: true, webauthn: false })).toEqual(['totp'])
    expect(only({ totp: false, webauthn: false })).toEqual(['totp', 'webauthn'])
    const off = { ...allowed, totp: false, webauthn: false }
    expect(usableMethods({ enrolled: { ...none, totp: true }, allowed: off })).toEqual(['totp'])
    expect(usableMethods({ enrolled: passkeys, allowed: { ...allowed, webauthn: false } })).toEqual(
      ['webauthn'],
    )
  })

  it('a kind that is off is offered beside passkeys that may be unable to verify the person', () => {
    const enrolled = { ...none, totp: true, passkeys: 1 }
    const without = { totp: false, webauthn: true, userVerification: false }
    expect(usableMethods({ enrolled, allowed: without })).toEqual(['webauthn'])
    const required = { ...without, userVerification: true }
    expect(usableMethods({ enrolled, allowed: required })).toEqual(['totp', 'webauthn'])
    const verifying = { ...enrolled, verifyingPasskeys: 1 }
    expect(usableMethods({ enrolled: verifying, allowed: required })).toEqual(['webauthn'])
    const key = { ...none, passkeys: 1 }
    expect(usableMethods({ enrolled: key, allowed: required })).toEqual(['webauthn'])
  })

  it('backup codes belong to a factor, and stay while it is switched off', () => {
    expect(usableMethods({ enrolled: { ...none, backupCodes: 3 }, allowed })).toEqual([])
    expect(usableMethods({ enrolled: { ...passkeys, backupCodes: 3 }, allowed })).toEqual([
      'webauthn',
      'backupCode',
    ])
    const off = { ...allowed, totp: false, webauthn: false }
    expect(usableMethods({ enrolled: totp, allowed: off })).toEqual(['totp', 'backupCode'])
    expect(usableMethods({ enrolled: { ...totp, backupCodes: 0 }, allowed })).toEqual(['totp'])
  })
})

it.each([
  [true, 'off', 'required', { totp: true, webauthn: false, userVerification: true }],
  [false, 'secondFactor', 'preferred', { totp: false, webauthn: true, userVerification: false }],
  [true, 'passwordless', 'required', { totp: true, webauthn: true, userVerification: true }],
] as const)(
  'apps on: %s, passkeys %s, verification %s: %j may be used',
  (totpEnabled, webauthnMode, webauthnUserVerification, allowed) => {
    const settings = { totpEnabled, webauthnMode, webauthnUserVerification }
    expect(allowedFactors(settings)).toEqual(allowed)
  },
)

const factor = { enrollmentId: 'e', deviceEpoch: 3, credentialEpoch: 5 }
/** As the claim of the enrolment leaves it. */
const claimed = { lastIntentId: 'e', settledEnrollmentId: null, deviceEpoch: 4, credentialEpoch: 5 }

describe('whether the enrolment of a factor stands', () => {
  it.each([
    [
      'the owner was told',
      { enrollmentId: null },
      { lastIntentId: 'other', credentialEpoch: 9 },
      true,
    ],
    [
      'the factor says that it was settled',
      { enrollmentId: 'e stored' },
      { lastIntentId: 'other', credentialEpoch: 9 },
      true,
    ],
    ['the account says so', {}, { settledEnrollmentId: 'e', credentialEpoch: 9 }, true],
    [
      'the account says so, and another intent had its effect since',
      {},
      { lastIntentId: 'other', settledEnrollmentId: 'e', credentialEpoch: 9 },
      true,
    ],
    ['it was claimed, and nothing came since', {}, {}, true],
    ['all sessions were ended since', {}, { deviceEpoch: 5 }, false],
    ['the password was changed since', {}, { deviceEpoch: 5, credentialEpoch: 6 }, false],
    ['another intent had its effect', {}, { lastIntentId: 'other' }, false],
    [
      'another factor was enrolled since',
      {},
      { lastIntentId: 'o', settledEnrollmentId: 'o', deviceEpoch: 7 },
      false,
    ],
    [
      'a reset had its effect',
      {},
      { lastIntentId: 'other', deviceEpoch: 5, credentialEpoch: 6 },
      false,
    ],
  ])('%s', (_, stored, account, stands) => {
    expect(enrollmentStands({ ...factor, ...stored }, { ...claimed, ...account })).toBe(stands)
  })
})

const grant = { userId: 'ada', deviceEpoch: 3, createdAt: 1000, expiresAt: 9000 }
const seen = { user: { id: 'ada', deviceEpoch: 3 }, now: 5000, ttlMs: 8000 }

it.each([
  ['its user, in time', {}, true],
  ['another user', { user: { id: 'eve', deviceEpoch: 3 } }, false],
  ['its user, whose devices were voided', { user: { id: 'ada', deviceEpoch: 4 } }, false],
  ['the first moment', { now: 1000 }, true],
  ['the moment before, by a clock that is wrong', { now: 999 }, false],
  ['the last moment', { now: 8999 }, true],
  ['the end', { now: 9000 }, false],
  ['the last moment of a trust that was shortened', { ttlMs: 4001 }, true],
  ['the end of a trust that was shortened', { ttlMs: 4000 }, false],
])('a device counts for %s: %s', (_name, given, is) => {
  expect(isTrusted(grant, { ...seen, ...given })).toBe(is)
})

it('the settings of now shorten a trust, and never prolong it', () => {
  expect([trustedUntil(grant, 100), trustedUntil(grant, 90_000)]).toEqual([1100, 9000])
})

describe('a backup code', () => {
  it('is two groups of five, the first character its place in the set', () => {
    const codes = Array.from({ length: 20 }, (_, index) => formatBackupCode(index, randomBytes(9)))
    for (const [index, code] of codes.entries()) {
      expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/)
      expect(parseBackupCode(code)).toEqual({ index, code })
    }
    expect(new Set(codes.map((code) => code.slice(1))).size).toBe(20)
  })

  it('every one of nine random bytes decides a character, all 32 alike', () => {
    const zero = formatBackupCode(3, new Uint8Array(9))
    for (let at = 0; at < 9; at += 1) {
      const bytes = new Uint8Array(9)
      const seen = Array.from({ length: 256 }, (_, value) => {
        bytes[at] = value
        return formatBackupCode(3, bytes)
      })
      expect(new Set(seen).size).toBe(32)
      expect(seen.filter((code) => code === zero)).toHaveLength(8)
    }
  })

  it.each([
    ...[
      '3abcd-efghj',
      '3ABCDEFGHJ',
      ' 3ABCD EFGHJ\n',
      '3ABC-DEFGHJ',
      '３ＡＢＣＤ－ＥＦＧＨＪ',
      '٣ABCD‑EFGHJ',
    ],
    ...['3AB CD – EF GHJ', '\u{200b}3ABCD-EFGHJ\u{200e}', '३ABCD−EFGHJ'],
  ])('is read as people type it: %j', (typed) => {
    expect(parseBackupCode(typed)).toEqual({ index: 3, code: '3ABCD-EFGHJ' })
  })

  it('is read with O for 0, and I and L for 1, and U is of no code', () => {
    expect(parseBackupCode('oOiIl-L1001')).toEqual({ index: 0, code: '00111-11001' })
    const others = [
      '',
      '3ABCD',
      '3ABCD-EFGH',
      '3ABCD-EFGHJK',
      '3ABCU-EFGHJ',
      '3ABCD-EFGH\0',
      '3ABCD_EFGHJ',
    ]
    expect(others.filter((typed) => parseBackupCode(typed) !== null)).toEqual([])
  })
})

describe('a code of an authenticator app', () => {
  it.each([
    '123456',
    '123 456',
    '123\u{a0}456',
    ' 123-456\n',
    '１２３４５６',
    '١٢٣٤٥٦',
    '१२३४५६',
    '𝟙𝟚𝟛𝟜𝟝𝟞',
    '\u{2068}123456\u{2069}',
  ])('is read as people type it: %j', (typed) => expect(plainCode(typed)).toBe('123456'))

  it('has the digits of every script in order', () => {
    const digits = Array.from({ length: 0x110000 }, (_, at) => at).filter(
      (at) => (at < 0xd800 || at > 0xdfff) && /^\p{Nd}$/u.test(String.fromCodePoint(at)),
    )
    expect(digits.length).toBeGreaterThan(600)
    const read = digits.map((at) => plainCode(String.fromCodePoint(at))).join('')
    expect(read).toBe('0123456789'.repeat(digits.length / 10))
  })

  it('keeps what belongs to no code', () => {
    for (const typed of ['12345a', '12.345', '½', '⑥', '12345\0'])
      expect(plainCode(typed)).not.toMatch(/^\d{6}$/)
  })
})
