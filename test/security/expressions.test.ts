import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { check } from 'recheck'
import { expect, it } from 'vitest'
import { type Expression, expressionsIn } from '../support/rules/expressions.js'
import { parseSource } from '../support/rules/parsed-source.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

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
