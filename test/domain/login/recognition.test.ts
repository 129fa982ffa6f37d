import { expect, it } from 'vitest'
import { createRecognition } from '../../../src/domain/login/recognition.js'
import type { PastLogin } from '../../../src/ports/risk-scorers.js'

const random = { bytes: (length: number) => new Uint8Array(length).fill(7) }
const recognition = createRecognition({ random, recognisesDevices: true })

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
  const [ada, bob] = [recognition.of('ada', null, []), recognition.of('bob', null, [])]
  expect(ada.grant).toEqual(bob.grant)
  expect(ada.next).not.toBe(bob.next)
  const shown = ada.grant?.recognitionId ?? ''
  expect(recognition.of('ada', shown, [pastOf(ada.next)]).known).toBe(ada.next)
  expect(recognition.of('bob', shown, [pastOf(ada.next)]).known).toBeNull()
})

it('a past login without an id makes nothing known', () => {
  const { known, grant } = recognition.of('ada', null, [pastOf(null)])
  expect([known, grant]).toEqual([
    null,
    { recognitionId: 'BwcHBwcHBwcHBwcHBwcHBw', expiresIn: 7_776_000 },
  ])
})
