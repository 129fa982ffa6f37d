import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../../', import.meta.url)
const bench = new URL('bench/', root)

/**
 * Builds the package where its sources are newer than the last build, installs the peers where they
 * are older than their lockfile, and gives contenders the package by its public name.
 */
export function prepare(peers: boolean, progress: (text: string) => void): void {
  if (isOutOfDate()) {
    progress('building the package')
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 2, 2] })
  }
  if (peers && !arePeersInstalled()) {
    progress('installing the peers')
    execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: bench,
      stdio: ['ignore', 2, 2],
    })
  }
  const link = new URL('node_modules/postern', bench)
  mkdirSync(new URL('node_modules', bench), { recursive: true })
  if (!existsSync(link)) symlinkSync('../..', fileURLToPath(link), 'dir')
}

function arePeersInstalled(): boolean {
  const installed = new URL('node_modules/.package-lock.json', bench)
  if (!existsSync(installed)) return false
  return changedAt(installed) >= changedAt(new URL('package-lock.json', bench))
}

function isOutOfDate(): boolean {
  const built = new URL('dist/index.js', root)
  if (!existsSync(built)) return true
  const at = changedAt(built)
  const files = [new URL('tsup.config.ts', root), new URL('package.json', root)]
  for (const folder of ['src/', 'adapters/']) {
    for (const name of readdirSync(new URL(folder, root), { recursive: true })) {
      files.push(new URL(`${folder}${String(name)}`, root))
    }
  }
  return files.some((file) => changedAt(file) > at)
}

function changedAt(file: URL): number {
  return statSync(file).mtimeMs
}
