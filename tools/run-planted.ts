import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Plant } from '../test/planted/plant.js'
import { plants } from '../test/planted/plants.js'
import { sampleOf } from '../test/planted/sample-of.js'
import { tryPlants, type Verdict } from '../test/planted/try-plants.js'

const root = fileURLToPath(new URL('../', import.meta.url))
const dayMs = 24 * 60 * 60_000

function chosen(): readonly Plant[] {
  const { values } = parseArgs({
    options: { sample: { type: 'string' }, name: { type: 'string' } },
  })
  const { sample, name } = values
  const named = name === undefined ? plants : plants.filter((plant) => plant.name.includes(name))
  if (named.length === 0) throw new Error(`No plant is named like "${name}".`)
  if (sample === undefined) return named
  if (!/^[1-9]\d*$/.test(sample)) throw new Error(`--sample takes a count, not "${sample}".`)
  return sampleOf(named, Number(sample), Math.floor(Date.now() / dayMs))
}

function tell({ name, seconds, problem, evidence }: Verdict): void {
  console.log(`${problem === null ? 'ok ' : 'BAD'}  ${seconds.toFixed(1).padStart(5)} s  ${name}`)
  console.log(`               ${problem ?? 'caught'}${evidence === null ? '' : `: ${evidence}`}`)
}

async function main(): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const tried = chosen()
  console.log(
    `${tried.length} of ${plants.length} mistakes, each made in a copy of the sources; ok: a test noticed it\n`,
  )
  const verdicts = await tryPlants(root, tried, tell)
  const missed = verdicts.filter(({ problem }) => problem !== null)
  console.log(`\n${verdicts.length - missed.length} of ${verdicts.length} plants were caught`)
  if (missed.length > 0) process.exitCode = 1
}

await main()
