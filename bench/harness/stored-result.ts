import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Machine } from './machine.js'
import type { SuiteResult } from './suite.js'

/** What one run of a suite found: a committed file of `bench/results`, until the suite runs again. */
export interface StoredResult {
  readonly suite: string
  readonly title: string
  /** ISO 8601 */
  readonly date: string
  readonly commit: string
  readonly rounds: number
  readonly machine: Machine
  /** Whether the contenders ran on the Node that the tools run on. */
  readonly otherNode: boolean
  readonly result: SuiteResult
}

/** A run on another Node than the tools' is kept beside the usual one. */
export function storeResult(folder: URL, stored: StoredResult): void {
  mkdirSync(folder, { recursive: true })
  const major = stored.machine.node.split('.')[0]
  const name = stored.otherNode ? `${stored.suite}.node${major}` : stored.suite
  writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify(stored, null, 1)}\n`)
}

export function storedResults(folder: URL): readonly StoredResult[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name): StoredResult => JSON.parse(readFileSync(new URL(name, folder), 'utf8')))
}
