import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { addedBy, releasedChangelog } from './release/released-changelog.js'

const root = new URL('../', import.meta.url)
const read = (name: string): string => readFileSync(new URL(name, root), 'utf8')
const write = (name: string, text: string): void => writeFileSync(new URL(name, root), text)

/** Turns the changesets into a release: version, changelog and lockfile. Commits nothing. */
function main(): void {
  const before = read('CHANGELOG.md')
  const cli = fileURLToPath(new URL('node_modules/@changesets/cli/bin.js', root))
  const { status } = spawnSync(process.execPath, [cli, 'version'], {
    cwd: fileURLToPath(root),
    stdio: 'inherit',
  })
  if (status !== 0) {
    process.exitCode = 1
    return
  }
  const after = read('CHANGELOG.md')
  if (after === before) return
  write('CHANGELOG.md', releasedChangelog(before, addedBy(before, after)))
  const { version }: { readonly version: string } = JSON.parse(read('package.json'))
  // Its first two are the package's own; `npm ci` compares them with package.json.
  const lock = read('package-lock.json')
  let left = 2
  const own = (line: string) =>
    left-- > 0 ? line.replace(/"[^"]*"$/, JSON.stringify(version)) : line
  write('package-lock.json', lock.replaceAll(/"version": "[^"]*"/g, own))
}

main()
