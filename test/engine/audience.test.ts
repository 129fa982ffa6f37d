import { expect, test } from 'vitest'
import { acceptedAudiences } from '../../src/engine/surface-settings.js'

test('the operator surface accepts operator and service', () => {
  expect(acceptedAudiences('operator')).toEqual(['operator', 'service'])
})

test('the client surface accepts client only', () => {
  expect(acceptedAudiences('client')).toEqual(['client'])
})
