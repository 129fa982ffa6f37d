import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { commitOf } from '../bench/harness/machine.js'
import { writeReliability } from './write-reliability.js'

const root = new URL('../', import.meta.url)
const folder = 'test/reliability/'
const results = new URL('.results/reliability.jsonl', root)

/** The files with a test that names one of these figures in its title; all of them without ids. */
function filesOf(ids: readonly string[]): readonly string[] {
  const files = readdirSync(new URL(folder, root))
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `${folder}${name}`)
  const texts = new Map(files.map((file) => [file, readFileSync(new URL(file, root), 'utf8')]))
  const naming = (id: string) => files.filter((file) => titled([id]).test(texts.get(file) ?? ''))
  const unknown = ids.filter((id) => !/^\w+$/.test(id) || naming(id).length === 0)
  if (unknown.length > 0) throw new Error(`no test measures ${unknown.join(', ')}`)
  return ids.length === 0 ? [folder] : [...new Set(ids.flatMap(naming))]
}

const titled = (ids: readonly string[]): RegExp => new RegExp(`figure (?:${ids.join('|')})\\b`)

/** The exit code of the tests. */
function measure(ids: readonly string[]): number {
  const names = ids.length === 0 ? [] : ['-t', titled(ids).source]
  const args = ['run', ...filesOf(ids), ...names, '--no-file-parallelism', '--reporter=default']
  rmSync(results, { force: true })
  const vitest = fileURLToPath(new URL('node_modules/vitest/vitest.mjs', root))
  const env = { ...process.env, RELIABILITY: 'full' }
  const options = { cwd: fileURLToPath(root), env, stdio: 'inherit' } as const
  return spawnSync(process.execPath, [vitest, ...args], options).status ?? 1
}

/** `npm run reliability` measures every figure, `npm run reliability -- R7 trips` these alone. */
function main(ids: readonly string[]): void {
  const commit = commitOf(fileURLToPath(root))
  const code = measure(ids)
  if (code === 0 && existsSync(results)) {
    writeReliability(readFileSync(results, 'utf8'), ids, commit)
    return
  }
  console.error('A test failed, or none ran: nothing is written.')
  process.exitCode = code === 0 ? 1 : code
}

main(process.argv.slice(2))
