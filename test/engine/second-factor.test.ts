import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  allowedFactors,
  decideSecondFactor,
  hasFactor,
  type SecondFactorQuestion,
  usableMethods,
} from '../../src/engine/second-factor.js'

const none = { totp: false, passkeys: 0, backupCodes: 0 }
const allowed = { totp: true, webauthn: true }
const question: SecondFactorQuestion = {
  policy: 'optional',
  enrolled: none,
  allowed,
}
const totp = { ...none, totp: true, backupCodes: 10 }
const passkeys = { ...none, passkeys: 2 }

const questions = fc.record({
  policy: fc.constantFrom('off' as const, 'optional' as const, 'required' as const),
  enrolled: fc.record({
    totp: fc.boolean(),
    passkeys: fc.nat({ max: 2 }),
    backupCodes: fc.nat({ max: 20 }),
  }),
  allowed: fc.record({ totp: fc.boolean(), webauthn: fc.boolean() }),
})

describe('decideSecondFactor', () => {
  it('S-19 S-20 off asks nobody, optional who has a factor, required everybody', () => {
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

  it('MF-1 R-5-01 whoever has a factor is asked for it, unless the policy is off', () => {
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
  it('S-21 S-25 a kind that is off is offered to who has nothing else alone', () => {
    const enrolled = { totp: true, passkeys: 1, backupCodes: 0 }
    expect(usableMethods({ enrolled, allowed })).toEqual(['totp', 'webauthn'])
    const only = (allowed: { totp: boolean; webauthn: boolean }) =>
      usableMethods({ enrolled, allowed })
    expect(only({ totp: false, webauthn: true })).toEqual(['webauthn'])
    expect(only({ totp: true, webauthn: false })).toEqual(['totp'])
    expect(only({ totp: false, webauthn: false })).toEqual(['totp', 'webauthn'])
    const off = { totp: false, webauthn: false }
    expect(usableMethods({ enrolled: { ...none, totp: true }, allowed: off })).toEqual(['totp'])
    expect(usableMethods({ enrolled: passkeys, allowed: { ...allowed, webauthn: false } })).toEqual(
      ['webauthn'],
    )
  })

  it('R-1-20 backup codes belong to a factor, and stay while it is switched off', () => {
    expect(usableMethods({ enrolled: { ...none, backupCodes: 3 }, allowed })).toEqual([])
    expect(usableMethods({ enrolled: { ...passkeys, backupCodes: 3 }, allowed })).toEqual([
      'webauthn',
      'backupCode',
    ])
    const off = { totp: false, webauthn: false }
    expect(usableMethods({ enrolled: totp, allowed: off })).toEqual(['totp', 'backupCode'])
    expect(usableMethods({ enrolled: { ...totp, backupCodes: 0 }, allowed })).toEqual(['totp'])
  })
})

it.each([
  [true, 'off', { totp: true, webauthn: false }],
  [false, 'secondFactor', { totp: false, webauthn: true }],
  [true, 'passwordless', { totp: true, webauthn: true }],
] as const)('apps on: %s, passkeys %s: %j may be used', (totpEnabled, webauthnMode, allowed) => {
  expect(allowedFactors({ totpEnabled, webauthnMode })).toEqual(allowed)
})
