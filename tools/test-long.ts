import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** A run that takes too long for every change. */
interface LongRun {
  readonly shows: string
  /** On two quiet cores. */
  readonly takes: string
  /** What Node is given. */
  readonly command: readonly string[]
  /** Where the environment does not say otherwise. */
  readonly env?: Readonly<Record<string, string>>
  /** Where none are given. */
  readonly usual?: readonly string[]
}

const tool = (name: string): readonly string[] => [
  ...['--import', './test/support/module-hooks.mjs', `tools/${name}.ts`],
]
const tests = (...files: readonly string[]): readonly string[] => [
  ...['node_modules/vitest/vitest.mjs', 'run', ...files],
]

/** Each has its own test of the kit. */
const stores = [
  ...['memory', 'postgres', 'pglite', 'sqlite', 'mariadb', 'mongo', 'redis', 'redis-cluster'],
]

const million = '1000000'
const tenMillion = ['--seed', '1', '--steps', '10000000', '--minutes', '120', '--least', '10000000']

/** By the name that `npm run test:long -- <name>` takes; what follows the name is handed on. */
export const longRuns = {
  models: {
    shows: 'every state of the protocol models',
    takes: 'two minutes',
    command: tool('run-models'),
  },
  tabs: {
    shows: 'a hundred rotations in the tabs of a real browser',
    takes: 'three minutes',
    command: tests('test/client/tabs-browser.test.ts'),
    env: { TABS: 'full' },
  },
  conformance: {
    shows: 'every store against the conformance kit',
    takes: 'five minutes',
    command: tests(),
    usual: stores.map((store) => `test/adapters/${store}.test.ts`),
  },
  lockstep: {
    shows: 'this build and that of --base <commit> answer 20,000 requests alike',
    takes: 'four minutes',
    command: tool('run-lockstep'),
  },
  malformed: {
    shows: 'a million malformed requests to Express, a tenth to each other framework',
    takes: 'ten minutes',
    command: tests('test/reliability/malformed-requests.test.ts'),
    env: { MALFORMED_RUNS: million },
  },
  soak: {
    shows: 'half an hour of every flow, as the figure R30 has it, and writes nothing',
    takes: 'three quarters of an hour',
    command: tests('test/reliability/soak.test.ts'),
    env: { RELIABILITY: 'full' },
  },
  fuzz: {
    shows: 'a million inputs for each parser',
    takes: 'an hour',
    command: tests('test/fuzz'),
    env: { FUZZ_RUNS: million },
  },
  simulation: {
    shows: 'ten million simulated steps',
    takes: 'an hour',
    command: tool('run-simulation'),
    usual: tenMillion,
  },
  planted: {
    shows: 'every planted mistake is noticed',
    takes: 'an hour',
    command: tool('run-planted'),
  },
  protocols: {
    shows: 'every planted mistake of a protocol shows in simulated histories',
    takes: 'an hour',
    command: tool('run-planted-simulation'),
  },
  mutation: {
    shows: 'what the tests notice of mutated rules and cryptography',
    takes: 'an hour',
    command: tool('run-mutation'),
  },
  reliability: {
    shows: 'the reliability suites in full',
    takes: 'an hour and a half',
    command: tool('reliability'),
  },
} satisfies Readonly<Record<string, LongRun>>

/** The exit code of a run. */
function play({ command, env = {}, usual = [] }: LongRun, args: readonly string[]): number {
  const { status } = spawnSync(
    process.execPath,
    [...command, ...(args.length === 0 ? usual : args)],
    {
      cwd: fileURLToPath(new URL('../', import.meta.url)),
      env: { ...env, ...process.env, SHELF: 'all' },
      stdio: 'inherit',
    },
  )
  return status ?? 1
}

function main([name = '--list', ...args]: readonly string[]): void {
  const runs: Readonly<Record<string, LongRun>> = longRuns
  const run = Object.hasOwn(runs, name) ? runs[name] : undefined
  if (run !== undefined) {
    process.exitCode = play(run, args)
    return
  }
  if (name !== '--list')
    throw new Error(`no run ${name}; there are ${Object.keys(runs).join(', ')}`)
  for (const [own, { shows, takes }] of Object.entries(runs)) {
    console.log(`${own.padEnd(12)} ${shows} (${takes})`)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2))
