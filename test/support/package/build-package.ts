import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { command } from './packed-package.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const tsup = join(root, 'node_modules/tsup/dist/cli-default.js')

export interface BuiltPackage {
  /** The built file of a program. */
  file(name: string): string
  remove(): void
}

/**
 * Builds programs of the tests' own (name → path below the repository) with the library in them,
 * by the settings the package is built with, into a temporary folder; without programs, what the package
 * itself is made of. Leaves `dist` alone. Takes less than a second.
 */
export async function buildPackage(
  programs: Readonly<Record<string, string>>,
): Promise<BuiltPackage> {
  const dir = mkdtempSync(join(tmpdir(), 'postern-build-'))
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  // As the package says it: bundlers leave out what is not used.
  writeFileSync(join(dir, 'package.json'), '{ "type": "module", "sideEffects": false }\n')
  const entries = Object.entries(programs).map(([name, path]) => `--entry.${name}=${path}`)
  const settings = ['--silent', '--out-dir', join(dir, 'dist')]
  await command(root, process.execPath, tsup, ...settings, ...entries)
  return {
    file: (name) => join(dir, 'dist', `${name}.js`),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}
