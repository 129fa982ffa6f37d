import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Plant, sampleOf, touches } from '../test/planted/plant.js'
import { plants } from '../test/planted/plants.js'
import { tryPlants, type Verdict } from '../test/planted/try-plants.js'
import { shelfNamed } from '../test/shelves.js'

const root = fileURLToPath(new URL('../', import.meta.url))
const dayMs = 24 * 60 * 60_000
/** What the tests of one shelf have to catch; together they have to catch everything. */
const leastPercentOfShelf = 90

const { values } = parseArgs({
  options: {
    name: { type: 'string', default: '' },
    touching: { type: 'string' },
    sample: { type: 'string' },
    shelf: { type: 'string', default: 'all' },
  },
})

function chosen(): readonly Plant[] {
  const { name, touching, sample } = values
  const meant = plants
    .filter((plant) => plant.name.includes(name))
    .filter((plant) => touching === undefined || touches(plant, touching))
  if (meant.length === 0) throw new Error('No plant has such a name and touches such a room.')
  if (sample === undefined) return meant
  if (!/^[1-9]\d*$/.test(sample)) throw new Error(`--sample takes a count, not "${sample}".`)
  return sampleOf(meant, Number(sample), Math.floor(Date.now() / dayMs))
}

function tell({ name, seconds, problem, evidence }: Verdict): void {
  console.log(`${problem === null ? 'ok ' : 'BAD'}  ${seconds.toFixed(1).padStart(5)} s  ${name}`)
  console.log(`               ${problem ?? 'caught'}${evidence === null ? '' : `: ${evidence}`}`)
}

async function main(): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const shelf = shelfNamed(values.shelf)
  const tried = chosen()
  console.log(
    `${tried.length} of ${plants.length} mistakes, each made in a copy of the sources; ok: a test noticed it\n`,
  )
  const missed = (await tryPlants(root, tried, shelf, tell)).filter((one) => one.problem !== null)
  const caught = tried.length - missed.length
  const percent = (caught / tried.length) * 100
  if (missed.length > 0) console.log('\nmissed:')
  for (const { name } of missed) console.log(`  ${name}`)
  const of = shelf === 'all' ? '' : ` by the shelf ${shelf}: ${percent.toFixed(1)} %`
  console.log(`\n${caught} of ${tried.length} plants were caught${of}`)
  if (percent < (shelf === 'all' ? 100 : leastPercentOfShelf)) process.exitCode = 1
}

await main()
