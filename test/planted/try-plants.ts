import { spawn } from 'node:child_process'
import {
  copyFileSync,
  globSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isOnShelf, type Shelf } from '../shelves.js'
import { type Edit, occurrences, type Plant, testsOf } from './plant.js'

/** A copy of a working tree in which sources can be changed while the tree itself stays as it is. */
export interface TreeCopy {
  readonly dir: string
  /** Changes the files; the returned function puts them back. */
  plant(edits: readonly Edit[]): () => void
  remove(): void
}

const copied = ['*.{json,ts,md}', '{src,adapters,test,tools,docs,examples}/**/*']

function share(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  try {
    linkSync(from, to)
  } catch {
    // Another file system, which cannot link.
    copyFileSync(from, to)
  }
}

/** A linked file is one file under two names, so it is unlinked before it is written. */
function rewrite(path: string, source: string): void {
  rmSync(path)
  writeFileSync(path, source)
}

function edited(source: string, { file, find, replace }: Edit): string {
  const count = occurrences(source, find)
  if (count !== 1) throw new Error(`${file} holds this ${count} times instead of once:\n${find}`)
  return source.replace(find, () => replace)
}

/** The copy goes with this process at the latest. */
export function copyTree(root: string): TreeCopy {
  const dir = mkdtempSync(join(tmpdir(), 'postern-planted-'))
  const entries = globSync(copied, {
    cwd: root,
    withFileTypes: true,
    exclude: ({ name }) => name === 'node_modules',
  })
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name)
    share(path, join(dir, path.slice(root.length)))
  }
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  const remove = () => {
    process.off('exit', remove)
    rmSync(dir, { recursive: true, force: true })
  }
  process.once('exit', remove)
  return {
    dir,
    remove,
    plant(edits) {
      const before = new Map<string, string>()
      for (const edit of edits) {
        const path = join(dir, edit.file)
        const source = readFileSync(path, 'utf8')
        const changed = edited(source, edit)
        if (!before.has(path)) before.set(path, source)
        rewrite(path, changed)
      }
      return () => {
        for (const [path, source] of before) rewrite(path, source)
      }
    },
  }
}

/** The part of vitest's JSON result that is read here. */
interface Results {
  readonly testResults: readonly {
    readonly name: string
    readonly message: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly failureMessages: readonly string[] | null
    }[]
  }[]
}

interface TestRun {
  readonly passed: number
  /** Whether tests were left out, as `--bail` does after a failure. */
  readonly isCut: boolean
  /** Titles of the tests that failed because an assertion did not hold, … */
  readonly refuted: readonly string[]
  /** … and what failed otherwise: an exception, a time-out, a file that could not be loaded. */
  readonly broken: readonly string[]
}

/** `expect(promise).rejects` fails with an error of its own where the promise resolves. */
const assertion = /^(AssertionError\b|Error: promise resolved .* instead of rejecting)/

const byAssertion = (messages: readonly string[] | null): boolean =>
  messages?.some((message) => assertion.test(message)) === true

function read(file: string): TestRun {
  const { testResults }: Results = JSON.parse(readFileSync(file, 'utf8'))
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
  const failed = tests.filter(({ status }) => status === 'failed')
  const passed = tests.filter(({ status }) => status === 'passed').length
  const unloaded = testResults.filter(
    ({ message, assertionResults }) => message !== '' && assertionResults.length === 0,
  )
  return {
    passed,
    isCut: passed + failed.length < tests.length,
    refuted: failed.filter((one) => byAssertion(one.failureMessages)).map((one) => one.fullName),
    broken: [
      ...failed.filter((one) => !byAssertion(one.failureMessages)).map((one) => one.fullName),
      ...unloaded.map(({ name, message }) => `${name}: ${message}`),
    ],
  }
}

interface TestRunOptions {
  readonly shelf: Shelf
  readonly limitMs: number
  readonly args?: readonly string[]
}

/**
 * Runs test files of a tree in memory alone, as the shelf does, in a process group that is ended after `limitMs` and with
 * this process.
 */
export async function runTests(
  dir: string,
  files: readonly string[],
  { shelf, limitMs, args = [] }: TestRunOptions,
): Promise<TestRun> {
  const outcome = join(dir, 'planted-result.json')
  rmSync(outcome, { force: true })
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config=test/planted/vitest.config.ts']
  // A file that no mistake changed is transformed once for all runs in this copy.
  const cache = ['--fsModuleCache', `--fsModuleCachePath=${join(dir, '.transformed')}`]
  const given = [...vitest, ...cache, `--outputFile=${outcome}`, ...args, ...files]
  const child = spawn(process.execPath, given, {
    cwd: dir,
    detached: true,
    env: { ...process.env, SHELF: shelf },
    stdio: 'ignore',
  })
  // Its workers are processes too: the group goes as one.
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // The group is gone already.
    }
  }
  const timer = setTimeout(end, limitMs)
  process.once('exit', end)
  await new Promise<void>((resolve, reject) =>
    child.once('exit', () => resolve()).once('error', reject),
  )
  clearTimeout(timer)
  process.off('exit', end)
  end()
  try {
    return read(outcome)
  } catch {
    return { passed: 0, isCut: false, refuted: [], broken: ['the run left no result'] }
  }
}

export interface Verdict {
  readonly name: string
  readonly seconds: number
  /** Null when the plant was caught, otherwise why it does not count as caught. */
  readonly problem: string | null
  /** A test that failed by an assertion, or else what happened instead. */
  readonly evidence: string | null
}

/** Most entries take a few seconds; what hangs is ended. */
const limitMs = 180_000
/** Before the first plant the files of all entries run in one go. */
const limitPerFileMs = 10_000

type Judgement = Pick<Verdict, 'problem' | 'evidence'>

async function judge(dir: string, files: readonly string[], shelf: Shelf): Promise<Judgement> {
  if (files.length === 0) return { problem: 'no test of the shelf', evidence: null }
  const limits = { shelf, limitMs, args: ['--maxWorkers=1'] }
  let run = await runTests(dir, files, { ...limits, args: [...limits.args, '--bail=1'] })
  // It ended at an exception, and a later test may still fail by an assertion.
  if (run.refuted.length === 0 && run.isCut) run = await runTests(dir, files, limits)
  const [refuted = null] = run.refuted
  const [broken = null] = run.broken
  if (refuted !== null) return { problem: null, evidence: refuted }
  return {
    problem: broken === null ? 'not caught' : 'fails, but by no assertion',
    evidence: broken,
  }
}

/** The tests have to pass before any plant, and every plant has to fit. */
async function prove({ dir, plant }: TreeCopy, plants: readonly Plant[], shelf: Shelf) {
  const files = [...new Set(plants.flatMap(testsOf))].filter((file) => isOnShelf(shelf, file))
  const limit = limitMs + files.length * limitPerFileMs
  const before = files.length > 0 ? await runTests(dir, files, { shelf, limitMs: limit }) : null
  const [failed] = before === null ? [] : [...before.refuted, ...before.broken]
  if (failed !== undefined) throw new Error(`A test fails without any plant: ${failed}`)
  if (before?.passed === 0) throw new Error('No test ran without any plant.')
  for (const { edits } of plants) plant(edits)()
}

/**
 * Plants one mistake after the other, in two copies of the tree at once, and says of each whether a test failed by an
 * assertion. Of the tests that an entry names, those on the shelf count. `tell` hears of each verdict as it is reached.
 */
export async function tryPlants(
  root: string,
  plants: readonly Plant[],
  shelf: Shelf = 'all',
  tell: (verdict: Verdict) => void = () => {},
): Promise<readonly Verdict[]> {
  const copies = [copyTree(root), copyTree(root)] as const
  try {
    await prove(copies[0], plants, shelf)
    const verdicts = new Map<Plant, Verdict>()
    const left = [...plants]
    const work = async (copy: TreeCopy) => {
      for (let plant = left.shift(); plant !== undefined; plant = left.shift()) {
        const started = performance.now()
        const restore = copy.plant(plant.edits)
        const files = testsOf(plant).filter((file) => isOnShelf(shelf, file))
        const judgement = await judge(copy.dir, files, shelf)
        restore()
        const seconds = (performance.now() - started) / 1000
        const verdict = { name: plant.name, seconds, ...judgement }
        verdicts.set(plant, verdict)
        tell(verdict)
      }
    }
    await Promise.all(copies.map(work))
    return plants.flatMap((plant) => verdicts.get(plant) ?? [])
  } finally {
    for (const copy of copies) copy.remove()
  }
}
