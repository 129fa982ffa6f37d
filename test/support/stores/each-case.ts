import { test } from 'vitest'
import type { ConformanceCase, ListedCase } from '../../../src/testing/index.js'

/** One test a case of the conformance kit; a skipped one tells why. */
export function testEach(subject: string, cases: readonly (ConformanceCase | ListedCase)[]): void {
  for (const one of cases) {
    const reason = 'skip' in one && one.skip
    const title = `${subject}: ${one.name}${reason ? ` (${reason})` : ''}`
    test.skipIf(reason)(title, one.run, one.timeout)
  }
}
