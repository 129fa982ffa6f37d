import { expect, it } from 'vitest'
import { disabledImport, isUnfinishedImport, unfinishedImport } from '../../src/engine/accounts.js'
import { resetLinkMs } from '../../src/engine/duration.js'
import { isRegressed } from '../../src/engine/factors.js'

it.each([
  [0, 0, false],
  [0, 1, false],
  [1, 0, true],
  [5, 5, true],
  [5, 4, true],
  [5, 6, false],
])('a counter of %d that shows %d is a copied authenticator: %s', (stored, shown, is) => {
  expect(isRegressed(stored, shown)).toBe(is)
})

it.each([
  [false, unfinishedImport, true],
  [false, disabledImport, true],
  [false, 'another intent', false],
  [false, null, false],
  [true, unfinishedImport, false],
])(
  'an account, enabled: %s, last intent %s, is an unfinished import: %s',
  (enabled, lastIntentId, is) => {
    expect(isUnfinishedImport({ enabled, lastIntentId })).toBe(is)
  },
)

it('the marks of an import are told apart', () => {
  expect([unfinishedImport, disabledImport]).toEqual(['import', 'import disabled'])
})

it('a mailed reset link lives for an hour', () => {
  expect(resetLinkMs).toBe(3_600_000)
})
