import ts from 'typescript'
import { type ParsedSource, walk } from './parsed-source.js'

/** A regular expression of a source file. */
export interface Expression {
  /** File and line. */
  readonly place: string
  readonly source: string
  readonly flags: string
}

export interface Expressions {
  readonly found: readonly Expression[]
  /** Places that make an expression of a text which only a run would show. */
  readonly computed: readonly string[]
}

const isRegExp = (node: ts.Node): boolean => ts.isIdentifier(node) && node.text === 'RegExp'

/** Methods of a text that make an expression of their first argument, where it is a text. */
const makers: readonly string[] = ['match', 'matchAll', 'search']

/** Text and flags of a call that makes an expression; null for every other node. */
function madeOf(node: ts.Node): readonly (ts.Expression | undefined)[] | null {
  if (!ts.isNewExpression(node) && !ts.isCallExpression(node)) return null
  const [text, flags] = node.arguments ?? []
  if (isRegExp(node.expression)) return [text, flags]
  const isMaker =
    ts.isPropertyAccessExpression(node.expression) && makers.includes(node.expression.name.text)
  return isMaker && text !== undefined && ts.isStringLiteralLike(text) ? [text] : null
}

/** The text of an argument; empty for a missing one, null for what is computed. */
function constant(node: ts.Expression | undefined): string | null {
  if (node === undefined) return ''
  return ts.isStringLiteralLike(node) ? node.text : null
}

/** Every regular expression that a file writes down: as a literal, by `RegExp`, or as a text that `match` reads. */
export function expressionsIn({ path, tree, lineOf }: ParsedSource): Expressions {
  const found: Expression[] = []
  const computed: string[] = []
  walk(tree, (node) => {
    const place = `${path}:${lineOf(node)}`
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      found.push({ place, source: node.text.slice(1, end), flags: node.text.slice(end + 1) })
      return
    }
    const made = madeOf(node)
    if (made === null) return
    const [source, flags] = [constant(made[0]), constant(made[1])]
    if (source === null || flags === null) computed.push(place)
    else found.push({ place, source, flags })
  })
  return { found, computed }
}
