import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { parseSource, walk } from '../support/rules/parsed-source.js'
import type { Edit } from './plant.js'
import { occurrences } from './tree-copy.js'

/** One condition that keeps something out: a step of the admission, or a key of the guard of a write. */
export interface Guard {
  /** The same as long as the code around it is: the file below `src`, what is written, and the key. */
  readonly id: string
  /** Takes the condition away. */
  readonly edit: Edit
}

/** Where a write that does not ask lets somebody in, or undoes a sign-out. */
const guarded = [
  'src/domain/sessions/*.ts',
  'src/domain/intents/*.ts',
  'src/domain/login/*.ts',
  'src/domain/limits/*.ts',
  'src/domain/factors/*.ts',
  'src/domain/passkeys/*.ts',
  'src/domain/passwords/*.ts',
  'src/domain/oauth/*.ts',
  'src/domain/accounts/*.ts',
]

const admission = 'src/http/admission/admission-steps.ts'

/** Every guard of these sources, found by reading them, so that none is forgotten. */
export function findGuards(root: string): readonly Guard[] {
  const files = globSync(guarded, { cwd: root }).toSorted()
  const found = [
    ...stepsOf(admission, readFileSync(join(root, admission), 'utf8')),
    ...files.flatMap((file) => writeGuardsOf(file, readFileSync(join(root, file), 'utf8'))),
  ]
  const seen = new Map<string, number>()
  return found.map(({ id, edit }) => {
    const count = (seen.get(id) ?? 0) + 1
    seen.set(id, count)
    return { id: count === 1 ? id : `${id} (${count})`, edit }
  })
}

/** The members of the list that `admissionSteps` returns. */
function stepsOf(file: string, source: string): readonly Guard[] {
  const { tree } = parseSource(file, source)
  const guards: Guard[] = []
  walk(tree, (node) => {
    if (!ts.isReturnStatement(node) || node.expression === undefined) return
    if (!ts.isArrayLiteralExpression(node.expression)) return
    for (const element of node.expression.elements) {
      const name = element.getText().replace(/\(.*/s, '')
      guards.push({ id: `${short(file)} ${name}`, edit: without(file, source, element) })
    }
  })
  return guards
}

/** The keys of the second argument of each `update`, written in place or as a constant of the same file. */
function writeGuardsOf(file: string, source: string): readonly Guard[] {
  const { tree } = parseSource(file, source)
  const guards: Guard[] = []
  walk(tree, (node) => {
    if (!ts.isCallExpression(node) || node.arguments.length !== 3) return
    const { expression } = node
    if (!ts.isPropertyAccessExpression(expression) || expression.name.text !== 'update') return
    const object = literalOf(node.arguments[1], node)
    for (const property of object?.properties ?? []) {
      const key = property.name?.getText() ?? property.getText()
      const collection = expression.expression.getText().split('.').at(-1)
      const id = `${short(file)} ${collection}: ${key}`
      guards.push({ id, edit: without(file, source, property) })
    }
  })
  return guards
}

const short = (file: string): string => file.replace(/^src\//, '').replace(/\.ts$/, '')

/** The object that an argument is: itself, or the nearest constant of that name. */
function literalOf(
  argument: ts.Node | undefined,
  from: ts.Node,
): ts.ObjectLiteralExpression | undefined {
  if (argument === undefined) return undefined
  if (ts.isObjectLiteralExpression(argument)) return argument
  if (!ts.isIdentifier(argument)) return undefined
  for (let scope: ts.Node = from; scope.parent !== undefined; scope = scope.parent) {
    let found: ts.ObjectLiteralExpression | undefined
    ts.forEachChild(scope.parent, (child) =>
      walk(child, (node) => {
        if (!ts.isVariableDeclaration(node) || node.name.getText() !== argument.text) return
        if (node.initializer !== undefined && ts.isObjectLiteralExpression(node.initializer))
          found ??= node.initializer
      }),
    )
    if (found !== undefined) return found
  }
  return undefined
}

/** Takes a member out of its list, with the comma after it, or else before it. */
function without(file: string, source: string, member: ts.Node): Edit {
  const rest = source.slice(member.end)
  const comma = /^\s*,/.exec(rest)?.[0].length ?? 0
  const start = member.getFullStart()
  const end = member.end + comma
  // As much around it as makes it the only such place.
  for (let around = 0; around < source.length; around += 10) {
    const from = Math.max(0, start - around)
    const find = source.slice(from, end + around)
    if (occurrences(source, find) !== 1) continue
    return { file, find, replace: source.slice(from, start) + source.slice(end, end + around) }
  }
  throw new Error(`${file} holds ${member.getText()} in no place of its own`)
}
