import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

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

/** What a run of some test files came to. */
export interface TestRun {
  readonly seconds: number
  readonly passed: number
  /** Titles of the tests that failed because an assertion did not hold, … */
  readonly refuted: readonly string[]
  /** … and what failed otherwise: an exception, a time-out, a file that could not be loaded. */
  readonly broken: readonly string[]
}

/** `expect(promise).rejects` fails with an error of its own where the promise resolves. */
const assertion = /^(AssertionError\b|Error: promise resolved .* instead of rejecting)/

const byAssertion = (messages: readonly string[] | null): boolean =>
  messages?.some((message) => assertion.test(message)) === true

function read(file: string): Omit<TestRun, 'seconds'> {
  const { testResults }: Results = JSON.parse(readFileSync(file, 'utf8'))
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
  const failed = tests.filter(({ status }) => status === 'failed')
  const unloaded = testResults.filter(
    ({ message, assertionResults }) => message !== '' && assertionResults.length === 0,
  )
  return {
    passed: tests.filter(({ status }) => status === 'passed').length,
    refuted: failed.filter((one) => byAssertion(one.failureMessages)).map((one) => one.fullName),
    broken: [
      ...failed.filter((one) => !byAssertion(one.failureMessages)).map((one) => one.fullName),
      ...unloaded.map(({ name, message }) => `${name}: ${message}`),
    ],
  }
}

/**
 * Runs test files of a tree in memory alone, in a process group that is ended after `limitMs` and with
 * this process.
 */
export async function runTests(
  dir: string,
  files: readonly string[],
  limitMs: number,
): Promise<TestRun> {
  const outcome = join(dir, 'planted-result.json')
  rmSync(outcome, { force: true })
  const started = performance.now()
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--config=test/planted/vitest.config.ts']
  const child = spawn(process.execPath, [...args, `--outputFile=${outcome}`, ...files], {
    cwd: dir,
    detached: true,
    env: { ...process.env, CONTRACT: 'memory' },
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
  const seconds = (performance.now() - started) / 1000
  try {
    return { seconds, ...read(outcome) }
  } catch {
    const broken = [`the run left no result after ${Math.round(seconds)} s`]
    return { seconds, passed: 0, refuted: [], broken }
  }
}
