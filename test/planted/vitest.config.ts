import { defineConfig } from 'vitest/config'
import base from '../../vitest.config.js'

export default defineConfig({
  ...base,
  test: {
    ...base.test,
    // No search for servers: a test that wants a database is skipped by name.
    globalSetup: [],
    provide: {
      ...base.test?.provide,
      postgresUrl: null,
      postgresInstalled: false,
      mongo: null,
      mariadbUrl: null,
      redisUrl: null,
      redisInstalled: false,
    },
    // What never comes is given up early: most plants make some test wait in vain.
    testTimeout: 10_000,
    expect: { poll: { interval: 5, timeout: 3_000 } },
    reporters: ['json'],
  },
})
