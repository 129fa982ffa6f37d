import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openApiDocument } from '../src/openapi/index.js'
import { type Difference, lockstep, type Outcome } from '../test/lockstep/lockstep.js'

const root = fileURLToPath(new URL('../', import.meta.url))
/** From here on, every operation has to have succeeded. */
const judgedFrom = 20_000
const mostTold = 10

const { values } = parseArgs({
  options: {
    base: { type: 'string', default: '' },
    steps: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
  },
})

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

/** A checkout of a commit, which goes with this process at the latest. */
function checkout(commit: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'postern-base-'))
  process.once('exit', () => {
    rmSync(dir, { recursive: true, force: true })
    git('worktree', 'prune')
  })
  git('worktree', 'add', '--detach', dir, commit)
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  return dir
}

function print({ seed, step, rig, operation, request, places }: Difference): void {
  console.log(`\nBAD  ${operation}, step ${step} of seed ${seed}, on the host "${rig}"`)
  if (request !== null) console.log(`request: ${JSON.stringify(request)}`)
  for (const place of places) console.log(`  ${place}`)
  console.log(`again: --base ${values.base} --seed ${seed} --steps ${step + 1}`)
}

/** What each operation and call was answered; true if every operation succeeded. */
function printAnswers({ answers }: Outcome): boolean {
  const items = Object.values(openApiDocument().paths).flatMap((item) => Object.values(item))
  const operations = items.map(({ operationId }) => operationId)
  const countOf = (name: string, begin: string): number =>
    [...(answers.get(name) ?? [])].reduce(
      (sum, [answer, count]) => sum + (answer.startsWith(begin) ? count : 0),
      0,
    )
  const succeeded = (name: string): number => countOf(name, '2') + countOf(name, '3')
  console.log(`${''.padEnd(34)}  2xx  4xx  5xx`)
  for (const name of operations.toSorted()) {
    const counts = [succeeded(name), countOf(name, '4'), countOf(name, '5')]
    console.log(`${name.padEnd(34)}${counts.map((count) => `${count}`.padStart(5)).join('')}`)
  }
  const triples = [...answers.values()].reduce((sum, { size }) => sum + size, 0)
  console.log(`${triples} different triples of operation, status and code`)
  const idle = operations.filter((name) => succeeded(name) === 0)
  if (idle.length > 0) console.log(`never successful: ${idle.join(', ')}`)
  return idle.length === 0
}

async function main(): Promise<void> {
  if (values.base === '') throw new Error('--base names the commit to compare with')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const [seed, steps] = [Number(values.seed), Number(values.steps)]
  const started = performance.now()
  const outcome = await lockstep(checkout(values.base), root, { seed, steps })
  const isComplete = printAnswers(outcome)
  for (const difference of outcome.differences.slice(0, mostTold)) print(difference)
  const { requests, differences } = outcome
  const seconds = Math.round((performance.now() - started) / 1000)
  console.log(`\n${requests} requests from seed ${seed} on, in ${seconds} seconds:`)
  console.log(`${differences.length} histories differ from ${values.base}`)
  if (differences.length > 0 || (steps >= judgedFrom && !isComplete)) process.exitCode = 1
}

await main()
