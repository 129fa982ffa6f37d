import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { createTracing } from '../../src/telemetry/open-telemetry.js'
import { telemetryRig } from '../telemetry/telemetry-rig.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const sources = globSync('{src,adapters}/**/*.ts', { cwd: root })
  .toSorted()
  .map((path) => ({ path, text: readFileSync(`${root}${path}`, 'utf8') }))
const all = sources.map(({ text }) => text).join('\n')
const page = readFileSync(`${root}docs/operating.md`, 'utf8')

const matches = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, found = '']) => found)

/** A call that makes an instrument of a meter, up to its first argument. */
const instrument =
  /\.create(?:(?:Observable)?(?:Counter|Gauge|UpDownCounter)|Histogram)(?:<[^>]*>)?\(\s*([^,)\s]+)/g

const isLiteral = (name: string): boolean => name.startsWith("'")

/**
 * The names of all instruments. A function that makes one under a name that it is given is found as well, and its callers
 * say the names.
 */
function instrumentNames(texts: readonly string[]): readonly string[] {
  const names = texts.flatMap((text) => {
    const given = matches(text, instrument)
    const makers = given.every(isLiteral) ? [] : matches(text, /function (\w+)\(meter\b/g)
    if (!given.every(isLiteral) && makers.length !== 1) throw new Error(`unknown: ${given}`)
    const calls = makers.flatMap((maker) =>
      texts.flatMap((one) =>
        matches(one, new RegExp(`(?<!function )\\b${maker}\\(\\s*\\w+,\\s*([^,)\\s]+)`, 'g')),
      ),
    )
    return [...given.filter(isLiteral), ...calls]
  })
  if (!names.every(isLiteral)) throw new Error(`an instrument has no name of its own: ${names}`)
  return names.map((name) => name.slice(1, -1)).toSorted()
}

/** What each span is called: a text, or the argument that it is named after. */
const spanNames = (text: string): readonly string[] =>
  matches(text, /\.start(?:Active)?Span\(\s*([^,)\s]+)/g).map((name) => name.replaceAll("'", ''))

/** The rows of the table of spans: its name, and the attributes that it may have. */
const spanRows = [...page.matchAll(/^\| `<?(\w+)>?` \| [^|]+ \| ([^|]+) \|$/gm)].map(
  ([, name = '', attributes = '']) => ({
    name,
    attributes: matches(attributes, /`([\w.]+\.[\w.]+)`/g),
  }),
)

describe('the table of metrics', () => {
  const texts = sources.map(({ text }) => text)

  it('has each instrument with its labels, and no other', () => {
    const made = instrumentNames(texts)
    const rows = [...page.matchAll(/^\| `(\w+)\{([\w,]+)\}` \|/gm)]
    expect(made.length).toBeGreaterThan(5)
    expect(rows.map(([, name]) => name).toSorted()).toEqual(made)
    for (const [, name, labels] of rows) expect(all).toContain(`${name}{${labels}}`)
  })

  it('is held against every instrument, however it is made', () => {
    const kinds = ['Counter', 'UpDownCounter', 'Histogram', 'Gauge', 'ObservableGauge']
    const direct = kinds.map((kind) => `getMeter('x')\n  .create${kind}(\n    'of_${kind}', {})`)
    const maker =
      'export function timed(meter: Meter, name: string) { meter.createHistogram(name) }'
    const caller = "timed(meter, 'of_a_maker')"
    expect(instrumentNames([...direct, maker, caller])).toEqual(
      [...kinds.map((kind) => `of_${kind}`), 'of_a_maker'].toSorted(),
    )
    expect(() => instrumentNames(['meter.createCounter(name)'])).toThrow('unknown: name')
  })
})

describe('the table of spans', () => {
  it('has each span that the library opens, and no other', () => {
    const opened = spanNames(all)
    expect(opened).toEqual(['operation'])
    expect(spanRows.map(({ name }) => name)).toEqual(opened)
  })

  it('has each attribute of a span, and no other', async () => {
    const { tracerProvider, meterProvider, spans } = telemetryRig()
    const tracing = createTracing({ tracerProvider, meterProvider }, { now: () => 0 })
    await tracing.operation('client', 'login', async () => ({ status: 200, code: null }))
    await tracing.operation('client', 'login', async () => ({ status: 503, code: 'internal' }))
    const shown = new Set(spans().flatMap(({ attributes }) => Object.keys(attributes)))
    expect(spanRows.flatMap(({ attributes }) => attributes).toSorted()).toEqual(
      [...shown].toSorted(),
    )
  })
})
