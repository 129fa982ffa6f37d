import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** One thing that has to hold before a release, by the name of its npm script. */
export interface ReleaseStep {
  readonly name: string
  readonly script: string
  readonly args: readonly string[]
  /** What it shows, and how long it takes on two quiet cores. */
  readonly shows: string
}

const step = (name: string, shows: string, script = name, ...args: string[]): ReleaseStep => ({
  name,
  script,
  args,
  shows,
})

const tenMillion = ['--seed', '1', '--steps', '10000000', '--minutes', '120', '--least', '10000000']

/** What a release needs and a change does not: each takes too long for every commit. The shortest come first. */
export const releaseSteps: readonly ReleaseStep[] = [
  step('audit', 'no known weakness in a package that users install (seconds)'),
  step('sbom', 'the list of these packages, in .results/sbom.json (seconds)'),
  step(
    'runtimes',
    'a sign-in from the packed tarball on Node 22, 24 and 26, Bun and Deno (a minute)',
  ),
  step('model', 'every state of the protocol models (two minutes)'),
  step('conformance', 'every store against the conformance kit (five minutes)'),
  step(
    'malformed',
    'a million malformed requests to Express, a tenth to each other framework (ten minutes)',
  ),
  step('fuzz', 'a million inputs for each parser (an hour)'),
  step('tabs', 'a hundred rotations in the tabs of a real browser (three minutes)'),
  step('simulation', 'ten million simulated steps (an hour)', 'simulate', ...tenMillion),
  step('planted', 'every planted mistake is noticed (an hour)'),
  step(
    'protocols',
    'every planted mistake of a protocol shows in simulated histories (an hour)',
    'planted:simulation',
  ),
  step('mutation', 'what a test notices of mutated rules and cryptography (a few hours)'),
  step('bench', 'figures beside the peers (an hour)', 'bench', '--check'),
  step('nodes', 'the same on every supported Node (an hour)', 'bench', '--nodes', '--check'),
  step('reliability', 'the reliability suites in full (an hour and a half)'),
]

/** The steps of these names, in the order of the list; all of them for none. Throws for a name that is no step's. */
export function chosenSteps(names: readonly string[]): readonly ReleaseStep[] {
  const unknown = names.filter((name) => !releaseSteps.some((one) => one.name === name))
  if (unknown.length > 0) {
    const known = releaseSteps.map(({ name }) => name).join(', ')
    throw new Error(`no step ${unknown.join(', ')}; there are ${known}`)
  }
  return names.length === 0 ? releaseSteps : releaseSteps.filter(({ name }) => names.includes(name))
}

/** How a step ended. `code` is null where it was ended by a signal. */
export interface StepEnd {
  readonly name: string
  readonly code: number | null
  readonly seconds: number
}

/** Runs all steps, also after one that failed, so that one run shows everything that is wrong. */
export function runSteps(
  steps: readonly ReleaseStep[],
  run: (step: ReleaseStep) => number | null,
  now: () => number,
): readonly StepEnd[] {
  return steps.map((one) => {
    const started = now()
    const code = run(one)
    return { name: one.name, code, seconds: Math.round((now() - started) / 1000) }
  })
}

const root = fileURLToPath(new URL('..', import.meta.url))

function runScript({ name, script, args }: ReleaseStep): number | null {
  console.log(`\n== ${name}`)
  return spawnSync('npm', ['run', '--silent', script, '--', ...args], {
    cwd: root,
    stdio: 'inherit',
  }).status
}

function main(args: readonly string[]): void {
  if (args.includes('--list')) {
    for (const { name, shows } of releaseSteps) console.log(`${name.padEnd(12)} ${shows}`)
    return
  }
  const ends = runSteps(chosenSteps(args), runScript, () => performance.now())
  console.log('')
  for (const { name, code, seconds } of ends)
    console.log(`${code === 0 ? 'ok ' : 'BAD'}  ${name.padEnd(12)} ${seconds} s`)
  if (ends.some(({ code }) => code !== 0)) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2))
