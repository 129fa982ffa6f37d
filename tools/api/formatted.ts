import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const biome = fileURLToPath(new URL('../../node_modules/@biomejs/biome/bin/biome', import.meta.url))

/** A source as `npm run format` leaves it. `path` is that of the file it is for. */
export function formatted(path: string, source: string): string {
  const form = ['check', '--write', `--stdin-file-path=${path}`]
  return execFileSync(process.execPath, [biome, ...form], { input: source, encoding: 'utf8' })
}
