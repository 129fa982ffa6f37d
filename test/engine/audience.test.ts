import { expect, test } from 'vitest'
import { acceptedAudiences } from '../../src/engine/audience.js'

test('R-5-04 the operator surface accepts operator and service', () => {
  expect(acceptedAudiences('operator')).toEqual(['operator', 'service'])
})

test('R-5-05 the client surface accepts client only', () => {
  expect(acceptedAudiences('client')).toEqual(['client'])
})
