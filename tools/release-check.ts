import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { commitOf, describeComputer } from '../bench/harness/machine.js'
import { assurancePage, keepRun, type StepRun, storedRecords } from './release/records.js'
import { chosenSteps, type ReleaseStep, releaseSteps } from './release/release-steps.js'
import { tee } from './release/tee.js'

/** How a step ended. `code` is null where it was ended by a signal. */
export interface StepEnd {
  readonly name: string
  readonly code: number | null
  readonly seconds: number
  /** Whether it was recorded. */
  readonly note: string
}

type Ran = Omit<StepRun, 'step' | 'seconds'>

/** Runs all steps, also after one that failed, so that one run shows everything that is wrong. */
export async function runSteps(
  steps: readonly ReleaseStep[],
  run: (step: ReleaseStep) => Promise<Ran>,
  keep: (run: StepRun) => string,
  now: () => number,
): Promise<readonly StepEnd[]> {
  const ends: StepEnd[] = []
  for (const step of steps) {
    const started = now()
    const ran = await run(step)
    const seconds = Math.round((now() - started) / 1000)
    // At once, since the steps after it take most of a day.
    const note = keep({ ...ran, step, seconds })
    ends.push({ name: step.name, code: ran.code, seconds, note })
  }
  return ends
}

const base = new URL('../', import.meta.url)
const root = fileURLToPath(base)

/** They would make a run shorter, or another one, than its step says. */
const others = [
  'SHELF',
  'SHORT',
  'RELIABILITY',
  'TABS',
  'FUZZ_RUNS',
  'FUZZ_SEED',
  'MALFORMED_RUNS',
  'MALFORMED_SEED',
  'SEED',
]

let isInterrupted = false

async function runStep({ name, commands }: ReleaseStep): Promise<Ran> {
  console.log(`\n== ${name}`)
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([variable]) => !others.includes(variable)),
  )
  const [before, machine] = [commitOf(root), describeComputer(process.execPath)]
  const lines: string[] = []
  let code: number | null = 0
  for (const command of commands) {
    if (code !== 0) break
    const told = await tee(command, { cwd: root, env }, (text) => process.stdout.write(text))
    if (isInterrupted) process.exit(130)
    code = told.code
    lines.push(...told.lines)
  }
  const commits = { before, after: commitOf(root) }
  return { code, lines, date: new Date().toISOString(), commits, machine }
}

function keep(run: StepRun): string {
  const note = keepRun(run)
  const page = assurancePage(storedRecords(), releaseSteps)
  writeFileSync(new URL('docs/assurance.md', base), page)
  console.log(`== ${run.step.name}: ${note}`)
  return note
}

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--list')) {
    for (const { name, shows, takes } of releaseSteps)
      console.log(`${name.padEnd(12)} ${shows} (${takes})`)
    return
  }
  const steps = chosenSteps(args)
  if (commitOf(root).endsWith('+'))
    console.log('Files differ from the commit, so what these steps find is not recorded.')
  // Ctrl-C reaches the step as well, which ends its servers and says so.
  process.once('SIGINT', () => {
    isInterrupted = true
  })
  const ends = await runSteps(steps, runStep, keep, () => performance.now())
  console.log('')
  for (const { name, code, seconds, note } of ends)
    console.log(`${code === 0 ? 'ok ' : 'BAD'}  ${name.padEnd(12)} ${seconds} s, ${note}`)
  if (ends.some(({ code }) => code !== 0)) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2))
