import ts from 'typescript'
import { parseSource, walk } from './parsed-source.js'

const maxLines = 60

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
  const { tree, lineOf } = parseSource(path, source)
  const found: string[] = []
  walk(tree, (node) => {
    if (!isFunction(node)) return
    const lines = ownLines(node, tree)
    if (lines > maxLines) {
      found.push(`${path}:${lineOf(node)}: a function of ${lines} lines, more than ${maxLines}`)
    }
  })
  return found
}
