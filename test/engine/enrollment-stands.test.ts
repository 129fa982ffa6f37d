import { describe, expect, it } from 'vitest'
import { enrollmentStands } from '../../src/engine/factors.js'

const factor = { enrollmentId: 'e', deviceEpoch: 3, credentialEpoch: 5 }
/** As the claim of the enrolment leaves it. */
const claimed = { lastIntentId: 'e', deviceEpoch: 4, credentialEpoch: 5 }

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
    ['the account says so', {}, { lastIntentId: 'e stored', credentialEpoch: 9 }, true],
    ['it was claimed, and nothing came since', {}, {}, true],
    ['all sessions were ended since', {}, { deviceEpoch: 5 }, false],
    ['the password was changed since', {}, { deviceEpoch: 5, credentialEpoch: 6 }, false],
    ['another intent had its effect', {}, { lastIntentId: 'other' }, false],
    ['another factor was enrolled since', {}, { lastIntentId: 'o stored', deviceEpoch: 7 }, false],
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
