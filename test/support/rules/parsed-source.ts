import ts from 'typescript'

/** One mention of another module in a source file. */
export interface ImportFact {
  /** Null when the specifier is computed, so that nobody can tell what is loaded. */
  readonly specifier: string | null
  /** `type`: erased by the compiler. `value`: loaded at run time. */
  readonly kind: 'type' | 'value'
  /** Names taken by a static import, before renaming; empty for `*`, default and bare imports. */
  readonly names: readonly string[]
  readonly line: number
}

export interface ParsedSource {
  readonly path: string
  readonly source: string
  readonly tree: ts.SourceFile
  readonly imports: readonly ImportFact[]
  lineOf(node: ts.Node): number
}

/** Calls `visit` for `node` and everything below it, parents first. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node)
  ts.forEachChild(node, (child) => walk(child, visit))
}

const textOf = (node: ts.Node | undefined): string | null =>
  node !== undefined && ts.isStringLiteralLike(node) ? node.text : null

type Mention = Omit<ImportFact, 'line'>

function fromImport(node: ts.ImportDeclaration): Mention {
  const clause = node.importClause
  const bindings = clause?.namedBindings
  const names =
    bindings !== undefined && ts.isNamedImports(bindings)
      ? bindings.elements.map((element) => (element.propertyName ?? element.name).text)
      : []
  // `import { type A }` still loads the module under verbatimModuleSyntax; only `import type` is erased.
  const kind = clause?.phaseModifier === ts.SyntaxKind.TypeKeyword ? 'type' : 'value'
  return { specifier: textOf(node.moduleSpecifier), kind, names }
}

function fromCall(node: ts.CallExpression): Mention | null {
  const loads =
    node.expression.kind === ts.SyntaxKind.ImportKeyword ||
    (ts.isIdentifier(node.expression) && node.expression.text === 'require')
  return loads ? { specifier: textOf(node.arguments[0]), kind: 'value', names: [] } : null
}

function mentionOf(node: ts.Node): Mention | null {
  if (ts.isImportDeclaration(node)) return fromImport(node)
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
    const kind = node.isTypeOnly ? 'type' : 'value'
    return { specifier: textOf(node.moduleSpecifier), kind, names: [] }
  }
  if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference)) {
    const kind = node.isTypeOnly ? 'type' : 'value'
    return { specifier: textOf(node.moduleReference.expression), kind, names: [] }
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return { specifier: textOf(node.argument.literal), kind: 'type', names: [] }
  }
  return ts.isCallExpression(node) ? fromCall(node) : null
}

/** Reads one TypeScript file into a tree and the list of everything it imports. */
export function parseSource(path: string, source: string): ParsedSource {
  const tree = ts.createSourceFile(path, source, ts.ScriptTarget.ES2023, true)
  const lineOf = (node: ts.Node) => tree.getLineAndCharacterOfPosition(node.getStart()).line + 1
  const imports: ImportFact[] = []
  walk(tree, (node) => {
    const mention = mentionOf(node)
    if (mention !== null) imports.push({ ...mention, line: lineOf(node) })
  })
  return { path, source, tree, imports, lineOf }
}
