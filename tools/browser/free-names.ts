import ts from 'typescript'

/**
 * The names that this source takes from its surroundings: used as values, and declared and imported nowhere in it. Types
 * are left out, as they are gone at run time.
 */
export function freeNames(path: string, text: string): ReadonlySet<string> {
  const bound = new Set<string>()
  const used = new Set<string>()
  const visit = (node: ts.Node): void => {
    if (isType(node)) return
    if (ts.isIdentifier(node)) {
      if (isBinding(node)) bound.add(node.text)
      else if (!isMemberName(node)) used.add(node.text)
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true))
  return new Set([...used].filter((name) => !bound.has(name)))
}

function isType(node: ts.Node): boolean {
  return (
    ts.isTypeNode(node) ||
    ts.isTypeParameterDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node)
  )
}

function isBinding(node: ts.Identifier): boolean {
  const { parent } = node
  return (
    (ts.isVariableDeclaration(parent) ||
      ts.isParameter(parent) ||
      ts.isFunctionDeclaration(parent) ||
      ts.isFunctionExpression(parent) ||
      ts.isClassDeclaration(parent) ||
      ts.isBindingElement(parent) ||
      ts.isImportSpecifier(parent) ||
      ts.isImportClause(parent) ||
      ts.isNamespaceImport(parent)) &&
    parent.name === node
  )
}

/** A member of something, or the name that another module gives to what is imported from it. */
function isMemberName(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) return true
  if (ts.isBindingElement(parent)) return parent.propertyName === node
  return (
    (ts.isPropertyAccessExpression(parent) ||
      ts.isPropertyAssignment(parent) ||
      ts.isMethodDeclaration(parent) ||
      ts.isPropertyDeclaration(parent) ||
      ts.isGetAccessorDeclaration(parent)) &&
    parent.name === node
  )
}
