import { appendFileSync, mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { isFull } from './sizes.js'

/** One measured result, a line of `.results/reliability.jsonl`. */
export interface Figure {
  readonly id: string
  readonly what: string
  /** The title of the test that measured it. */
  readonly how: string
  readonly value: string
  readonly form: 'full' | 'short'
}

const results = fileURLToPath(new URL('../../.results/', import.meta.url))

/**
 * Prints a figure and keeps it for `docs/reliability.md`. Call it from inside the test that shows
 * it, after the assertions. `id` is `R1`, `R2`, … or a word; `value` a sentence with its units.
 */
export function figure(id: string, what: string, value: string): void {
  const title = expect.getState().currentTestName ?? ''
  const measured: Figure = { id, what, how: title, value, form: isFull ? 'full' : 'short' }
  mkdirSync(results, { recursive: true })
  // Appending a short line is atomic, so test files that run side by side do not mix theirs.
  appendFileSync(`${results}reliability.jsonl`, `${JSON.stringify(measured)}\n`)
  console.log(`figure ${id} | ${what} | ${value}`)
}

/** `p50 3.1 ms, p99 12.4 ms` of times in milliseconds. */
export function percentiles(times: readonly number[], ...wanted: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (p: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor((p / 100) * sorted.length))]
  return wanted.map((p) => `p${p} ${(at(p) ?? Number.NaN).toFixed(1)} ms`).join(', ')
}
