import { models } from '../test/model/models.js'
import {
  type Checked,
  checkPlant,
  checkScenario,
  inParallel,
  unreached,
} from '../test/model/spin/check-model.js'
import type { Model } from '../test/model/spin/model.js'
import { isSpinMissing } from '../test/model/spin/search.js'

function tell({ name, found, problems }: Checked): void {
  const { states, seconds, megabytes } = found
  const figures = `${states} states, ${seconds} s, ${Math.ceil(megabytes)} MB`
  console.log(`${problems.length === 0 ? 'ok ' : 'BAD'}  ${name}: ${figures}`)
  for (const problem of problems) console.log(`       ${problem}`)
}

/** True when every scenario holds, every action happens and every plant is refuted. */
async function isGood(model: Model): Promise<boolean> {
  console.log(`\n${model.name}: in every state`)
  const searches = await inParallel(
    model.scenarios.map((scenario) => () => checkScenario(model, scenario)),
  )
  searches.forEach(tell)
  const missing = unreached(model, searches)
  for (const line of missing) console.log(`BAD  ${line}`)

  console.log(`\n${model.name}: wrong on purpose, with the shortest way to what breaks`)
  const plants = await inParallel(model.plants.map((plant) => () => checkPlant(plant)))
  for (const plant of plants) {
    tell(plant)
    if (plant.problems.length > 0) continue
    console.log(`       breaks: ${plant.found.broken}`)
    for (const step of plant.found.trail) console.log(`         ${step}`)
  }
  return missing.length === 0 && [...searches, ...plants].every((one) => one.problems.length === 0)
}

async function main(): Promise<void> {
  if (isSpinMissing)
    throw new Error('spin and gcc are needed: install the Debian packages of these names')
  const started = performance.now()
  for (const model of models) {
    if (!(await isGood(model))) process.exitCode = 1
  }
  const told =
    process.exitCode === 1
      ? 'something is wrong: see the lines that begin with BAD'
      : 'every claim held in every state, and every planted fault broke the claim that it should'
  console.log(`\n${told}`)
  console.log(`${Math.round((performance.now() - started) / 1000)} s in all`)
}

await main()
