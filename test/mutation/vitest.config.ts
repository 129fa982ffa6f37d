import { defineConfig } from 'vitest/config'
import base from '../../vitest.config.js'

/**
 * The tests of a piece alone, without the search for servers: one process runs some of them again for each mutant.
 * Whatever starts a server, a process or a real hasher has no place here.
 */
export default defineConfig({
  resolve: base.resolve ?? {},
  test: {
    include: (process.env['MUTATION_TESTS'] ?? '').split(' '),
    environment: 'node',
    provide: base.test?.provide ?? {},
    pool: 'threads',
    maxWorkers: 1,
    testTimeout: 10_000,
  },
})
