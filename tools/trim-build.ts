import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { ownSourceMap } from './release/own-source-map.js'
import { reachedDeclarations } from './release/reached-declarations.js'

/** Takes out of `dist` what no host reads: declarations of internals, and the sources of bundled packages. */

const manifest: {
  readonly exports: Readonly<Record<string, string | { readonly types?: string }>>
} = JSON.parse(readFileSync('package.json', 'utf8'))
const entries = Object.values(manifest.exports).flatMap((entry) =>
  typeof entry === 'string' || entry.types === undefined ? [] : [entry.types],
)
const reached = reachedDeclarations(entries, (path) => readFileSync(path, 'utf8'))
for (const path of globSync('dist/types/**/*.d.ts')) if (!reached.has(path)) rmSync(path)
for (const path of globSync('dist/**/*.js.map')) {
  writeFileSync(path, ownSourceMap(readFileSync(path, 'utf8')))
}
