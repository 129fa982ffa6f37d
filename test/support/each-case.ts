import { test } from 'vitest'
import type { ConformanceCase } from '../../src/testing/index.js'

/** One test a case of the conformance kit. */
export function testEach(subject: string, cases: readonly ConformanceCase[]): void {
  for (const { name, run } of cases) test(`R-LIB-07 ${subject}: ${name}`, run)
}
