import { spawnSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { equivalents } from '../test/mutation/equivalents.js'
import { type Mutant, readMutants } from '../test/mutation/mutants.js'
import { outdated, scoreOf, unexplained } from '../test/mutation/mutation-score.js'
import { type Piece, pieces } from '../test/mutation/pieces.js'

const root = fileURLToPath(new URL('../', import.meta.url))
const results = '.results/mutation'
const stryker = 'node_modules/@stryker-mutator/core/bin/stryker.js'
const leastPercent = 90
const mostTimedOutPercent = 5

const { values } = parseArgs({
  options: {
    piece: { type: 'string', multiple: true },
    file: { type: 'string', multiple: true },
    folder: { type: 'string' },
    list: { type: 'boolean' },
  },
})

/** Of a piece, the files that are asked for; all of them without `--file`. */
function sourcesOf({ sources }: Piece): readonly string[] {
  const all = globSync([...sources], { cwd: root }).toSorted()
  return values.file === undefined ? all : all.filter((file) => values.file?.includes(file))
}

function chosen(): readonly Piece[] {
  const unknown = values.piece?.filter((name) => !pieces.some((one) => one.name === name)) ?? []
  if (unknown.length > 0) throw new Error(`There is no piece ${unknown.join(', ')}; see --list.`)
  const { folder } = values
  if (folder !== undefined && !pieces.some((one) => one.folder === folder)) {
    throw new Error(`There is no folder ${folder}; see --list.`)
  }
  const named = pieces
    .filter((piece) => folder === undefined || piece.folder === folder)
    .filter(({ name }) => values.piece?.includes(name) ?? true)
  return named.filter((piece) => sourcesOf(piece).length > 0)
}

const { privateKey: key } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})

/** One run of Stryker, in a process and on a copy of the tree of its own; its mutants. */
function mutantsOf(piece: Piece): readonly Mutant[] {
  const report = join(root, results, 'report.json')
  rmSync(report, { force: true })
  // Outside of the tree, whose tools would find a second one in it.
  const copies = mkdtempSync(join(tmpdir(), 'postern-mutation-'))
  const mutate = ['--mutate', sourcesOf(piece).join(','), '--tempDirName', copies]
  const { status } = spawnSync(
    process.execPath,
    [stryker, 'run', 'test/mutation/stryker.config.json', ...mutate],
    {
      cwd: root,
      env: { ...process.env, MUTATION_TESTS: piece.tests.join(' '), TEST_SIGNING_KEY: key },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  )
  rmSync(copies, { recursive: true, force: true })
  if (status !== 0) throw new Error(`Stryker ended with ${status} in the piece ${piece.name}.`)
  const kept = join(root, results, `${piece.name}.json`)
  renameSync(report, kept)
  return readMutants(kept)
}

function tell(name: string, mutants: readonly Mutant[]): boolean {
  const { all, noticed, percent, timedOutPercent } = scoreOf(mutants)
  const timedOut = `${timedOutPercent.toFixed(1)} % of them by time-out`
  console.log(`${name}: ${percent.toFixed(1)} %, ${noticed} of ${all} noticed, ${timedOut}`)
  return percent >= leastPercent && timedOutPercent <= mostTimedOutPercent
}

function tellOpen(mutants: readonly Mutant[]): void {
  for (const { file, lineNumber, line, replacement, fate } of unexplained(mutants, equivalents))
    console.log(`  ${fate}  ${file}:${lineNumber}  ${line}\n    → ${replacement}`)
}

function main(): void {
  if (values.list) {
    for (const { name, folder, sources } of pieces) {
      console.log(`${name} of ${folder}: ${sources.join(', ')}`)
    }
    return
  }
  mkdirSync(join(root, results), { recursive: true })
  const found = new Map<Piece['folder'], readonly Mutant[]>()
  for (const piece of chosen()) {
    const mutants = mutantsOf(piece)
    tell(piece.name, mutants)
    tellOpen(mutants)
    found.set(piece.folder, [...(found.get(piece.folder) ?? []), ...mutants])
  }
  const all = [...found.values()].flat()
  console.log('')
  const verdicts = [...found].map(([folder, mutants]) => tell(folder, mutants))
  const old = outdated(all, equivalents)
  for (const { file, line } of old) console.log(`no such survivor any more: ${file}: ${line}`)
  if (old.length > 0 || verdicts.includes(false)) process.exitCode = 1
}

main()
