import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { packageEntries } from './package-entries.js'

interface SourceMap {
  readonly sources: readonly string[]
  readonly sourcesContent?: readonly (string | null)[]
}

/** A source map that holds the sources of this package alone: of packages that are bundled, it has the names. */
export function ownSourceMap(text: string): string {
  const map: SourceMap = JSON.parse(text)
  const sourcesContent = map.sourcesContent?.map((content, index) =>
    map.sources[index]?.includes('node_modules/') ? null : content,
  )
  return JSON.stringify({ ...map, sourcesContent })
}

/**
 * The declaration files that a host's compiler reads: the entries, and all that they import. Throws where one of them
 * imports a file that is not there.
 */
export function reachedDeclarations(
  entries: readonly string[],
  textOf: (path: string) => string,
): ReadonlySet<string> {
  const reached = new Set<string>()
  const visit = (path: string): void => {
    if (reached.has(path)) return
    reached.add(path)
    const { importedFiles, referencedFiles } = ts.preProcessFile(textOf(path), true, true)
    const names = [...importedFiles, ...referencedFiles].map(({ fileName }) => fileName)
    for (const name of names.filter((name) => name.startsWith('.'))) {
      visit(posix.join(posix.dirname(path), name).replace(/(\.d\.ts|\.js|\.ts)$/, '.d.ts'))
    }
  }
  for (const entry of entries) visit(posix.normalize(entry))
  return reached
}

/** Takes out of `dist` what no host reads: declarations of internals, and the sources of bundled packages. */
function main(): void {
  const entries = [...packageEntries().values()].map(({ types }) => types)
  const reached = reachedDeclarations(entries, (path) => readFileSync(path, 'utf8'))
  for (const path of globSync('dist/types/**/*.d.ts')) if (!reached.has(path)) rmSync(path)
  for (const path of globSync('dist/**/*.js.map')) {
    writeFileSync(path, ownSourceMap(readFileSync(path, 'utf8')))
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
