import { readFileSync } from 'node:fs'

/** The built files of a subpath, as `./dist/config.js`. */
interface Entry {
  readonly types: string
  readonly default: string
}

/** The subpaths of the package as a host imports them, such as `postern/config`. */
export function packageEntries(): ReadonlyMap<string, Entry> {
  const manifest = new URL('../package.json', import.meta.url)
  const { exports }: { readonly exports: Readonly<Record<string, string | Entry>> } = JSON.parse(
    readFileSync(manifest, 'utf8'),
  )
  return new Map(
    Object.entries(exports).flatMap(([name, target]): [string, Entry][] =>
      typeof target === 'string' ? [] : [[name.replace('.', 'postern'), target]],
    ),
  )
}
