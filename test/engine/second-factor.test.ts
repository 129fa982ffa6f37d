import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  allowedFactors,
  decideSecondFactor,
  hasFactor,
  type SecondFactorQuestion,
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
