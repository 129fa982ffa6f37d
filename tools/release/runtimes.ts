import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Runtime {
  /** As npm installs it. */
  readonly installed: string
  readonly program: string
  readonly args: readonly string[]
}

/** What the package is tried on beside the Nodes of every change. */
const runtimes: readonly Runtime[] = [
  ...[22, 24, 26].map((major) => ({
    installed: `node${major}@npm:node@${major}`,
    program: `node_modules/node${major}/bin/node`,
    args: [],
  })),
  { installed: 'bun', program: 'node_modules/.bin/bun', args: [] },
  {
    installed: 'deno',
    program: 'node_modules/.bin/deno',
    args: ['run', '--allow-env', '--allow-read', '--allow-ffi', '--allow-sys'],
  },
]

const root = fileURLToPath(new URL('..', import.meta.url))
const script = 'whole-sign-in.mjs'

/** Packs the package, installs the tarball and every runtime into an empty folder, and signs in on each. */
function main(): void {
  const folder = mkdtempSync(join(tmpdir(), 'postern-runtimes-'))
  try {
    const run = (cwd: string, ...args: readonly string[]) =>
      execFileSync('npm', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
    run(root, 'pack', '--pack-destination', folder)
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
    const all = [`./${tarball}`, ...runtimes.map(({ installed }) => installed)]
    run(folder, 'install', '--no-audit', '--no-fund', '--loglevel=error', ...all)
    copyFileSync(join(root, 'tools/release', script), join(folder, script))
    const failed = runtimes.filter((runtime) => !signsIn(folder, runtime))
    if (failed.length > 0) process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function signsIn(folder: string, { program, args }: Runtime): boolean {
  const started = join(folder, program)
  const version = spawnSync(started, ['--version'], { encoding: 'utf8' }).stdout?.split('\n')[0]
  const { status, stdout, stderr, error } = spawnSync(started, [...args, script], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 120_000,
  })
  const isWell = status === 0
  console.log(`${program} ${version}: ${isWell ? stdout.trim() : 'failed'}`)
  if (!isWell) console.log(error?.message ?? stderr)
  return isWell
}

main()
