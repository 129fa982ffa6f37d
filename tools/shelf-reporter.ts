import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Reporter, Vitest } from 'vitest/node'
import { commitOf } from '../bench/harness/machine.js'
import { exercisedFile } from '../test/support/hosts/exercised-file.js'
import type { ShelfResult, TestResult } from './shelf-results.js'

/** The part of one test file that has run which is read here. */
export interface RunModule {
  readonly moduleId: string
  readonly project: { readonly config: { readonly root: string } }
  readonly children: {
    allTests(): Iterable<{
      readonly fullName: string
      result(): { readonly state: string }
    }>
  }
  state(): string
  diagnostic(): { readonly duration: number }
}

const fileOf = (module: RunModule): string =>
  relative(module.project.config.root, module.moduleId).replaceAll('\\', '/')

const statusOf = (state: string): TestResult['status'] =>
  state === 'passed' || state === 'failed' ? state : 'skipped'

/** Every test of a file. A file that failed to load, or in a hook, has no failed test of its own and counts as one. */
function testsOf(module: RunModule): readonly TestResult[] {
  const file = fileOf(module)
  const tests = [...module.children.allTests()].map((test) => ({
    file,
    title: test.fullName.replaceAll(' > ', ' ').replaceAll(/\s+/g, ' ').trim(),
    status: statusOf(test.result().state),
  }))
  const isBroken = module.state() === 'failed' && !tests.some(({ status }) => status === 'failed')
  return isBroken ? [...tests, { file, title: 'the file itself', status: 'failed' }] : tests
}

/** The ten files that took longest, with their seconds: where a run that grew slow lost its time. */
function slowestFiles(modules: readonly RunModule[]): readonly string[] {
  return modules
    .map((module) => ({ module, seconds: module.diagnostic().duration / 1000 }))
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, 10)
    .map(({ module, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${fileOf(module)}`)
}

/** The last lines of a run; the very last says `N passed, N failed, N skipped` alone. */
export function summaryOf(modules: readonly RunModule[], errors: number): string {
  const tests = modules.flatMap(testsOf)
  const count = (status: TestResult['status']): number =>
    tests.filter((test) => test.status === status).length
  const counts = `${count('passed')} passed, ${count('failed') + errors} failed, ${count('skipped')} skipped`
  return ['', 'slowest files:', ...slowestFiles(modules), '', counts, ''].join('\n')
}

/** Seconds of processor time of this process and its workers so far; null where the system does not say. */
function cpuSeconds(): number | null {
  if (!existsSync('/proc/self/stat')) return null
  // What follows the name in brackets: user, system, and both again for children that ended, in hundredths.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return Math.round(fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0)) / 100
}

/** Ends the output with the slowest files and the counts, and keeps the result of a whole shelf in `.results`. */
export default class ShelfReporter implements Reporter {
  #vitest: Vitest | undefined
  #commit = ''
  readonly #started = performance.now()

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
    this.#commit = commitOf(vitest.config.root)
    // What an earlier run called says nothing about this one.
    rmSync(exercisedFile, { force: true })
  }

  onTestRunEnd(modules: readonly RunModule[], errors: readonly unknown[]): void {
    const seconds = (performance.now() - this.#started) / 1000
    const summary = summaryOf(modules, errors.length)
    // Reporters run side by side, and workers are counted once they ended: only at exit is all of it certain.
    process.once('exit', () => {
      this.#keep(modules, seconds)
      process.stdout.write(summary)
    })
  }

  /** Nothing for a run of some files alone: it would pass for the shelf. */
  #keep(modules: readonly RunModule[], seconds: number): void {
    if (this.#vitest === undefined) return
    const { config, projects } = this.#vitest
    const ran = new Set(modules.map(fileOf))
    const isWhole = projects.flatMap((one) => one.config.include).every((file) => ran.has(file))
    if (!isWhole && process.env['RESULT'] === undefined) return
    if (config.testNamePattern !== undefined || config.watch) return
    const shelf = process.env['RESULT'] ?? process.env['SHELF'] ?? 'fast'
    const result: ShelfResult = {
      shelf,
      isShort: process.env['SHORT'] === '1',
      commit: this.#commit,
      seconds: Math.round(seconds),
      cpuSeconds: cpuSeconds(),
      files: Object.fromEntries(
        modules.map((module) => [fileOf(module), Math.round(module.diagnostic().duration) / 1000]),
      ),
      exercised: existsSync(exercisedFile)
        ? [...new Set(readFileSync(exercisedFile, 'utf8').trim().split('\n'))].sort()
        : [],
      tests: modules.flatMap(testsOf),
    }
    const folder = join(config.root, '.results')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `${shelf}.json`), JSON.stringify(result))
  }
}
