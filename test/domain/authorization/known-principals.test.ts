import { describe, expect, it } from 'vitest'
import { knownPrincipals } from '../../../src/domain/context/actor.js'
import { accessClaims } from '../../crypto/claims.js'

const verified = { claims: accessClaims(), kid: 'k' }

describe('principals that were let in', () => {
  it('say to hosts what their token says', () => {
    const { letIn } = knownPrincipals('operator')
    const { sub, sid } = verified.claims
    expect({ ...letIn(verified, 7) }).toEqual({
      ...{ surface: 'operator', userId: sub, kind: '', sessionId: sid, claims: verified.claims },
    })
    const { sid: _, ...claims } = accessClaims({ aud: 'service' })
    expect(letIn({ claims, kid: 'k' }, 7)).toMatchObject({ kind: 'service', sessionId: null })
  })

  it('keep the key that signed and when they were found to be good', () => {
    const known = knownPrincipals('client')
    const principal = known.letIn(verified, 7)
    expect([known.kidOf(principal), known.goodAt(principal)]).toEqual(['k', 7])
    known.note(principal, 9)
    expect(known.goodAt(principal)).toBe(9)
  })

  it('are known to the one that let them in alone, and a copy to none', () => {
    const known = knownPrincipals('client')
    const principal = known.letIn(verified, 7)
    const others = [
      [knownPrincipals('client'), principal],
      [known, { ...principal }],
      [known, Object.freeze({ ...principal })],
    ] as const
    for (const [by, other] of others) {
      by.note(other, 9)
      expect([by.kidOf(other), by.goodAt(other)]).toEqual([null, Number.NEGATIVE_INFINITY])
    }
    expect(known.goodAt(principal)).toBe(7)
  })
})
