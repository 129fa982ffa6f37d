import { expect, it } from 'vitest'
import { recognitionOf } from '../../../src/domain/login/login-risk.js'
import type { PastLogin } from '../../../src/ports/risk-scorers.js'
import { testContext } from '../../support/test-context.js'

const random = { bytes: (length: number) => new Uint8Array(length).fill(7) }
const ctx = { ...(await testContext()), random }

const pastOf = (recognitionHash: string | null): PastLogin => ({
  at: 0,
  ip: null,
  userAgent: null,
  deviceId: null,
  recognitionHash,
  method: 'password',
  mfaMethod: null,
})

it('the same id is stored as another hash for another user, and known to neither by the other', () => {
  const [ada, bob] = [recognitionOf(ctx, 'ada', null, []), recognitionOf(ctx, 'bob', null, [])]
  expect(ada.grant).toEqual(bob.grant)
  expect(ada.next).not.toBe(bob.next)
  const shown = ada.grant?.recognitionId ?? ''
  expect(recognitionOf(ctx, 'ada', shown, [pastOf(ada.next)]).known).toBe(ada.next)
  expect(recognitionOf(ctx, 'bob', shown, [pastOf(ada.next)]).known).toBeNull()
})

it('a past login without an id makes nothing known', () => {
  const { known, grant } = recognitionOf(ctx, 'ada', null, [pastOf(null)])
  expect([known, grant]).toEqual([
    null,
    { recognitionId: 'BwcHBwcHBwcHBwcHBwcHBw', expiresIn: 7_776_000 },
  ])
})
