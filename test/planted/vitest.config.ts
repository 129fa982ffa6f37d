import { defineConfig } from 'vitest/config'
import base, { noServers } from '../../vitest.config.js'
import { cells } from '../shelves.js'

const { surfaces } = cells.all

export default defineConfig({
  ...base,
  test: {
    ...base.test,
    // No search for servers: a test that wants a database is skipped by name.
    globalSetup: [],
    provide: {
      ...base.test?.provide,
      ...noServers,
      // Of the matrix, both surfaces on memory alone.
      ...(process.env['SHELF'] === 'fast' ? {} : { cells: { ...cells.fast, surfaces } }),
    },
    // What never comes is given up early: most plants make some test wait in vain.
    testTimeout: 10_000,
    expect: { poll: { interval: 5, timeout: 3_000 } },
    reporters: ['json'],
  },
})
