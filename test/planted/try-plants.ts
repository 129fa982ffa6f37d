import { type Plant, testsOf } from './plant.js'
import { runTests, type TestRun } from './run-tests.js'
import { copyTree } from './tree-copy.js'

/** Most entries take a few seconds; what hangs is ended. */
const limitMs = 120_000
/** Before the first plant the files of all entries run in one go. */
const limitPerFileMs = 10_000

export interface Verdict {
  readonly name: string
  readonly seconds: number
  /** Null when the plant was caught, otherwise why it does not count as caught. */
  readonly problem: string | null
  /** A test that failed by an assertion, or else what happened instead. */
  readonly evidence: string | null
}

function judge({ name }: Plant, { seconds, refuted, broken }: TestRun): Verdict {
  const [first = null] = refuted
  if (first !== null) return { name, seconds, problem: null, evidence: first }
  const problem = broken.length > 0 ? 'fails, but by no assertion' : 'not caught'
  return { name, seconds, problem, evidence: broken[0] ?? null }
}

/**
 * Plants one mistake after the other in a copy of the tree, and says of each whether a test failed by
 * an assertion. The tests have to pass before. `tell` hears of each verdict as it is reached.
 */
export async function tryPlants(
  root: string,
  plants: readonly Plant[],
  tell: (verdict: Verdict) => void = () => {},
): Promise<readonly Verdict[]> {
  const copy = copyTree(root)
  try {
    const files = [...new Set(plants.flatMap(testsOf))]
    const before = await runTests(copy.dir, files, limitMs + files.length * limitPerFileMs)
    const [failed] = [...before.refuted, ...before.broken]
    if (failed !== undefined) throw new Error(`A test fails without any plant: ${failed}`)
    if (before.passed === 0) throw new Error('No test ran without any plant.')
    const verdicts: Verdict[] = []
    for (const plant of plants) {
      const restore = copy.plant(plant.edits)
      const verdict = judge(plant, await runTests(copy.dir, testsOf(plant), limitMs))
      restore()
      verdicts.push(verdict)
      tell(verdict)
    }
    return verdicts
  } finally {
    copy.remove()
  }
}
