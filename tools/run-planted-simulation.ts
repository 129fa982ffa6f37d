import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type ProtocolPlant, protocolPlants } from '../test/planted/protocol-plants.js'
import { copyTree } from '../test/planted/try-plants.js'

const root = fileURLToPath(new URL('../', import.meta.url))

/** Chosen once, before any of the mistakes was planted. */
const seeds = [11, 1011, 2011, 3011, 4011, 5011, 6011, 7011, 8011, 9011]
const mostSteps = 800_000
/** Half of the seeds have to show a mistake within so many steps. */
const usualSteps = 100_000

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.POSITIVE_INFINITY
}

/** The steps until a history went wrong; infinite where none did. */
function stepsToFind(dir: string, seed: number): Promise<number> {
  const hooks = ['--import', './test/support/module-hooks.mjs', 'tools/run-simulation.ts']
  const given = ['--seed', String(seed * 1000), '--steps', String(mostSteps), '--first']
  const child = spawn(process.execPath, [...hooks, ...given], {
    cwd: dir,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let told = ''
  child.stdout.on('data', (bytes: Buffer) => {
    told += bytes.toString()
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => {
      const [, steps] = /^wrong after (\d+) steps$/m.exec(told) ?? []
      resolve(steps === undefined ? Number.POSITIVE_INFINITY : Number(steps))
    })
  })
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { name: { type: 'string', default: '' }, seeds: { type: 'string', default: '10' } },
  })
  const tried = seeds.slice(0, Number(values.seeds))
  const copy = copyTree(root)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const isWanted = ({ name }: ProtocolPlant): boolean => name.includes(values.name)
  for (const { name, edits } of protocolPlants.filter(isWanted)) {
    const restore = copy.plant(edits)
    const steps: number[] = []
    for (const seed of tried) steps.push(await stepsToFind(join(copy.dir, '.'), seed))
    restore()
    const found = steps.filter(Number.isFinite).length
    const isGood = found === tried.length && median(steps) <= usualSteps
    if (!isGood) process.exitCode = 1
    const told = `${found} of ${tried.length} seeds, median ${median(steps)} steps, most ${Math.max(...steps)}`
    console.log(`${isGood ? 'ok ' : 'BAD'}  ${name}: ${told}`)
  }
}

await main()
