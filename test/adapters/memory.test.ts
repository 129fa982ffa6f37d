import { describe } from 'vitest'
import { memory } from '../../adapters/memory.js'
import { counterCases, denylistCases, leaseCases, storeCases } from '../../src/testing/index.js'
import { testEach } from '../support/each-case.js'

const make = async () => memory()

describe('memory', () => {
  testEach('store', storeCases(make))
  testEach('denylist', denylistCases(make))
  testEach('lease', leaseCases(make))
  testEach('counter', counterCases(make))
})
