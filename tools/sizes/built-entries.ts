import { readFileSync } from 'node:fs'

type Exports = Readonly<Record<string, string | { readonly default: string }>>

/** The subpaths as a host imports them, with the names of their files in `dist`: `postern/config` → `config`. */
export function builtEntries(): ReadonlyMap<string, string> {
  const manifest = new URL('../../package.json', import.meta.url)
  const { exports }: { readonly exports: Exports } = JSON.parse(readFileSync(manifest, 'utf8'))
  const entries = Object.entries(exports).flatMap(([name, target]): [string, string][] => {
    if (typeof target === 'string') return []
    return [[name.replace('.', 'postern'), target.default.replace(/^\.\/dist\/|\.js$/g, '')]]
  })
  return new Map(entries)
}
