import { posix } from 'node:path'
import ts from 'typescript'
import { type ParsedSource, parseSource, walk } from './parsed-source.js'

const maxLines = 700
/** With fewer, a file that one other file alone imports belongs into it. */
const fewLines = 40
/** Files that stay small all the same, each with its reason. */
const smallByDesign: ReadonlyMap<string, string> = new Map([
  ['src/settings/password-policy-settings.ts', 'one file for each group of settings'],
  ['src/settings/sessions-and-account-settings.ts', 'one file for each group of settings'],
])
/** Folders whose small files still have to be merged. */
const notYetMerged = /^(adapters|src\/(cli|client|domain|operations|react|testing))\//
const maxFunctionLines = 60
const kebabCase = /^[a-z0-9]+(-[a-z0-9]+)*\.ts$/
const containers = ['Map', 'Set', 'WeakMap', 'WeakSet']
const mutators =
  /^(set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin)$/

type Found = readonly [node: ts.Node, problem: string]

function looseType(node: ts.Node): string | null {
  if (node.kind === ts.SyntaxKind.AnyKeyword) return 'uses any'
  if (ts.isNonNullExpression(node)) return 'asserts non-null'
  const definite =
    (ts.isPropertyDeclaration(node) || ts.isVariableDeclaration(node)) &&
    node.exclamationToken !== undefined
  return definite ? 'asserts that a variable is assigned' : null
}

const constructs = (
  node: ts.Expression | undefined,
  names: readonly string[],
): node is ts.NewExpression =>
  node !== undefined && ts.isNewExpression(node) && names.includes(node.expression.getText())

const isReadonlyType = (type: ts.TypeNode | undefined) =>
  type !== undefined && /^Readonly(Map|Set)\b/.test(type.getText())

const isExported = (statement: ts.VariableStatement) =>
  statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true

/**
 * A container that is shared state by its very presence at the top of a module: one that starts
 * empty (it can only be there to be filled), a weak one, or one that other modules can fill.
 */
function sharedContainer(statement: ts.VariableStatement): readonly Found[] {
  return statement.declarationList.declarations.flatMap((declaration): readonly Found[] => {
    const { initializer, type } = declaration
    if (!constructs(initializer, containers)) return []
    const empty = (initializer.arguments?.length ?? 0) === 0
    const open = isExported(statement) && !isReadonlyType(type)
    const weak = constructs(initializer, ['WeakMap', 'WeakSet'])
    const name = initializer.expression.getText()
    return empty || open || weak ? [[declaration, `keeps a module-level ${name}`]] : []
  })
}

/** The variable at the root of `a.b[c]`. */
function rootName(node: ts.Expression): string | null {
  if (ts.isIdentifier(node)) return node.text
  const inner = ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)
  return inner ? rootName(node.expression) : null
}

const assigns = (kind: ts.SyntaxKind) =>
  kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment

/** The variable that this node changes in place, else null. */
function mutated(node: ts.Node): string | null {
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    return mutators.test(node.expression.name.text) ? rootName(node.expression.expression) : null
  }
  if (ts.isBinaryExpression(node) && assigns(node.operatorToken.kind)) {
    return ts.isIdentifier(node.left) ? null : rootName(node.left)
  }
  const counted = ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)
  if (
    counted &&
    [ts.SyntaxKind.PlusPlusToken, ts.SyntaxKind.MinusMinusToken].includes(node.operator)
  ) {
    return rootName(node.operand)
  }
  return ts.isDeleteExpression(node) ? rootName(node.expression) : null
}

/** A global or sticky expression remembers where it stopped between `test` and `exec` calls. */
function statefulPattern(node: ts.Node, patterns: ReadonlySet<string>): boolean {
  return (
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    /^(test|exec)$/.test(node.expression.name.text) &&
    patterns.has(rootName(node.expression.expression) ?? '')
  )
}

function moduleState({ tree }: ParsedSource): readonly Found[] {
  const found: Found[] = []
  const constants = new Set<string>()
  const patterns = new Set<string>()
  for (const statement of tree.statements) {
    if (!ts.isVariableStatement(statement)) continue
    if ((statement.declarationList.flags & ts.NodeFlags.Const) === 0) {
      found.push([statement, 'keeps a module-level variable'])
    }
    found.push(...sharedContainer(statement))
    for (const { name, initializer } of statement.declarationList.declarations) {
      constants.add(name.getText())
      const global = initializer?.kind === ts.SyntaxKind.RegularExpressionLiteral
      if (global && /\/[a-z]*[gy][a-z]*$/.test(initializer.getText())) patterns.add(name.getText())
    }
  }
  walk(tree, (node) => {
    const target = mutated(node)
    if (target !== null && constants.has(target))
      found.push([node, `changes module-level ${target}`])
    if (statefulPattern(node, patterns)) found.push([node, 'uses a pattern that keeps a position'])
    if (ts.isPropertyDeclaration(node) && isOpenStatic(node))
      found.push([node, 'keeps a static field'])
  })
  return found
}

function isOpenStatic(node: ts.PropertyDeclaration): boolean {
  const kinds = node.modifiers?.map(({ kind }) => kind) ?? []
  if (!kinds.includes(ts.SyntaxKind.StaticKeyword)) return false
  return constructs(node.initializer, containers) || !kinds.includes(ts.SyntaxKind.ReadonlyKeyword)
}

function check(path: string, source: string, find: (parsed: ParsedSource) => readonly Found[]) {
  const parsed = parseSource(path, source)
  return find(parsed).map(([node, problem]) => `${path}:${parsed.lineOf(node)}: ${problem}`)
}

/** `any`, non-null assertions and definite-assignment marks. */
export function looseTypes(path: string, source: string): readonly string[] {
  return check(path, source, ({ tree }) => {
    const found: Found[] = []
    walk(tree, (node) => {
      const problem = looseType(node)
      if (problem !== null) found.push([node, problem])
    })
    return found
  })
}

/** State that two instances in one process would share. */
export function sharedState(path: string, source: string): readonly string[] {
  return check(path, source, moduleState)
}

/** Files that are too long or not named in kebab-case. */
export function untidyFile(path: string, source: string): readonly string[] {
  const lines = source.split('\n').length - (source.endsWith('\n') ? 1 : 0)
  const name = path.slice(path.lastIndexOf('/') + 1)
  return [
    ...(lines > maxLines ? [`${path}: ${lines} lines, more than ${maxLines}`] : []),
    ...(kebabCase.test(name) ? [] : [`${path}: the name is not kebab-case`]),
  ]
}

const isFunction = (node: ts.Node): boolean =>
  ts.isFunctionLike(node) && 'body' in node && node.body !== undefined

/** Every line of a node, without the lines of the functions inside it. */
function ownLines(node: ts.Node, tree: ts.SourceFile): number {
  const lineAt = (position: number) => tree.getLineAndCharacterOfPosition(position).line
  const lines = new Set<number>()
  for (let line = lineAt(node.getStart()); line <= lineAt(node.end); line += 1) lines.add(line)
  const leaveOut = (child: ts.Node): void => {
    if (!isFunction(child)) {
      ts.forEachChild(child, leaveOut)
      return
    }
    for (let line = lineAt(child.getStart()); line <= lineAt(child.end); line += 1) {
      lines.delete(line)
    }
  }
  ts.forEachChild(node, leaveOut)
  return lines.size
}

/** Functions of more than 60 lines, the functions inside them not counted. */
export function longFunctions(path: string, source: string): readonly string[] {
  return check(path, source, ({ tree }) => {
    const found: Found[] = []
    walk(tree, (node) => {
      const lines = isFunction(node) ? ownLines(node, tree) : 0
      const problem = `a function of ${lines} lines, more than ${maxFunctionLines}`
      if (lines > maxFunctionLines) found.push([node, problem])
    })
    return found
  })
}

type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** The folder of a file. A file directly in `src` stands for itself: it belongs to no room. */
function folderOf(path: string): string {
  const folder = posix.dirname(path)
  return folder === 'src' ? path.replace(/\.[jt]s$/, '') : folder
}

/** Which file imports which, type imports counted. */
function fileGraph(files: ReadonlyMap<string, string>): Graph {
  return new Map(
    [...files].map(([path, source]) => {
      const specifiers = parseSource(path, source).imports.map(({ specifier }) => specifier ?? '')
      const own = specifiers.filter((specifier) => specifier.startsWith('.'))
      const targets = own.map((specifier) => posix.join(posix.dirname(path), specifier))
      return [path, new Set(targets.map((target) => target.replace(/\.js$/, '.ts')))]
    }),
  )
}

/** Which folder imports which. A folder inside another is one of its own. */
function folderGraph(files: ReadonlyMap<string, string>): Graph {
  const graph = new Map<string, Set<string>>()
  for (const [path, targets] of fileGraph(files)) {
    const from = folderOf(path)
    const folders = [...targets].map(folderOf).filter((folder) => folder !== from)
    graph.set(from, new Set([...(graph.get(from) ?? []), ...folders]))
  }
  return graph
}

/** Small files that one other file alone imports: they belong into it. */
export function smallFiles(files: ReadonlyMap<string, string>): readonly string[] {
  const graph = [...fileGraph(files)]
  return [...files].flatMap(([path, source]) => {
    const lines = source.trimEnd().split('\n').length
    const isFree = lines >= fewLines || smallByDesign.has(path) || notYetMerged.test(path)
    const importers = isFree ? [] : graph.filter(([, targets]) => targets.has(path))
    return importers.length === 1 ? [`${path}: ${lines} lines, for ${importers[0]?.[0]} alone`] : []
  })
}

/** Every folder that `start` leads to. */
function reachable(graph: Graph, start: string): ReadonlySet<string> {
  const seen = new Set<string>()
  const open = [start]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const folder of graph.get(next) ?? []) {
      if (seen.has(folder)) continue
      seen.add(folder)
      open.push(folder)
    }
  }
  return seen
}

/**
 * Folders that import each other, directly or round a circle. dependency-cruiser takes a folder and
 * the folders inside it for one; here they are apart.
 */
export function folderCycles(files: ReadonlyMap<string, string>): readonly string[] {
  const graph = folderGraph(files)
  return [...graph.keys()]
    .filter((folder) => reachable(graph, folder).has(folder))
    .map((folder) => `${folder}: is part of a cycle of folders`)
}
