import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { listedResults, type TestResults } from './trace-tests.js'

const root = new URL('../', import.meta.url)
const lastRun = new URL('.results/vitest.json', root)

/** The tests there are, from vitest. Throws where it cannot read a test file. */
function listTests(): TestResults {
  const list = fileURLToPath(new URL('.results/list.json', root))
  const vitest = fileURLToPath(new URL('node_modules/vitest/vitest.mjs', root))
  rmSync(list, { force: true })
  // Many titles are made while a file runs, so that parsing it would not find them.
  const { status, stderr } = spawnSync(
    process.execPath,
    [vitest, 'list', '--no-static-parse', `--json=${list}`],
    { cwd: fileURLToPath(root), encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] },
  )
  if (status !== 0) throw new Error(`The tests cannot be listed: ${stderr}`)
  return listedResults(JSON.parse(readFileSync(list, 'utf8')))
}

/** What the last `npm test` left; the list in the file `listed` instead, or a new list where there was no run. */
export function readResults(listed: string | undefined): TestResults {
  if (listed !== undefined) return listedResults(JSON.parse(readFileSync(listed, 'utf8')))
  if (existsSync(lastRun)) return JSON.parse(readFileSync(lastRun, 'utf8'))
  console.error('There is no test run to read, so the tests are listed, which takes a few minutes.')
  console.error('Whether they pass is not known then: npm test tells.')
  return listTests()
}
