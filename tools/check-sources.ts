import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { violations } from '../test/support/rules/boundaries.js'
import {
  folderCycles,
  longFunctions,
  looseTypes,
  sharedState,
  smallFiles,
  untidyFile,
} from '../test/support/rules/house-rules.js'
import { internalIds } from '../test/support/rules/internal-ids.js'

type Files = ReadonlyMap<string, string>

function read(root: string, ...patterns: string[]): Files {
  const paths = globSync(patterns, { cwd: root, exclude: (path) => path.includes('node_modules') })
  const sorted = paths.map((path) => path.replaceAll('\\', '/')).sort()
  return new Map(sorted.map((path) => [path, readFileSync(`${root}/${path}`, 'utf8')]))
}

const each = (files: Files, ...rules: readonly (typeof looseTypes)[]): readonly string[] =>
  [...files].flatMap(([path, source]) => rules.flatMap((rule) => rule(path, source)))

/** What the sources below `root` break of the rules that no linter has, as `path:line: what`. */
export function brokenRules(root: string): readonly string[] {
  const shipped = read(root, 'src/**/*.ts', 'adapters/**/*.ts')
  const examples = read(root, 'examples/**/*.ts')
  // Measured figures are named by the ids of their suites, which the page explains.
  const pages = read(root, 'docs/!(reliability).md', 'README.md')
  return [
    ...violations(new Map([...shipped, ...examples])),
    ...folderCycles(shipped),
    ...smallFiles(shipped),
    ...each(shipped, looseTypes, sharedState, longFunctions),
    ...each(new Map([...shipped, ...examples]), untidyFile),
    ...each(new Map([...shipped, ...examples, ...pages]), internalIds),
  ]
}

function main([root = fileURLToPath(new URL('../', import.meta.url))]: readonly string[]): void {
  const found = brokenRules(root)
  for (const line of found) console.error(line)
  if (found.length > 0) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2))
