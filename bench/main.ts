// `npm run bench`: runs suites, prints their tables and writes docs/performance.md.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { acrossNodes, everywhere } from './harness/across-nodes.js'
import { type CommandLine, readCommandLine } from './harness/command-line.js'
import { type FoundServers, findServers } from './harness/found-servers.js'
import { goals, judge, limitText, unmeasured } from './harness/goals.js'
import { commitOf, describeMachine, type Machine } from './harness/machine.js'
import { newSigningKey, type OpenContext, openContext } from './harness/open-context.js'
import { pageOf } from './harness/page.js'
import { prepare } from './harness/prepare.js'
import { spreadText } from './harness/statistics.js'
import { type StoredResult, storedResults, storeResult } from './harness/stored-result.js'
import type { Figure, Suite, SuiteResult } from './harness/suite.js'
import { textTable } from './harness/text-table.js'
import { suites } from './suites/index.js'

const root = new URL('../', import.meta.url)
const results = new URL('bench/results/', root)

/** The supported versions beside that of the tools; they are installed with the peers. */
const olderNodes = ['node20', 'node22'].map((name) =>
  fileURLToPath(new URL(`bench/node_modules/${name}/bin/node`, root)),
)

interface Ran {
  readonly suite: Suite
  /** Null for a suite that failed. */
  readonly result: SuiteResult | null
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`)
}

async function runSuite(suite: Suite, { context, close }: OpenContext): Promise<Ran> {
  try {
    const result = await suite.run(context)
    return { suite, result }
  } catch (error) {
    progress(`${suite.name} FAILED: ${error instanceof Error ? error.stack : String(error)}`)
    return { suite, result: null }
  } finally {
    await close()
  }
}

function print({ title }: Suite, { tables, figures }: SuiteResult): void {
  console.log(`\n# ${title}`)
  for (const table of tables) {
    console.log(`\n${table.title ?? ''}\n${textTable(table.head, table.rows)}`)
    if (table.note !== undefined) console.log(table.note)
  }
  if (figures.length === 0) return
  const rows = figures.map((figure) => {
    const { verdict, by } = judge(figure)
    const unit = figure.unit ?? ''
    return [
      `${figure.goal ?? ''} ${figure.what}`,
      limitText(figure),
      `${spreadText(figure.values)} ${unit}`,
      `${verdict} ${by}`,
    ]
  })
  console.log(`\n${textTable(['figure', 'goal', 'least / median / greatest', 'result'], rows)}`)
}

/** How many of the figures with a limit hold it. */
function limitsMet(ran: readonly Ran[]): string {
  const verdicts = ran
    .flatMap(({ result }) => result?.figures ?? [])
    .map((figure) => judge(figure).verdict)
    .filter((verdict) => verdict !== 'reported')
  return `${verdicts.filter((verdict) => verdict === 'met').length} of ${verdicts.length} limits are met`
}

/** What does not hold, a line each. */
function misses(ran: readonly Ran[], machine: Machine, all: boolean): readonly string[] {
  const runs = ran.flatMap(({ suite, result }) =>
    result === null ? [] : [{ suite: suite.name, machine, result }],
  )
  const figures = [
    ...runs.flatMap(({ result }) => result.figures),
    ...(all ? acrossNodes(runs) : []),
  ]
  const wanted = all ? Object.keys(goals) : [...new Set(ran.flatMap(({ suite }) => suite.goals))]
  return [
    ...figures
      .map(judge)
      .filter(({ verdict }) => verdict === 'missed')
      .map(({ figure, by }) => `${name(figure)}: ${spreadText(figure.values)}, ${by}`),
    ...unmeasured(wanted, figures).map((id) => `${id} ${goals[id]}: not measured`),
    ...ran.filter(({ result }) => result === null).map(({ suite }) => `${suite.name}: failed`),
  ]
}

function name({ goal, what, ...limit }: Figure): string {
  return [goal, what, limitText({ what, ...limit })].filter(Boolean).join(' ')
}

function store(line: CommandLine, machine: Machine, suite: Suite, result: SuiteResult): void {
  const stored: StoredResult = {
    suite: suite.name,
    title: suite.title,
    date: new Date().toISOString(),
    commit: commitOf(fileURLToPath(root)),
    rounds: line.rounds,
    machine,
    otherNode: machine.node !== process.versions.node,
    result,
  }
  storeResult(results, stored)
  writePage()
}

function writePage(): void {
  writeFileSync(new URL('docs/performance.md', root), pageOf(storedResults(results), suites))
}

/** Ctrl-C leaves no process, database or key behind. The suite that runs fails, and is the last one. */
function closeWhenInterrupted(
  open: () => OpenContext | null,
  servers: FoundServers,
): () => boolean {
  let isInterrupted = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      isInterrupted = true
      progress(`${signal}: removing what this run made`)
      const closed = (open()?.close() ?? Promise.resolve()).then(() => servers.release())
      void closed.finally(() => process.exit(130))
    })
  }
  return () => isInterrupted
}

/** A suite and its goals, in words. */
function linesOf({ name, title, goals: ids }: Suite): readonly string[] {
  return [`${name}: ${title}`, ...ids.map((id) => `  ${id} ${goals[id]}`)]
}

async function main(words: readonly string[]): Promise<void> {
  const known = suites.map((suite) => suite.name)
  const line = readCommandLine(words, known, process.execPath)
  if (line.list) {
    console.log(suites.flatMap(linesOf).join('\n'))
    return
  }
  if (line.page) return writePage()
  prepare(!line.smoke, progress)
  if (!line.nodes) return run(line)
  for (const node of [process.execPath, ...olderNodes]) {
    await run({ ...line, names: Object.keys(everywhere), node })
  }
}

async function run(line: CommandLine): Promise<void> {
  const servers = await findServers()
  let open: OpenContext | null = null
  const isInterrupted = closeWhenInterrupted(() => open, servers)
  const machine = describeMachine(line.node, servers.postgresText, servers.redisText)
  const missing = [servers.postgres ?? 'Postgres', servers.redis ?? 'Redis'].filter(
    (server) => typeof server === 'string',
  )
  for (const server of missing) progress(`MISSING: ${server}; what needs it is not measured`)
  const key = newSigningKey()
  const wanted =
    line.names.length === 0 ? suites : suites.filter((s) => line.names.includes(s.name))
  const ran: Ran[] = []
  try {
    for (const suite of wanted) {
      if (isInterrupted()) return
      open = openContext(line, servers, key, (text) => progress(`${suite.name}: ${text}`))
      const outcome = await runSuite(suite, open)
      ran.push(outcome)
      if (outcome.result === null) continue
      if (line.smoke) console.log(`${suite.name}: everything starts and answers`)
      else print(suite, outcome.result)
      if (line.writes) store(line, machine, suite, outcome.result)
    }
  } finally {
    await servers.release()
  }
  report(line, machine, ran, missing)
}

function report(
  line: CommandLine,
  machine: Machine,
  ran: readonly Ran[],
  missing: readonly string[],
): void {
  const failed = ran.some(({ result }) => result === null)
  if (failed || (line.smoke && missing.length > 0)) process.exitCode = 1
  if (!line.smoke) console.log(`\n${limitsMet(ran)}`)
  if (!line.check) return
  const missed = misses(ran, machine, line.names.length === 0)
  console.log(missed.length === 0 ? '\nevery goal is met' : `\n${missed.length} missed:`)
  for (const text of missed) console.log(`- ${text}`)
  if (missed.length > 0) process.exitCode = 1
}

await main(process.argv.slice(2))
