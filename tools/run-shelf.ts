import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isCutShort, type Shelf, shelfNamed, shownInBrowser } from '../test/shelves.js'

const base = new URL('../', import.meta.url)
const root = fileURLToPath(base)
const text = (path: string): string => readFileSync(new URL(path, base), 'utf8')

/** Two workers have two minutes, and start late. */
const secondsOfShare = 200
/** Beside the smoke, whose pages take a minute. */
const secondsInBrowser = 90

/** What only `npm run test:all` runs: files of no quick shelf, other cells, and whole samples. */
const onlyOfAll = (): readonly string[] =>
  globSync('test/**/*.test.ts', { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter(isCutShort)
    .toSorted()

/**
 * Puts the files into as few shares as their seconds allow, the longest first, so that the sum of all shares is the
 * whole. A file that takes longer than a share has one of its own.
 */
export function sharesOf(
  files: readonly string[],
  secondsOf: (file: string) => number,
  most: number,
): readonly (readonly string[])[] {
  const shares: { files: string[]; seconds: number }[] = []
  const longestFirst = files.toSorted((one, other) => secondsOf(other) - secondsOf(one))
  for (const file of longestFirst) {
    const seconds = secondsOf(file)
    const share = shares.find((one) => one.seconds + seconds <= most)
    if (share === undefined) shares.push({ files: [file], seconds })
    else {
      share.files.push(file)
      share.seconds += seconds
    }
  }
  return shares.map((share) => share.files)
}

const measured: Readonly<Record<string, number>> = JSON.parse(text('test/slow-files.json'))
const secondsOf = (file: string): number => measured[file] ?? 4

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

/** What the last commit changed; nothing in a checkout that has no commit before it, which it says. */
function changedFiles(): readonly string[] {
  try {
    return git('diff', '--name-only', 'HEAD~1').split('\n')
  } catch {
    console.log('There is no commit before this one, so nothing counts as changed.')
    return []
  }
}

/** The share that the commit's hash draws, so that every share has its turn and a commit always the same one. */
function shareOfCommit(): readonly string[] {
  const shares = sharesOf(onlyOfAll(), secondsOf, secondsOfShare)
  const hash = git('rev-parse', '--short=8', 'HEAD')
  const drawn = Number.parseInt(hash, 16) % shares.length
  const share = shares[drawn] ?? []
  console.log(`share ${drawn + 1} of ${shares.length}: ${share.join(' ')}`)
  return share
}

function run(shelf: Shelf, args: readonly string[], env: NodeJS.ProcessEnv = {}): void {
  const vitest = fileURLToPath(new URL('node_modules/vitest/vitest.mjs', base))
  const { status } = spawnSync(process.execPath, [vitest, 'run', ...args], {
    cwd: root,
    env: { ...process.env, ...env, SHELF: shelf },
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
}

/** Tests in a browser that show what the last commit changed, as many as fit into a minute or so. */
function touchedInBrowser(): readonly string[] {
  const changed = changedFiles()
  const globs = shownInBrowser.filter(([sources]) =>
    changed.some((file) => matchesGlob(file, sources)),
  )
  const files = globs.flatMap(([, tests]) => globSync(tests, { cwd: root }))
  const [first = []] = sharesOf(
    files.filter((file) => file.endsWith('.test.ts') && secondsOf(file) <= secondsInBrowser),
    secondsOf,
    secondsInBrowser,
  )
  return first
}

/**
 * `npm run test:stores`, `test:browser` and `test:all`: vitest on one shelf. `--short` runs less of it, `--share` the part
 * of `all` that this commit draws; anything else is handed to vitest.
 */
function main([name = '', ...args]: readonly string[]): void {
  const shelf = shelfNamed(name)
  if (args[0] === '--share') run(shelf, [...shareOfCommit(), ...args.slice(1)], { RESULT: 'share' })
  else if (args[0] === '--short') {
    const also = shelf === 'browser' ? touchedInBrowser() : []
    run(shelf, args.slice(1), { SHORT: '1', ALSO: also.join(' ') })
  } else run(shelf, args)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2))
