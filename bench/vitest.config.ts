import { defineConfig } from 'vitest/config'

/** Benchmarks are started by hand (`npm run bench`) and never gate anything. */
export default defineConfig({
  test: { include: ['bench/**/*.bench.ts'], pool: 'forks', maxWorkers: 1, reporters: ['default'] },
})
