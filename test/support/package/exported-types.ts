import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { parseSource } from '../rules/parsed-source.js'

/** The declarations in `folder` that an exports map names, and those they import. */
export function exportedTypes(folder: string, exports: object): ReadonlySet<string> {
  const seen = new Set<string>()
  const visit = (path: string) => {
    if (seen.has(path)) return
    seen.add(path)
    for (const { specifier = '' } of parseSource(path, readFileSync(path, 'utf8')).imports) {
      const inner = specifier?.replace(/\.[jt]s$/, '.d.ts') ?? ''
      if (inner.startsWith('.')) visit(normalize(join(dirname(path), inner)))
    }
  }
  for (const path of JSON.stringify(exports).match(/dist\/[^"]+\.d\.ts/g) ?? []) {
    visit(normalize(join(folder, path)))
  }
  return seen
}
