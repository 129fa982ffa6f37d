import ts from 'typescript'
import { type ParsedSource, walk } from './parsed-source.js'

/** The one folder that may read the machine's clock, randomness and timers. */
const system = 'src/system/'

/** The same for the client, which loads nothing of the server. */
const pageSystem = 'src/client/browser-environment.ts'

/** It loads nothing of the client, works with the dialogues of the page, and renews a challenge by the page's timer. */
const pagePasskeys = 'src/client/passkeys.ts'

const timers = ['setTimeout', 'setInterval', 'setImmediate']
const machine = [...timers, 'process', 'globalThis', 'performance']

/** And for the command, whose other files are given what they need. */
const commandSystem = 'src/cli/main.ts'

/**
 * The test kit for store authors decides nothing: it may draw names that no other run has, and wait
 * until what was queued has run. It reads no clock, and sets no timer but to notice that a real
 * database keeps one racer waiting for another's lock.
 */
const testKit = 'src/testing/'
const allowedInTestKit = ['setImmediate']
const interleavings = 'src/testing/interleavings/'

/** `process.env` has one reader; what it read is passed on as an argument. */
const mayReadProcess = [system, 'src/create-auth.ts']

/** Names of `node:crypto` that draw randomness by themselves. */
const randomNames = /^(random\w+|getRandomValues|webcrypto|subtle|pseudoRandomBytes)$/
const timerModules = /^(node:)?(timers(\/promises)?|process|perf_hooks)$/

/** SQL that reads the database's clock: no decision may depend on it. */
const databaseClock =
  /\b(now|clock_timestamp|statement_timestamp|transaction_timestamp)\s*\(\s*\d?\s*\)|\bcurrent_(timestamp|date|time)\b/i

/** They compare it with the machine's, for a person to read. */
const comparesClocks = /^adapters\/[a-z]+\/inspect\.ts$/

const asyncFunction = (node: ts.Node) =>
  ts.isFunctionLike(node) &&
  ts.canHaveModifiers(node) &&
  ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) === true

/** True when the identifier reads a variable, false when it merely names a member or a type. */
function readsVariable(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  if (ts.isQualifiedName(parent) || ts.isTypeReferenceNode(parent)) return false
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node
  if (ts.isBindingElement(parent)) return parent.propertyName !== node
  return !(
    ts.isPropertySignature(parent) ||
    ts.isMethodSignature(parent) ||
    ts.isPropertyDeclaration(parent) ||
    ts.isMethodDeclaration(parent) ||
    ts.isTypePredicateNode(parent) ||
    ts.isImportSpecifier(parent)
  )
}

function member(node: ts.Node, object: string): string | null {
  const found =
    ts.isPropertyAccessExpression(node) &&
    ts.isIdentifier(node.expression) &&
    node.expression.text === object
  return found ? node.name.text : null
}

/** `crypto.x` and `globalThis.crypto.x`. */
function cryptoMember(node: ts.Node): string | null {
  const nested =
    ts.isPropertyAccessExpression(node) && member(node.expression, 'globalThis') === 'crypto'
  return nested ? node.name.text : member(node, 'crypto')
}

/** `Date.now()`, `new Date()`, `Date()`: the forms that read the clock. `new Date(ms)` converts. */
function readsDate(node: ts.Node): boolean {
  if (member(node, 'Date') === 'now') return true
  const made = ts.isNewExpression(node) || ts.isCallExpression(node)
  if (!made || !ts.isIdentifier(node.expression) || node.expression.text !== 'Date') return false
  return ts.isCallExpression(node) || (node.arguments?.length ?? 0) === 0
}

function ambientRead(node: ts.Node, path: string): string | null {
  if (readsDate(node)) return 'reads the machine clock'
  if (member(node, 'Math') === 'random') return 'uses Math.random'
  if (member(node, 'AbortSignal') === 'timeout') return 'starts a timer by AbortSignal.timeout'
  const crypto = cryptoMember(node)
  if (crypto !== null && randomNames.test(crypto)) {
    return path.startsWith(testKit) ? null : `draws randomness by crypto.${crypto}`
  }
  if (!ts.isIdentifier(node) || !machine.includes(node.text) || !readsVariable(node)) return null
  return mayUse(node, path) ? null : `uses the global ${node.text}`
}

function mayUse(global: ts.Identifier, path: string): boolean {
  const { parent, text } = global
  if (text === 'process') return mayReadProcess.some((allowed) => path.startsWith(allowed))
  // Judged by what is taken from it.
  if (text === 'globalThis')
    return ts.isPropertyAccessExpression(parent) && parent.name.text === 'crypto'
  if (text === 'setTimeout') return path.startsWith(interleavings) || path === pagePasskeys
  return path.startsWith(testKit) && allowedInTestKit.includes(text)
}

function impure(node: ts.Node): string | null {
  if (asyncFunction(node)) return 'is async'
  if (ts.isAwaitExpression(node)) return 'awaits'
  if (!ts.isIdentifier(node)) return null
  if (node.text === 'Promise') return 'uses Promise'
  const global = ['Date', 'console', 'crypto', 'fetch', 'queueMicrotask'].includes(node.text)
  return global && readsVariable(node) ? `uses the global ${node.text}` : null
}

function clockInSql(node: ts.Node, path: string): string | null {
  if (comparesClocks.test(path)) return null
  const text =
    ts.isStringLiteralLike(node) ||
    ts.isTemplateHead(node) ||
    ts.isTemplateMiddleOrTemplateTail(node)
      ? node.text
      : ''
  return databaseClock.test(text) ? "reads the database's clock" : null
}

function ambientImports({ imports }: ParsedSource): readonly (readonly [number, string])[] {
  return imports.flatMap(({ specifier, names, kind, line }) => {
    if (specifier === null || kind === 'type') return []
    const problems = timerModules.test(specifier) ? [`imports ${specifier}`] : []
    const drawn = /^(node:)?crypto$/.test(specifier) ? names.filter((n) => randomNames.test(n)) : []
    return [...problems, ...drawn.map((name) => `imports ${name} of ${specifier}`)].map(
      (problem) => [line, problem] as const,
    )
  })
}

/** Ambient time, randomness, timers and environment outside the folder that provides them. */
export function ambientViolations(parsed: ParsedSource): readonly string[] {
  const { path } = parsed
  if ([system, pageSystem, commandSystem, 'examples/'].some((allowed) => path.startsWith(allowed)))
    return []
  const found: (readonly [number, string])[] = [...ambientImports(parsed)]
  const checks = path.startsWith('src/engine/') ? [ambientRead, impure] : [ambientRead]
  walk(parsed.tree, (node) => {
    for (const check of [...checks, clockInSql]) {
      const problem = check(node, path)
      if (problem !== null) found.push([parsed.lineOf(node), problem])
    }
  })
  return found.map(([line, problem]) => `${path}:${line}: ${problem}`)
}
