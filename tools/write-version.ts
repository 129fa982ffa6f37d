import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const unreleased = /^## (\d+\.\d+\.\d+) \(unreleased\)$/m

/**
 * Makes the unreleased entry of the changelog in `folder` a release of `day`, and writes its version to `package.json` and
 * the lockfile. Commits nothing. Throws, and writes nothing, if the changelog has no such entry.
 */
export function release(folder: string, day: string): void {
  const read = (name: string): string => readFileSync(resolve(folder, name), 'utf8')
  const write = (name: string, text: string): void => writeFileSync(resolve(folder, name), text)

  const changelog = read('CHANGELOG.md')
  const [heading, version] = unreleased.exec(changelog) ?? []
  if (heading === undefined || version === undefined) {
    throw new Error('CHANGELOG.md has no entry "## 1.2.3 (unreleased)".')
  }
  const manifest = read('package.json')
  const lock = read('package-lock.json')
  const setVersion = (text: string, times: number): string => {
    let left = times
    return text.replaceAll(/"version": "[^"]*"/g, (found) =>
      left-- > 0 ? `"version": "${version}"` : found,
    )
  }
  write('CHANGELOG.md', changelog.replace(heading, `## ${version} (${day})`))
  write('package.json', setVersion(manifest, 1))
  // The lockfile names the package twice before it names any other; `npm ci` compares both with package.json.
  write('package-lock.json', setVersion(lock, 2))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../', import.meta.url))
  release(root, new Date().toISOString().slice(0, 10))
}
