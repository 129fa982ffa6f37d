import type { Reporter, TestModule } from 'vitest/node'

interface Tally {
  passed: number
  failed: number
  skipped: number
}

/** A module that failed to load, or in a hook, has no failed test of its own and still counts. */
function countModule(module: TestModule, tally: Tally): void {
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

/** Prints `N passed, N failed, N skipped` alone on the last line, for logs that are read by tools. */
export default class CiLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tally: Tally = { passed: 0, failed: errors.length, skipped: 0 }
    for (const module of modules) countModule(module, tally)
    const line = `\n${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped\n`
    // Reporters run side by side; only at exit is it certain that none prints after this line.
    process.once('exit', () => process.stdout.write(line))
  }
}
