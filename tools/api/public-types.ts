import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { packageEntries } from '../package-entries.js'

/** A type that a public declaration names and that no subpath exports. */
export interface UnexportedType {
  readonly name: string
  readonly declaration: string
  /** The public or unexported names whose declarations mention it, sorted. */
  readonly namedBy: readonly string[]
}

export interface ApiReport {
  /** The subpath (`postern/config`) and its page: every export with its whole declaration, sorted by name. */
  readonly pages: ReadonlyMap<string, string>
  /** Sorted by name. */
  readonly unexported: readonly UnexportedType[]
}

const printer = ts.createPrinter({ removeComments: true })

/** A declaration without comments and without the words that say that it is exported. */
function printed(node: ts.Declaration): string {
  const isVariable = ts.isVariableDeclaration(node) && ts.isVariableStatement(node.parent.parent)
  const whole = isVariable ? node.parent.parent : node
  const text = printer.printNode(ts.EmitHint.Unspecified, whole, whole.getSourceFile())
  return text.replace(/^(export )?(declare )?/, '')
}

/** Follows what is exported again to where it is declared. */
function declared(symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol {
  return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)
}

/** What a declaration names, type parameters and members of other types apart. */
function namesIn(node: ts.Node, checker: ts.TypeChecker): readonly ts.Symbol[] {
  const found: ts.Symbol[] = []
  const visit = (inner: ts.Node) => {
    if (ts.isIdentifier(inner)) {
      const symbol = checker.getSymbolAtLocation(inner)
      if (symbol) found.push(declared(symbol, checker))
    }
    ts.forEachChild(inner, visit)
  }
  ts.forEachChild(node, visit)
  return found
}

const isTopLevel = (node: ts.Node): boolean =>
  ts.isSourceFile(node.parent) ||
  (ts.isVariableDeclaration(node) && ts.isSourceFile(node.parent.parent.parent))

/** The declarations of a symbol that the package itself makes at the top of a file. */
const ownDeclarations = (symbol: ts.Symbol, folder: string): readonly ts.Declaration[] =>
  (symbol.declarations ?? []).filter(
    (node) => isTopLevel(node) && node.getSourceFile().fileName.startsWith(folder),
  )

const isType = ({ flags }: ts.Symbol): boolean =>
  (flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias | ts.SymbolFlags.Class)) !== 0

interface Exported {
  readonly name: string
  readonly symbol: ts.Symbol
}

/** What is reached from the exports and is none of them, with the names that lead to it. */
function unexportedFrom(
  exported: readonly Exported[],
  checker: ts.TypeChecker,
  folder: string,
): ReadonlyMap<ts.Symbol, ReadonlySet<string>> {
  const known = new Set(exported.map(({ symbol }) => symbol))
  const found = new Map<ts.Symbol, Set<string>>()
  const visit = ({ name, symbol }: Exported) => {
    const own = ownDeclarations(symbol, folder)
    for (const inner of own.flatMap((node) => namesIn(node, checker))) {
      if (inner === symbol || known.has(inner)) continue
      if (ownDeclarations(inner, folder).length === 0) continue
      const before = found.get(inner)
      found.set(inner, (before ?? new Set()).add(name))
      // What a value is made of inside is seen in its own declaration, as far as types depend on it.
      if (before === undefined && isType(inner)) visit({ name: inner.name, symbol: inner })
    }
  }
  for (const one of exported) visit(one)
  return found
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : Number(a.name > b.name)

/**
 * Reads the public types from built declarations in `folder`, an absolute path. `entries` has the name of each
 * subpath and its file below `folder`.
 */
function apiReport(folder: string, entries: ReadonlyMap<string, string>): ApiReport {
  const files = [...entries.values()].map((path) => join(folder, path))
  const settings = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023, strict: true }
  const program = ts.createProgram(files, { ...settings, types: ['node'] })
  const checker = program.getTypeChecker()
  const exportsOf = (path: string): readonly Exported[] => {
    const file = program.getSourceFile(join(folder, path))
    const entry = file && checker.getSymbolAtLocation(file)
    const all = entry ? checker.getExportsOfModule(entry) : []
    return all.map((one) => ({ name: one.name, symbol: declared(one, checker) })).sort(byName)
  }
  const exported = new Map([...entries].map(([subpath, path]) => [subpath, exportsOf(path)]))
  const text = (symbol: ts.Symbol) =>
    (symbol.declarations ?? []).map((node) => printed(node)).join('\n')
  const pages = [...exported].map(([subpath, all]): [string, string] => {
    const shown = all.map(({ name, symbol }) =>
      name === symbol.name ? text(symbol) : `as ${name}: ${text(symbol)}`,
    )
    return [subpath, `${shown.join('\n\n')}\n`]
  })
  const unexported = [...unexportedFrom([...exported.values()].flat(), checker, folder)]
    .map(([symbol, names]) => ({
      name: symbol.name,
      declaration: text(symbol),
      namedBy: [...names].sort(),
    }))
    .sort(byName)
  return { pages: new Map(pages), unexported }
}

const root = fileURLToPath(new URL('../../', import.meta.url))
const tsc = join(root, 'node_modules/@typescript/native/bin/tsc')

/** Builds the declarations into a temporary folder, and removes it at the end. Leaves `dist` alone. */
export function publicTypes(): ApiReport {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'postern-types-')))
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const into = ['--outDir', join(folder, 'dist/types')]
    execFileSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.dts.json'), ...into])
    const entries = [...packageEntries()].map(([name, { types }]) => [name, types] as const)
    return apiReport(folder, new Map(entries))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The pages of `test/package/api` by their names: one for each subpath, and one of what they name besides. */
export function apiPages({ pages, unexported }: ApiReport): ReadonlyMap<string, string> {
  const named = [...pages].map(([subpath, text]): [string, string] => {
    return [`${subpath.replaceAll('/', '-')}.txt`, text]
  })
  const besides = unexported.map(({ namedBy, declaration }) => {
    return `named by ${namedBy.join(', ')}\n${declaration}\n`
  })
  return new Map([...named, ['unexported.txt', besides.join('\n')]])
}
