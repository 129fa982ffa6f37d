import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

interface PathMap {
  readonly compilerOptions: { readonly paths: Readonly<Record<string, readonly [string]>> }
}

const root = new URL('./', import.meta.url)
const { compilerOptions }: PathMap = JSON.parse(
  readFileSync(new URL('tsconfig.json', root), 'utf8'),
)

/** The package's public names read its sources, by the one table the type check uses as well. */
const alias = Object.entries(compilerOptions.paths).map(([name, [target]]) => ({
  find: new RegExp(`^${name}$`),
  replacement: fileURLToPath(new URL(target, root)),
}))

export default defineConfig({
  resolve: { alias },
  test: {
    include: ['test/**/*.test.ts'],
    environment: 'node',
    globalSetup: ['test/support/global-setup.ts'],
    // Processes, not threads: password hashing fills libuv's thread pool, which threads would share.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // A condition is waited for as long as its test may take: machines differ threefold in speed.
    expect: { poll: { interval: 5, timeout: 75_000 } },
    // What it says to those who would run it in production, at each start.
    onConsoleLog: (text) => !text.includes('oidc-provider '),
    reporters: [
      'default',
      ['json', { outputFile: '.results/vitest.json' }],
      './tools/ci-line-reporter.ts',
    ],
  },
})
