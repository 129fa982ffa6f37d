import { relative } from 'node:path'
import type { Reporter } from 'vitest/node'

/** What is read of one test file that has run. */
export interface RunModule {
  readonly moduleId: string
  readonly project: { readonly config: { readonly root: string } }
  readonly children: {
    allTests(): Iterable<{ result(): { readonly state: string } }>
  }
  state(): string
  diagnostic(): { readonly duration: number }
}

interface Tally {
  passed: number
  failed: number
  skipped: number
}

/** A module that failed to load, or in a hook, has no failed test of its own and still counts. */
function countModule(module: RunModule, tally: Tally): void {
  let failedHere = 0
  for (const test of module.children.allTests()) {
    const { state } = test.result()
    if (state === 'passed') tally.passed += 1
    else if (state === 'failed') failedHere += 1
    else tally.skipped += 1
  }
  if (failedHere === 0 && module.state() === 'failed') failedHere = 1
  tally.failed += failedHere
}

/** The ten files that took longest, with their seconds: where a run that grew slow lost its time. */
function slowestFiles(modules: readonly RunModule[]): readonly string[] {
  return modules
    .map((module) => ({ module, seconds: module.diagnostic().duration / 1000 }))
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, 10)
    .map(({ module, seconds }) => {
      const file = relative(module.project.config.root, module.moduleId)
      return `${seconds.toFixed(1).padStart(7)} s  ${file}`
    })
}

/** What is printed last of all; its last line says `N passed, N failed, N skipped` alone. */
export function summaryOf(modules: readonly RunModule[], errors: number): string {
  const tally: Tally = { passed: 0, failed: errors, skipped: 0 }
  for (const module of modules) countModule(module, tally)
  const { passed, failed, skipped } = tally
  const counts = `${passed} passed, ${failed} failed, ${skipped} skipped`
  return ['', 'slowest files:', ...slowestFiles(modules), '', counts, ''].join('\n')
}

/** Ends the output with the slowest files and the counts, for logs that are read by tools. */
export default class CiLineReporter implements Reporter {
  onTestRunEnd(modules: readonly RunModule[], errors: readonly unknown[]): void {
    const summary = summaryOf(modules, errors.length)
    // Reporters run side by side; only at exit is it certain that none prints after these lines.
    process.once('exit', () => process.stdout.write(summary))
  }
}
