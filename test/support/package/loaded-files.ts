import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { parseSource } from '../rules/parsed-source.js'

/** A built file and the chunks it loads. */
export function loadedFiles(path: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(path)) return seen
  seen.add(path)
  for (const { specifier } of parseSource(path, readFileSync(path, 'utf8')).imports) {
    if (specifier?.startsWith('.')) loadedFiles(normalize(join(dirname(path), specifier)), seen)
  }
  return seen
}
