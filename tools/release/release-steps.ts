import { longRuns } from '../test-long.js'

type Command = readonly [program: string, ...args: readonly string[]]

/** One thing that has to hold before a release. */
export interface ReleaseStep {
  readonly name: string
  /** One after the other, until one fails. */
  readonly commands: readonly Command[]
  readonly shows: string
  /** How long it takes on two quiet cores. */
  readonly takes: string
  /** A page below `docs` that has more figures of it. */
  readonly page: string | null
}

type Told = Pick<ReleaseStep, 'shows' | 'takes'>

const step = (
  name: string,
  { shows, takes }: Told,
  commands: readonly Command[],
  page: string | null = null,
): ReleaseStep => ({ name, commands, shows, takes, page })

const script = (name: string, ...args: readonly string[]): Command => [
  ...(['npm', 'run', '--silent', name, '--', ...args] as const),
]
const tool = (name: string): Command => [
  ...([
    process.execPath,
    '--import',
    './test/support/module-hooks.mjs',
    `tools/${name}.ts`,
  ] as const),
]
const long = (name: keyof typeof longRuns): ReleaseStep =>
  step(name, longRuns[name], [script('test:long', name)])

const half = 'half an hour'
const hour = 'an hour'

/** What a release needs and a change does not: each takes too long for every commit. The shortest come first. */
export const releaseSteps: readonly ReleaseStep[] = [
  step('audit', { shows: 'no known weakness in a package that users install', takes: 'seconds' }, [
    ['npm', 'audit', '--omit=dev', '--loglevel=warn'],
  ]),
  step(
    'sbom',
    { shows: 'the list of the packages that users get, in `.results/sbom.json`', takes: 'seconds' },
    [tool('release/sbom')],
  ),
  step(
    'package',
    { shows: 'every subpath of the tarball, as bundlers and compilers find it', takes: 'a minute' },
    [
      ['npx', 'attw', '--pack', '.', '--profile', 'esm-only', '--format', 'ascii'],
      ['npx', 'publint', '--strict'],
    ],
  ),
  step(
    'runtimes',
    {
      shows: 'a sign-in from the packed tarball on Node 22, 24 and 26, Bun and Deno',
      takes: 'a minute',
    },
    [tool('release/runtimes')],
  ),
  step(
    'everything',
    {
      shows: 'every test in every cell of the matrix, and the ledger of what they show',
      takes: hour,
    },
    [script('test:all'), script('ledger', 'all')],
  ),
  step('model', longRuns.models, [script('test:long', 'models')]),
  long('conformance'),
  long('malformed'),
  long('fuzz'),
  long('tabs'),
  long('simulation'),
  long('planted'),
  long('protocols'),
  step('cryptography', { shows: 'what the tests notice of mutated cryptography', takes: half }, [
    script('test:long', 'mutation', '--folder', 'src/crypto'),
  ]),
  step('rules', { shows: 'what the tests notice of mutated rules', takes: half }, [
    script('test:long', 'mutation', '--folder', 'src/engine'),
  ]),
  step(
    'bench',
    {
      shows: 'figures beside the peers; of those that miss their limits, the reasons',
      takes: hour,
    },
    [script('bench')],
    'performance.md',
  ),
  step(
    'nodes',
    { shows: 'guarded routes, new tokens and refresh on every supported Node', takes: hour },
    [script('bench', '--nodes')],
    'performance.md',
  ),
  { ...long('reliability'), page: 'reliability.md' },
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
