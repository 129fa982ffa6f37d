import { availableParallelism } from 'node:os'
import { type Model, type Plant, type Scenario, withClaim } from './model.js'
import { type Found, search } from './search.js'

/** How a search of one scenario, or of one plant, went. */
export interface Checked {
  readonly name: string
  readonly found: Found
  /** Why it does not count as good. */
  readonly problems: readonly string[]
}

const mostStates = 10_000_000

/** A search that must end without an error. */
export async function checkScenario(model: Model, scenario: Scenario): Promise<Checked> {
  const found = await search(model, scenario)
  const steps = ({ transitions, fingerprint }: Pick<Found, 'transitions' | 'fingerprint'>) =>
    `${transitions} transitions with the fingerprint ${fingerprint}`
  const isKnown = steps(found) === steps(scenario)
  const others = `${steps(found)}, not ${steps(scenario)}: where a change of the model is meant, write the new ones`
  const problems = [
    ...found.incomplete,
    ...(isKnown ? [] : [others]),
    ...(found.states > mostStates ? [`${found.states} states are too many`] : []),
    ...(found.broken === null ? [] : [`broken: ${found.broken}`, ...found.trail]),
  ]
  return { name: scenario.name, found, problems }
}

/** A search that must find what is wrong; the shortest way there is its trail. */
export async function checkPlant({ name, scenario, breaks, model }: Plant): Promise<Checked> {
  const planted = withClaim(model(), breaks)
  const found = await search(planted, scenarioOf(planted, scenario), { shortest: true })
  const problems =
    found.broken === breaks && found.trail.length > 0
      ? []
      : [`should break: ${breaks}`, `it broke: ${found.broken ?? 'nothing'}`, ...found.trail]
  return { name, found, problems }
}

function scenarioOf({ name, scenarios }: Model, wanted: string): Scenario {
  const scenario = scenarios.find((one) => one.name === wanted)
  if (scenario === undefined) throw new Error(`${name} has no scenario "${wanted}"`)
  return scenario
}

/** Actions that no scenario takes and no reason excuses, and reasons for actions that happen. */
export function unreached(
  { actions, never }: Pick<Model, 'actions' | 'never'>,
  searches: readonly Checked[],
): readonly string[] {
  const taken = new Set(searches.flatMap(({ found }) => found.taken))
  return [
    ...actions.flatMap(({ name }) =>
      taken.has(name) || Object.hasOwn(never, name) ? [] : [`never happens: ${name}`],
    ),
    ...Object.keys(never).flatMap((name) => (taken.has(name) ? [`does happen: ${name}`] : [])),
  ]
}

/** Runs jobs in order, as many at once as there are processors. */
export async function inParallel<T>(jobs: readonly (() => Promise<T>)[]): Promise<readonly T[]> {
  const results: T[] = []
  let next = 0
  const worker = async () => {
    for (let index = next++; index < jobs.length; index = next++) {
      const job = jobs[index]
      if (job !== undefined) results[index] = await job()
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker))
  return results
}
