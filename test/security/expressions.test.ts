import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { check } from 'recheck'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { type ParsedSource, parseSource, walk } from '../support/rules/parsed-source.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A regular expression of a source file. */
interface Expression {
  /** File and line. */
  readonly place: string
  readonly source: string
  readonly flags: string
}

interface Expressions {
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
function expressionsIn({ path, tree, lineOf }: ParsedSource): Expressions {
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

/**
 * The expressions with a text that makes them take more than linear time, and those that cannot be judged. Most are
 * judged by their automaton, which is a proof; a few with large bounds by a search for such a text.
 */
async function slowOf(expressions: readonly Expression[]): Promise<readonly string[]> {
  const slow: string[] = []
  for (const { place, source, flags } of expressions) {
    const verdict = await check(source, flags, { timeout: 30_000 })
    if (verdict.status === 'safe') continue
    const why =
      verdict.status === 'vulnerable'
        ? `${verdict.complexity.summary}: ${verdict.attack.pattern}`
        : verdict.error.kind
    slow.push(`${place} /${source}/${flags} ${why}`)
  }
  return slow
}

const distinct = (expressions: readonly Expression[]): readonly Expression[] => [
  ...new Map(expressions.map((one) => [`/${one.source}/${one.flags}`, one])).values(),
]

it('no text makes an expression of the sources or the adapters take more than linear time', async () => {
  const paths = globSync('{src,adapters}/**/*.{ts,tsx}', { cwd: root }).toSorted()
  const read = paths.map((path) =>
    expressionsIn(parseSource(path, readFileSync(`${root}/${path}`, 'utf8'))),
  )
  const found = read.flatMap((one) => one.found)
  expect(read.flatMap(({ computed }) => computed)).toEqual([])
  expect(found.length).toBeGreaterThan(100)
  expect(await slowOf(distinct(found))).toEqual([])
}, 300_000)

it('an expression that takes exponential or quadratic time is found, however it is written', async () => {
  const planted = [
    'export const one = /(a+)+$/',
    "export const two = new RegExp('^(?:a|a)*$', 'i')",
    'export const three = RegExp(`[ \\t]+$`)',
    "export const four = (text: string) => text.match('(.*)*x')",
    'export const good = /^[a-z]+$/',
    'export const made = (text: string) => new RegExp(text)',
  ].join('\n')
  const { found, computed } = expressionsIn(parseSource('planted.ts', planted))
  expect(computed).toEqual(['planted.ts:6'])
  expect(await slowOf(found)).toEqual([
    expect.stringMatching(/^planted\.ts:1 .* exponential: /),
    expect.stringMatching(/^planted\.ts:2 .* exponential: /),
    expect.stringMatching(/^planted\.ts:3 .* 2nd degree polynomial: /),
    expect.stringMatching(/^planted\.ts:4 .* exponential: /),
  ])
})
