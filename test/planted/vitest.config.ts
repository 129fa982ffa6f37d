import { defineConfig } from 'vitest/config'
import base from '../../vitest.config.js'

export default defineConfig({
  ...base,
  test: {
    ...base.test,
    globalSetup: ['test/planted/memory-only.ts'],
    // What never comes is given up early: most plants make some test wait in vain.
    testTimeout: 10_000,
    expect: { poll: { interval: 5, timeout: 3_000 } },
    reporters: ['json'],
  },
})
