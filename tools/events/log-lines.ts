import ts from 'typescript'
import { walk } from '../../test/support/rules/parsed-source.js'

/** A line that the sources write to the log. */
export interface LogLine {
  readonly level: string
  /** `…` stands for what is filled in. */
  readonly message: string
}

const levels = ['debug', 'info', 'warn', 'error']

/**
 * The lines whose message stands in this source, from the first to the last. A message that is made elsewhere is left
 * out: it is a warning about an option or a setting.
 */
export function logLines(path: string, text: string): readonly LogLine[] {
  const lines: LogLine[] = []
  walk(ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true), (node) => {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return
    const { name, expression } = node.expression
    if (!levels.includes(name.text) || !/\blogger$/.test(expression.getText())) return
    const message = node.arguments[0] === undefined ? null : messageOf(node.arguments[0])
    if (message !== null) lines.push({ level: name.text, message })
  })
  return lines
}

function messageOf(node: ts.Expression): string | null {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('')
  }
  if (!ts.isBinaryExpression(node)) return null
  const [left, right] = [messageOf(node.left), messageOf(node.right)]
  return left === null || right === null ? null : left + right
}
