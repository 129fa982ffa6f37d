import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Model, Scenario } from './model.js'
import { type Outcome, parseSearch } from './parse-search.js'
import { type Promela, promelaOf } from './promela.js'

export interface Found extends Outcome {
  /** What broke: a claim by its name, or the scenario's own for liveness. */
  readonly broken: string | null
  /** The actions up to there, one a line; a cycle begins where a line says so. */
  readonly trail: readonly string[]
}

const onPath = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)))

/** For `describe.skipIf`; such titles contain the word "spin", by which CI notices a skip. */
export const isSpinMissing = !onPath('spin') || !onPath('gcc')

const limits = { cpuSeconds: 60, megabytes: 2048, depth: 2_000_000 }

interface Ran {
  readonly output: string
  readonly code: number | null
}

function run(cwd: string, program: string, ...args: readonly string[]): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const add = (chunk: Buffer) => {
      output += chunk.toString()
    }
    child.stdout.on('data', add)
    child.stderr.on('data', add)
    child.on('error', reject)
    child.on('close', (code) => resolve({ output, code }))
  })
}

async function must(cwd: string, program: string, ...args: readonly string[]): Promise<string> {
  const { output, code } = await run(cwd, program, ...args)
  if (code !== 0) throw new Error(`${program} failed:\n${output}`)
  return output
}

/**
 * Searches every state of a scenario. Asked for the shortest way to an error, it goes breadth first,
 * which safety alone can be searched by.
 */
export async function search(
  model: Model,
  scenario: Scenario,
  { shortest = false }: { readonly shortest?: boolean } = {},
): Promise<Found> {
  const folder = await mkdtemp(join(tmpdir(), 'models-'))
  try {
    const promela = promelaOf(model, scenario)
    await writeFile(join(folder, 'model.pml'), promela.text)
    await must(folder, 'spin', '-a', 'model.pml')
    const isSafety = scenario.eventually === null
    const breadthFirst = isSafety && shortest
    await must(
      folder,
      'gcc',
      ...['-w', breadthFirst ? '-O1' : '-O2', '-o', 'pan', 'pan.c'],
      `-DMEMLIM=${limits.megabytes}`,
      ...(isSafety ? ['-DSAFETY', '-DNOREDUCE'] : []),
      ...(breadthFirst ? ['-DBFS'] : []),
    )
    // Weak fairness: a process that can go on for ever does.
    const how = isSafety ? [] : ['-a', '-f']
    const pan = ['exec', './pan', `-m${limits.depth}`, '-w22', ...how].join(' ')
    const { output } = await run(folder, 'sh', '-c', `ulimit -t ${limits.cpuSeconds}; ${pan}`)
    const outcome = parseSearch(output, promela)
    if (outcome.errors === 0) return { ...outcome, broken: null, trail: [] }
    return { ...outcome, ...(await explain(folder, promela, scenario)) }
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function explain(
  folder: string,
  promela: Promela,
  scenario: Scenario,
): Promise<Pick<Found, 'broken' | 'trail'>> {
  const { output } = await run(folder, 'spin', '-t', 'model.pml')
  const line = /model\.pml:(\d+), Error: assertion violated/.exec(output)?.[1]
  const broken = line === undefined ? null : promela.claims.get(Number(line))
  const trail = output
    .split('\n')
    .filter((text) => text.includes('@ ') || text.includes('START OF CYCLE'))
    .map((text) =>
      text.replace(/^.*@ /, '').replace(/.*START OF CYCLE.*/, '-- from here, for ever:'),
    )
  return { broken: broken ?? scenario.name, trail }
}
