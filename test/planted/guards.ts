import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { parseSource, walk } from '../support/rules/parsed-source.js'
import { guardTests } from './guard-tests.js'
import { type Edit, occurrences, type Plant } from './plant.js'

/** One condition that keeps something out: a step of the admission, or a key of the guard of a write. */
export interface Guard {
  /**
   * The name of the step, or the function that writes, the collection, and the key: it stays the same when the code moves
   * to another file.
   */
  readonly id: string
  /** Takes the condition away. */
  readonly edit: Edit
}

/** Where a write that does not ask lets somebody in, or undoes what another one did. */
const guarded = ['src/domain/**/*.ts', 'adapters/stores/*.ts']

const admission = 'src/http/admission.ts'

/** Every guard of these sources, found by reading them, so that none is forgotten. */
export function findGuards(root: string): readonly Guard[] {
  const files = globSync(guarded, { cwd: root }).toSorted()
  const read = (file: string) => readFileSync(join(root, file), 'utf8')
  return [
    ...stepsOf(admission, read(admission)),
    ...withIds(files.flatMap((file) => writeGuardsOf(file, read(file)))),
  ]
}

/** One key of the guard of one write. */
interface WriteGuard {
  readonly edit: Edit
  /** The name of the function that writes. */
  readonly by: string
  /** The collection, and the key. */
  readonly what: string
}

/**
 * Gives each guard its id. Where functions of one name in several files have the same guard, the folder of each
 * comes first, or the file if the folder is the same. Only guards within one function are numbered.
 */
function withIds(found: readonly WriteGuard[]): readonly Guard[] {
  const seen = new Map<string, number>()
  return found.map(({ edit, by, what }) => {
    const alike = found.filter((one) => one.by === by && one.what === what)
    const others = [...new Set(alike.map((one) => one.edit.file))].filter(
      (one) => one !== edit.file,
    )
    const folder = basename(dirname(edit.file))
    const isAlone = others.every((one) => dirname(one) !== dirname(edit.file))
    const place = isAlone ? folder : basename(edit.file, '.ts')
    const id = `${others.length === 0 ? by : `${place}/${by}`} ${what}`
    const count = (seen.get(id) ?? 0) + 1
    seen.set(id, count)
    return { id: count === 1 ? id : `${id} (${count})`, edit }
  })
}

/** The members of the list `steps`. */
function stepsOf(file: string, source: string): readonly Guard[] {
  const { tree } = parseSource(file, source)
  const guards: Guard[] = []
  walk(tree, (node) => {
    if (!ts.isVariableDeclaration(node) || node.name.getText() !== 'steps') return
    if (node.initializer === undefined || !ts.isArrayLiteralExpression(node.initializer)) return
    for (const element of node.initializer.elements) {
      guards.push({ id: element.getText(), edit: without(file, source, element) })
    }
  })
  return guards
}

/** How many arguments the call has where the second one is a guard. */
const writes: ReadonlyMap<string, number> = new Map([
  ['update', 3],
  ['take', 2],
])

/** The keys of the guard of each write: in place, a constant of the same file, or what a function of it returns. */
function writeGuardsOf(file: string, source: string): readonly WriteGuard[] {
  const { tree } = parseSource(file, source)
  const guards: WriteGuard[] = []
  walk(tree, (node) => {
    if (!ts.isCallExpression(node)) return
    const { expression } = node
    if (!ts.isPropertyAccessExpression(expression)) return
    const write = expression.name.text
    if (writes.get(write) !== node.arguments.length) return
    const [document, argument] = node.arguments
    const object = literalOf(argument, node)
    if (document === undefined || argument === undefined || object === undefined) return
    for (const property of object.properties) {
      const key = property.name?.getText() ?? property.getText()
      const collection = expression.expression.getText().split('.').at(-1)
      const what = write === 'take' ? `${collection} taken` : collection
      const edit = withoutCondition(file, source, { document, argument, object, property })
      guards.push({ edit, by: writerOf(node), what: `${what}: ${key}` })
    }
  })
  return guards
}

/**
 * The outermost named function around a write, other than the one that makes the service, if there is one.
 */
function writerOf(write: ts.Node): string {
  let outermost: string | undefined
  let service: string | undefined
  for (let node = write; node.parent !== undefined; node = node.parent) {
    const name = functionNameOf(node)
    if (name === undefined) continue
    if (isService(node)) service ??= name
    else outermost = name
  }
  const writer = outermost ?? service
  if (writer === undefined) throw new Error(`No named function holds ${write.getText()}`)
  return writer
}

/** Of a function, a method, or a constant or property that is a function. */
function functionNameOf(node: ts.Node): string | undefined {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) return node.name?.getText()
  const isNamed = ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node)
  if (!isNamed || node.initializer === undefined) return undefined
  return ts.isArrowFunction(node.initializer) ? node.name.getText() : undefined
}

/** Whether it returns a function, or an object with functions. */
function isService(node: ts.Node): boolean {
  const statements = ts.isFunctionDeclaration(node) ? node.body?.statements : undefined
  return statements?.some((one) => ts.isReturnStatement(one) && holdsFunction(one)) === true
}

function holdsFunction({ expression }: ts.ReturnStatement): boolean {
  if (expression !== undefined && ts.isArrayLiteralExpression(expression)) {
    return expression.elements.some((one) => ts.isObjectLiteralExpression(one))
  }
  if (expression === undefined || !ts.isObjectLiteralExpression(expression)) {
    return expression !== undefined && ts.isArrowFunction(expression)
  }
  return expression.properties.some((one) => functionNameOf(one) !== undefined)
}

/** The object that an argument is: itself, or the nearest constant of that name, or what that function returns. */
function literalOf(
  argument: ts.Node | undefined,
  from: ts.Node,
): ts.ObjectLiteralExpression | undefined {
  if (argument === undefined) return undefined
  if (ts.isObjectLiteralExpression(argument)) return argument
  if (ts.isCallExpression(argument)) return literalOf(argument.expression, from)
  if (!ts.isIdentifier(argument)) return undefined
  for (let scope: ts.Node = from; scope.parent !== undefined; scope = scope.parent) {
    let found: ts.ObjectLiteralExpression | undefined
    ts.forEachChild(scope.parent, (child) =>
      walk(child, (node) => {
        const isFunction = ts.isFunctionDeclaration(node)
        if (!isFunction && !ts.isVariableDeclaration(node)) return
        if (node.name?.getText() !== argument.text) return
        found ??= objectOf(isFunction ? node.body : node.initializer)
      }),
    )
    if (found !== undefined) return found
  }
  return undefined
}

/** An object as it is written, or the one that a function is written to return. */
function objectOf(initializer: ts.Node | undefined): ts.ObjectLiteralExpression | undefined {
  if (initializer === undefined) return undefined
  if (ts.isObjectLiteralExpression(initializer)) return initializer
  if (ts.isParenthesizedExpression(initializer)) return objectOf(initializer.expression)
  if (ts.isBlock(initializer)) {
    const [first] = initializer.statements
    return first !== undefined && ts.isReturnStatement(first)
      ? objectOf(first.expression)
      : undefined
  }
  return ts.isArrowFunction(initializer) ? objectOf(initializer.body) : undefined
}

/**
 * A guard that other writes have too loses the condition at this write alone. One that has no other condition asks for
 * the document's id, since no store takes a guard without conditions.
 */
function withoutCondition(
  file: string,
  source: string,
  { document, argument, object, property }: Condition,
): Edit {
  const name = property.name?.getText()
  const at = [argument.getStart(), argument.end] as const
  if (object.properties.length === 1) {
    return edited(file, source, at, `{ id: ${document.getText()} }`)
  }
  if (argument === object || name === undefined) return without(file, source, property)
  return edited(file, source, at, `(({ ${name}: _, ...rest }) => rest)(${argument.getText()})`)
}

interface Condition {
  readonly document: ts.Node
  readonly argument: ts.Node
  readonly object: ts.ObjectLiteralExpression
  readonly property: ts.ObjectLiteralElementLike
}

/** Takes a member out of its list, with the comma after it, or else before it. */
function without(file: string, source: string, member: ts.Node): Edit {
  const comma = /^\s*,/.exec(source.slice(member.end))?.[0].length ?? 0
  return edited(file, source, [member.getFullStart(), member.end + comma], '')
}

function edited(
  file: string,
  source: string,
  [start, end]: readonly [number, number],
  by: string,
): Edit {
  // As much around it as makes it the only such place.
  for (let around = 0; around < source.length; around += 10) {
    const from = Math.max(0, start - around)
    const find = source.slice(from, end + around)
    if (occurrences(source, find) !== 1) continue
    return { file, find, replace: source.slice(from, start) + by + source.slice(end, end + around) }
  }
  throw new Error(`${file} holds ${source.slice(start, end)} in no place of its own`)
}

/** Guards that are put together elsewhere than at the write, where reading the sources does not find them. */
const others: readonly Plant[] = [
  {
    name: 'the write of users for the host does not ask for the epochs',
    edits: [
      {
        file: 'src/domain/accounts/users.ts',
        find: '{ ...epochs, importState } : epochs',
        replace: '{ importState } : { kind: user.kind }',
      },
    ],
    tests: ['test/security/overtaken/overtaken.test.ts'],
  },
]

/** In words what is taken away: a step of the admission, or a condition of a write. */
function nameOf(id: string): string {
  const [place = '', condition] = id.split(': ')
  const [writer = '', collection = '', taken] = place.split(' ')
  return condition === undefined
    ? `admission: the step ${writer} is gone`
    : `${writer}: the ${taken === undefined ? 'write' : 'take'} of ${collection} does not ask for ${condition}`
}

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Each guard, taken away. */
export const guardPlants: readonly Plant[] = [
  ...findGuards(root).flatMap(({ id, edit }) => {
    const tests = guardTests[id]
    return tests === undefined ? [] : [{ name: nameOf(id), edits: [edit] as const, tests }]
  }),
  ...others,
]
