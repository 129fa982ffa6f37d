import ts from 'typescript'
import { ambientViolations } from './ambient-rules.js'
import { importViolations } from './import-rules.js'
import { type ParsedSource, parseSource } from './parsed-source.js'

/** An interface file holds types alone, so that importing it never runs anything. */
function portViolations({ path, tree, lineOf }: ParsedSource): readonly string[] {
  if (!path.startsWith('src/ports/')) return []
  return tree.statements
    .filter(
      (statement) =>
        !ts.isInterfaceDeclaration(statement) &&
        !ts.isTypeAliasDeclaration(statement) &&
        !(ts.isImportDeclaration(statement) && statement.importClause?.isTypeOnly) &&
        !(ts.isExportDeclaration(statement) && statement.isTypeOnly),
    )
    .map((statement) => `${path}:${lineOf(statement)}: a port may hold types only`)
}

/**
 * Everything in these files (path → source, paths from the repository's root) that breaks the
 * rules of how folders depend on each other, as `path:line: what is wrong`; empty when clean.
 */
export function violations(files: ReadonlyMap<string, string>): readonly string[] {
  const paths = new Set(files.keys())
  return [...files].flatMap(([path, source]) => {
    const parsed = parseSource(path, source)
    return [
      ...importViolations(parsed, paths),
      ...ambientViolations(parsed),
      ...portViolations(parsed),
    ]
  })
}
