import { execFile } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../', import.meta.url))
const modules = join(root, 'node_modules')
const leftOut = ['node_modules', '.git', 'dist', '.results', '.data', '.next']

/** Without what npm tells its scripts: it would make npm work on the repository, not on the copy. */
export const cleanEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_OPTIONS$|VITEST)/i.test(name)),
)

export interface CommandResult {
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end. Rejects with everything it printed when it does not exit with 0. */
export async function command(
  cwd: string,
  program: string,
  ...args: readonly string[]
): Promise<CommandResult> {
  try {
    return await run(program, args, { cwd, env: cleanEnvironment })
  } catch (error) {
    const { stdout, stderr } = error as Partial<CommandResult>
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout ?? ''}${stderr ?? ''}`, {
      cause: error,
    })
  }
}

export interface PackedPackage {
  /** Where the tarball was unpacked. */
  readonly dir: string
  /** Paths in the tarball, sorted. */
  readonly files: readonly string[]
  /** A new folder in which the package and these packages of the repository are installed. */
  host(name: string, installed: readonly string[]): string
  remove(): void
}

function link(into: string, name: string): void {
  const path = join(into, 'node_modules', name)
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(join(modules, name), path)
}

/** A copy of the repository in `folder`, as after a fresh clone and `npm ci`. */
export function cloneRepository(folder: string): string {
  const clone = join(folder, 'clone')
  cpSync(root, clone, { recursive: true, filter: (path) => !leftOut.includes(basename(path)) })
  symlinkSync(modules, join(clone, 'node_modules'))
  return clone
}

/** Packs a copy of the repository, which builds it first; the working tree's `dist` has no part. */
export async function packedPackage(): Promise<PackedPackage> {
  const temporary = mkdtempSync(join(tmpdir(), 'postern-package-'))
  const clone = cloneRepository(temporary)
  await command(clone, 'npm', 'pack', '--pack-destination', temporary)
  const tarball = readdirSync(temporary).find((name) => name.endsWith('.tgz'))
  if (tarball === undefined) throw new Error('npm pack wrote no tarball')
  const dir = join(temporary, 'package')
  await command(temporary, 'tar', '-xzf', tarball)
  const files = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
    .sort()
  return {
    dir,
    files,
    host(name, installed) {
      const host = join(temporary, name)
      mkdirSync(host)
      writeFileSync(join(host, 'package.json'), '{ "private": true, "type": "module" }\n')
      cpSync(dir, join(host, 'node_modules/postern'), { recursive: true })
      for (const dependency of installed) link(host, dependency)
      return host
    },
    remove: () => rmSync(temporary, { recursive: true, force: true }),
  }
}
