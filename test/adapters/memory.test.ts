import { describe } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import { conformance } from '../../src/testing/index.js'
import { testEach } from '../support/stores/each-case.js'

describe('memory', () => {
  const kept = memory()
  // Each of its calls is one step; there is no driver below it, and no process but this one.
  testEach('memory', conformance({ open: ({ through }) => ({ backend: through(kept) }) }))
})
