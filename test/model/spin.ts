import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Plant } from './plants.js'
import { type ModelName, type Search, searches } from './searches.js'

/** What a search said. */
export interface Found {
  readonly states: number
  readonly seconds: number
  readonly megabytes: number
  /** What went wrong, in the words of Spin; null where nothing did. */
  readonly broken: string | null
  /** Why it does not count as having seen every state; empty for one that does. */
  readonly incomplete: readonly string[]
  /** Statements that were never carried out. */
  readonly unreached: readonly string[]
  /** The way to what went wrong, a statement a line. */
  readonly trail: readonly string[]
}

const onPath = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)))

/** For `describe.skipIf`; such titles contain the word "spin", by which CI notices a skip. */
export const isSpinMissing = !onPath('spin') || !onPath('gcc')

const limits = { cpuSeconds: 120, megabytes: 2048, depth: 2_000_000 }

export const textOf = (model: ModelName): string =>
  readFileSync(new URL(`${model}.pml`, import.meta.url), 'utf8')

/** The model with the mistake in it, and with no claim but the one that it should break. */
export function planted({ model, breaks, edits }: Plant): string {
  let text = textOf(model)
  for (const [find, replace] of edits) {
    if (text.split(find).length !== 2) throw new Error(`${model} does not hold this once: ${find}`)
    text = text.replace(find, () => replace)
  }
  const lines = text.split('\n').map((line) => {
    return line.includes(`/* ${breaks} */`) ? line : line.replace('assert(', 'unclaimed(')
  })
  return ['#define unclaimed(claim) true', ...lines].join('\n')
}

/** Searches every state. Where something is wrong, it searches once more, for the shortest way there. */
export async function checkSearch(search: Search): Promise<Found> {
  const text = textOf(search.model)
  const found = await searched(text, search)
  const isLong = found.broken !== null && search.eventually === undefined
  return isLong ? searched(text, search, ['-DBFS']) : found
}

/** Searches for what a mistake breaks. Throws where there is no such search or claim. */
export function checkPlant(plant: Plant): Promise<Found> {
  const search = searches.find(({ model, name }) => {
    return model === plant.model && name === plant.search
  })
  const text = planted(plant)
  const isClaimed = search?.eventually !== undefined || text.includes('assert(')
  if (search === undefined || !isClaimed) throw new Error(`${plant.name}: no such search or claim`)
  return searched(text, search)
}

/** Statements that no search of the model carries out: they would say nothing. */
export function unreached(found: readonly Found[]): readonly string[] {
  const [first, ...others] = found.map((one) => one.unreached)
  return (first ?? []).filter((statement) => others.every((one) => one.includes(statement)))
}

async function searched(
  text: string,
  search: Search,
  more: readonly string[] = [],
): Promise<Found> {
  const { macros, eventually } = search
  const folder = await mkdtemp(join(tmpdir(), 'models-'))
  const given = Object.entries(macros).map(([name, value]) => `-D${name}=${value}`)
  try {
    await writeFile(join(folder, 'model.pml'), text)
    await must(folder, 'spin', ...given, '-a', 'model.pml')
    const kind = eventually === undefined ? ['-DSAFETY', '-DNOCLAIM', '-DNOREDUCE'] : ['-DNFAIR=3']
    const limit = `-DMEMLIM=${limits.megabytes}`
    await must(folder, 'gcc', '-w', '-O2', '-o', 'pan', 'pan.c', limit, ...kind, ...more)
    // Weak fairness: a process that can go on for ever does.
    const how = eventually === undefined ? '' : `-a -f -N ${eventually}`
    const pan = `ulimit -t ${limits.cpuSeconds}; exec ./pan -m${limits.depth} -w24 ${how}`
    const { output } = await run(folder, 'sh', '-c', pan)
    const found = readSearch(output)
    if (found.broken === null) return found
    const told = await run(folder, 'spin', ...given, '-t', '-p', 'model.pml')
    return { ...found, trail: trailIn(told.output) }
  } finally {
    await rm(folder, { recursive: true })
  }
}

const signsOfStopping = [
  ...['max search depth too small', 'out of memory', 'reached -DMEMLIM bound', 'VECTORSZ'],
  ...['hash array', 'Search not completed', 'error: '],
]

/** Reads what a verifier of Spin prints. A text that does not say that it got to its end is no result. */
export function readSearch(output: string): Found {
  const number = (form: RegExp): number | null => {
    const found = form.exec(output)?.[1]
    return found === undefined ? null : Number(found)
  }
  const broken = /^pan:1: (.*?)(?: \(at depth \d+\))?$/m.exec(output)?.[1] ?? null
  const states = number(/([\d.e+]+) states, stored/)
  const signs = signsOfStopping.filter((sign) => output.includes(sign))
  const isOver = number(/errors: (\d+)/) !== null && states !== null
  return {
    states: states ?? 0,
    seconds: number(/elapsed time ([\d.]+) seconds/) ?? 0,
    megabytes: number(/([\d.]+)\ttotal actual memory usage/) ?? 0,
    broken,
    incomplete: [
      ...(broken === null ? signs : []),
      ...(isOver ? [] : ['the search did not get to its end']),
    ],
    unreached: unreachedIn(output),
    trail: [],
  }
}

/** What starts processes, the formulas and the ends of processes that have none are no part of the protocol. */
function unreachedIn(output: string): readonly string[] {
  const [, ...parts] = output.split(/^unreached in /m)
  return parts
    .filter((part) => part.startsWith('proctype '))
    .flatMap((part) => {
      const [name = ''] = part.split('\n')
      return [...part.matchAll(/^\t\S+:(\d+), state (\d+), "(.*)"$/gm)]
        .filter(([, , , statement]) => statement !== '-end-')
        .map(([, line, state, statement]) => `${name}, line ${line} (${state}): ${statement}`)
    })
}

/** `3 holder, line 81: ((denied||disabled))` */
function trailIn(output: string): readonly string[] {
  const steps =
    /^\s*\d+:\s+proc +(\d+) \((\w+):\d+\) \S+:(\d+) \(state \d+\)\s+\[(.*)\]$|(START OF CYCLE)/gm
  return [...output.matchAll(steps)].map(([, pid, name, line, statement, cycle]) =>
    cycle === undefined ? `${pid} ${name}, line ${line}: ${statement}` : '-- from here, for ever:',
  )
}

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

async function must(cwd: string, program: string, ...args: readonly string[]): Promise<void> {
  const { output, code } = await run(cwd, program, ...args)
  if (code !== 0) throw new Error(`${program} failed:\n${output}`)
}
