import type { AnyCollectionSpec } from 'postern'
import { guardConditions } from 'postern/stores'
import { expect, it } from 'vitest'

const spec: AnyCollectionSpec = {
  name: 'tickets',
  fields: {
    userId: { kind: 'text' },
    usedAt: { kind: 'time', nullable: true },
    tries: { kind: 'integer' },
    payload: { kind: 'json' },
  },
  indexes: [],
  expires: 'fixed',
}
const conditionsOf = guardConditions(spec)

it('reads each test of a guard, in its order, with the declaration of its field', () => {
  const guard = {
    usedAt: null,
    tries: { lte: 3 },
    userId: { in: ['a', 'b'] },
    expiresAt: { gt: 5 },
  }
  expect(conditionsOf(guard)).toMatchObject([
    { column: { name: 'usedAt', kind: 'time', nullable: true }, form: 'equals', value: null },
    { column: { name: 'tries' }, form: 'lte', bound: 3 },
    { column: { name: 'userId', kind: 'text' }, form: 'in', values: ['a', 'b'] },
    { column: { name: 'expiresAt' }, form: 'gt', bound: 5 },
  ])
})

it.each([
  ['nothing', {}],
  ['an undeclared field', { nothing: 1 }],
  ['json', { payload: 1 }],
  ['undefined', { userId: undefined }],
  ['another kind of value', { tries: '3' }],
  ['a bound of text', { userId: { gt: 'a' } }],
  ['two tests at once', { tries: { gt: 1, lte: 3 } }],
])('refuses a guard with %s', (_, guard) => {
  expect(() => conditionsOf(guard)).toThrow(TypeError)
})
