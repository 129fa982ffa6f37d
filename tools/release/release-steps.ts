import { type Figures, stepFigures } from './step-figures.js'

/** One thing that has to hold before a release, by the name of its npm script. */
export interface ReleaseStep {
  readonly name: string
  readonly script: string
  readonly args: readonly string[]
  readonly shows: string
  /** How long it takes on two quiet cores. */
  readonly takes: string
  /** A page below `docs` that has more figures of it. */
  readonly page: string | null
  readonly figures: Figures
}

interface Told {
  readonly shows: string
  readonly takes: string
  /** The script of the step's own name without one, and no arguments. */
  readonly command?: readonly [script: string, ...args: readonly string[]]
  readonly page?: string
}

const step = (name: keyof typeof stepFigures, told: Told): ReleaseStep => {
  const { shows, takes, command = [name], page = null } = told
  const [script, ...args] = command
  return { name, script, args, shows, takes, page, figures: stepFigures[name] }
}

const tenMillion = ['--seed', '1', '--steps', '10000000', '--minutes', '120', '--least', '10000000']

/** What a release needs and a change does not: each takes too long for every commit. The shortest come first. */
export const releaseSteps: readonly ReleaseStep[] = [
  step('audit', { shows: 'no known weakness in a package that users install', takes: 'seconds' }),
  step('sbom', {
    shows: 'the list of the packages that users get, in `.results/sbom.json`',
    takes: 'seconds',
  }),
  step('runtimes', {
    shows: 'a sign-in from the packed tarball on Node 22, 24 and 26, Bun and Deno',
    takes: 'a minute',
  }),
  step('model', { shows: 'every state of the protocol models', takes: 'two minutes' }),
  step('conformance', {
    shows: 'every store against the conformance kit',
    takes: 'five minutes',
  }),
  step('malformed', {
    shows: 'a million malformed requests to Express, a tenth to each other framework',
    takes: 'ten minutes',
  }),
  step('fuzz', { shows: 'a million inputs for each parser', takes: 'an hour' }),
  step('tabs', {
    shows: 'a hundred rotations in the tabs of a real browser',
    takes: 'three minutes',
  }),
  step('simulation', {
    shows: 'ten million simulated steps',
    takes: 'an hour',
    command: ['simulate', ...tenMillion],
  }),
  step('planted', { shows: 'every planted mistake is noticed', takes: 'an hour' }),
  step('protocols', {
    shows: 'every planted mistake of a protocol shows in simulated histories',
    takes: 'an hour',
    command: ['planted:simulation'],
  }),
  step('cryptography', {
    shows: 'what the tests notice of mutated cryptography',
    takes: 'half an hour',
    command: ['mutation', '--folder', 'src/crypto'],
  }),
  step('rules', {
    shows: 'what the tests notice of mutated rules',
    takes: 'half an hour',
    command: ['mutation', '--folder', 'src/engine'],
  }),
  step('bench', {
    shows: 'figures beside the peers; of those that miss their limits, the reasons',
    takes: 'an hour',
    page: 'performance.md',
  }),
  step('nodes', {
    shows: 'guarded routes, new tokens and refresh on every supported Node',
    takes: 'an hour',
    command: ['bench', '--nodes'],
    page: 'performance.md',
  }),
  step('reliability', {
    shows: 'the reliability suites in full',
    takes: 'an hour and a half',
    page: 'reliability.md',
  }),
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
