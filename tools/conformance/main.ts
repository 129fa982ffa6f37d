import { fileURLToPath } from 'node:url'
import { conformance, type ExploredCase, type ListedCase } from '../../src/testing/index.js'
import { type StartedStore, stores, type TestedStore } from './stores.js'

/** A column of a table: what stands in each of its rows. */
export interface Column {
  readonly name: string
  readonly cells: ReadonlyMap<string, string>
}

/** Rows in the order in which the columns first name them; a cell that is missing is a dash. */
export function tableOf(corner: string, columns: readonly Column[]): string {
  const rows = [...new Set(columns.flatMap(({ cells }) => [...cells.keys()]))]
  const lines = [
    [corner, ...columns.map(({ name }) => name)],
    ...rows.map((row) => [row, ...columns.map(({ cells }) => cells.get(row) ?? '–')]),
  ]
  const widths = ['', ...columns].map((_, at) => widest(lines, at))
  return lines
    .map((cells) => cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n')
}

function widest(lines: readonly (readonly string[])[], at: number): number {
  return Math.max(...lines.map((cells) => cells[at]?.length ?? 0))
}

/** How the cases ended on one store. */
export interface Played {
  readonly store: string
  readonly cases: readonly ListedCase[]
  /** What went wrong, by the case's name. */
  readonly failed: ReadonlyMap<string, string>
  readonly explored: readonly ExploredCase[]
  readonly seconds: number
}

/** Plays every case on the store, one after the other; null where its server is missing. */
export async function play({ name, start }: TestedStore): Promise<Played | null> {
  const started = await start()
  if (!started) return null
  try {
    return await playOn(name, started)
  } finally {
    await started.stop()
  }
}

async function playOn(store: string, { open, skip = {} }: StartedStore): Promise<Played> {
  const explored: ExploredCase[] = []
  const failed = new Map<string, string>()
  const began = performance.now()
  const interleavings = { explored: (one: ExploredCase) => void explored.push(one) }
  const cases: ListedCase[] = []
  for (const one of conformance({ open, skip, interleavings })) {
    let { skip: reason } = one
    const noteSkip = (why: string): void => {
      reason = why
    }
    if (reason === false) {
      await one.run({ skip: noteSkip }).catch((error: unknown) => {
        failed.set(one.name, error instanceof Error ? error.message : String(error))
      })
    }
    cases.push({ ...one, skip: reason })
  }
  return { store, cases, failed, explored, seconds: (performance.now() - began) / 1000 }
}

/** How many cases of each group passed, `12 of 13` where not all did. */
export function groupColumn({ store, cases, failed, seconds }: Played): Column {
  const cells = new Map<string, string>()
  for (const group of new Set(cases.map((one) => one.group))) {
    cells.set(
      group,
      tally(
        cases.filter((one) => one.group === group),
        failed,
      ),
    )
  }
  cells.set('all', tally(cases, failed))
  return { name: store, cells: cells.set('seconds', seconds.toFixed(0)) }
}

function tally(cases: readonly ListedCase[], failed: Played['failed']): string {
  const skipped = cases.filter(({ skip }) => skip !== false).length
  const passed = cases.length - skipped - cases.filter(({ name }) => failed.has(name)).length
  if (passed === cases.length) return String(passed)
  return `${passed} of ${cases.length}${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

/** How many schedules of each racing case were played; `~` where there are more. */
export function scheduleColumn({ store, explored }: Played): Column {
  const cells = explored.map(({ name, schedules, isExhaustive }) => {
    return [name.replace('interleaved: ', ''), `${isExhaustive ? '' : '~'}${schedules}`] as const
  })
  const all = explored.reduce((sum, { schedules }) => sum + schedules, 0)
  return { name: store, cells: new Map([...cells, ['all', String(all)]]) }
}

/** What keeps this from being a full pass: failures of any store, in full. */
export function problemsOf(played: readonly Played[]): readonly string[] {
  return played.flatMap(({ store, failed }) => {
    return [...failed].map(([name, message]) => `${store}: ${name}\n${message}`)
  })
}

/** The cases that were skipped, each with its reason. */
export function skipsOf(played: readonly Played[]): readonly string[] {
  return played.flatMap(({ store, cases }) => {
    return cases.flatMap(({ name, skip }) => (skip ? `${store}: ${name}: ${skip}` : []))
  })
}

/** Plays the conformance kit on the stores named on the command line, or on all of them. */
async function main(wanted: readonly string[]): Promise<void> {
  const unknown = wanted.filter((name) => !stores.some((store) => store.name === name))
  if (unknown.length > 0) throw new Error(`no such store: ${unknown.join(', ')}`)
  const played: Played[] = []
  for (const store of stores.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
    const result = await play(store)
    if (result) played.push(result)
    else console.log(`${store.name}: skipped, its server was not found`)
  }
  console.log(tableOf('cases that passed', played.map(groupColumn)))
  console.log(`\n${tableOf('interleavings played', played.map(scheduleColumn))}`)
  for (const skip of skipsOf(played)) console.log(`skipped: ${skip}`)
  const problems = problemsOf(played)
  for (const problem of problems) console.error(`\nFAILED on ${problem}`)
  if (problems.length > 0) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2))
