import { availableParallelism } from 'node:os'
import { plants } from '../test/model/plants.js'
import { type ModelName, searches } from '../test/model/searches.js'
import {
  checkPlant,
  checkSearch,
  type Found,
  isSpinMissing,
  unreached,
} from '../test/model/spin.js'

/** Runs jobs in order, as many at once as there are processors. */
async function inParallel<T>(jobs: readonly (() => Promise<T>)[]): Promise<readonly T[]> {
  const results: T[] = []
  const left = [...jobs.entries()]
  const work = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [index, job] = next
      results[index] = await job()
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  return results
}

function bad(told: string): void {
  process.exitCode = 1
  console.log(`BAD  ${told}`)
}

function tell(name: string, isGood: boolean, { states, seconds, megabytes }: Found): void {
  const figures = `${name}: ${states} states, ${seconds} s, ${Math.ceil(megabytes)} MB`
  if (isGood) console.log(`ok   ${figures}`)
  else bad(figures)
}

/** Every search holds in every state, and all together carry out every statement. */
async function search(model: ModelName): Promise<void> {
  console.log(`\n${model}: in every state`)
  const own = searches.filter((one) => one.model === model)
  const found = await inParallel(
    own.map((one) => async () => ({ ...one, ...(await checkSearch(one)) })),
  )
  for (const one of found) {
    tell(one.name, one.broken === null && one.incomplete.length === 0, one)
    for (const line of [...one.incomplete, one.broken ?? [], ...one.trail].flat()) {
      console.log(`       ${line}`)
    }
  }
  const ofClaims = found.filter(({ eventually }) => eventually === undefined)
  for (const statement of unreached(ofClaims)) bad(`never carried out: ${statement}`)
}

/** Every mistake is found. */
async function refute(model: ModelName): Promise<void> {
  console.log(`\n${model}: wrong on purpose`)
  const wrong = plants.filter((plant) => plant.model === model)
  const found = await inParallel(
    wrong.map((plant) => async () => ({ ...plant, ...(await checkPlant(plant)) })),
  )
  for (const one of found) {
    tell(one.name, one.broken !== null, one)
    console.log(`       ${one.broken === null ? 'should break' : 'breaks'}: ${one.breaks}`)
  }
}

async function main(): Promise<void> {
  if (isSpinMissing)
    throw new Error('spin and gcc are needed: install the Debian packages of these names')
  const started = performance.now()
  for (const model of ['refresh', 'intents'] as const) {
    await search(model)
    await refute(model)
  }
  const told =
    process.exitCode === 1
      ? 'something is wrong: see the lines that begin with BAD'
      : 'every claim held in every state, and every mistake broke the claim that it should'
  console.log(`\n${told}`)
  console.log(`${Math.round((performance.now() - started) / 1000)} s in all`)
}

await main()
