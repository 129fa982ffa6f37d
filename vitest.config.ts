import { globSync, readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { cells, isOnShelf, isolated, shelfNamed } from './test/shelves.js'

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

/** `npm test` is the fast shelf; `tools/run-shelf.ts` runs the others. */
const shelf = shelfNamed(process.env['SHELF'] ?? 'fast')
const files = globSync('test/**/*.test.ts', { cwd: fileURLToPath(root) })
  .map((file) => file.replaceAll('\\', '/'))
  .filter(
    (file) =>
      isOnShelf(shelf, file, process.env['SHORT'] === '1') ||
      process.env['ALSO']?.split(' ').includes(file),
  )
const alone = files.filter(
  (file) => !isOnShelf('fast', file) || isolated.some(([glob]) => matchesGlob(file, glob)),
)

/** What tests are told of servers where none is looked for. */
export const noServers = {
  postgresUrl: null,
  postgresInstalled: false,
  mongo: null,
  mariadbUrl: null,
  redisUrl: null,
  redisInstalled: false,
} as const

export default defineConfig({
  resolve: { alias },
  test: {
    environment: 'node',
    // The fast shelf asks for no server: suites that want one are on another shelf.
    provide: { shelf, cells: cells[shelf], ...(shelf === 'fast' ? noServers : {}) },
    globalSetup: shelf === 'fast' ? [] : ['test/support/global-setup.ts'],
    // Processes, not threads: password hashing fills libuv's thread pool, which threads would share.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // A condition is waited for as long as its test may take: machines differ threefold in speed.
    expect: { poll: { interval: 5, timeout: 75_000 } },
    // What it says to those who would run it in production, at each start.
    onConsoleLog: (text) => !text.includes('oidc-provider '),
    reporters: ['default', './tools/shelf-reporter.ts'],
    // One module graph for all files of a process: to load it again for each takes longer than most files.
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          isolate: false,
          include: files.filter((file) => !alone.includes(file)),
        },
      },
      { extends: true, test: { name: 'alone', include: alone } },
    ].filter(({ test }) => test.include.length > 0),
  },
})
