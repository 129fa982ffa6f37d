import type { Child } from '../harness/child.js'
import type { Context } from '../harness/context.js'
import { inRounds, type Series } from '../harness/rounds.js'
import { rounded, spreadText } from '../harness/statistics.js'
import type { Figure, Suite, SuiteTable } from '../harness/suite.js'

const raw = 'raw'
const ours = 'postern'
const checkers = [raw, ours] as const
const peers = ['jsonwebtoken', 'jose'] as const
const liveTokens = 50_000

/** What the check of an access token costs that was never seen before, and how many are remembered. */
export const verify: Suite = {
  name: 'verify',
  title: 'Access tokens never seen before',
  goals: ['P3'],
  async run(context) {
    const contenders = context.smoke ? checkers : [...checkers, ...peers]
    const children = new Map<string, Child<unknown>>()
    for (const check of contenders) {
      context.progress(`signing tokens for ${check}`)
      children.set(check, await started(context, check))
    }
    const measure = async (check: string) => {
      const requests = context.requests(2000)
      return { cpu: (await children.get(check)?.ask<number>('slice', { requests })) ?? Number.NaN }
    }
    for (const check of contenders) await measure(check)
    const series = await inRounds({
      rounds: context.rounds,
      slices: context.smoke ? 1 : 5,
      contenders,
      measure,
      progress: context.progress,
    })
    for (const child of children.values()) await child.stop()
    const hits = await hitRate(context)
    return { tables: [table(contenders, series)], figures: figures(series, hits) }
  },
}

/** 12,000 tokens in turn, and room for fewer than 2,000: each was forgotten when its turn comes again. */
function started(context: Context, check: string): Promise<Child<unknown>> {
  return context.start('verify.mjs', {
    check,
    key: context.key,
    tokens: context.smoke ? 50 : 12_000,
    ...(check === ours ? { tokenMemory: 1 } : {}),
  })
}

async function hitRate(context: Context): Promise<number> {
  const tokens = context.requests(liveTokens)
  context.progress(`signing ${tokens} tokens`)
  const child = await context.start('verify.mjs', {
    check: ours,
    key: context.key,
    tokens,
    counted: true,
  })
  const rate = await child.ask<number>('hitRate', { requests: context.requests(100_000) })
  await child.stop()
  return rate
}

/** How much work fits into the time of one of ours: CPU of the reference over CPU of ours. */
function figures(series: Series, hits: number): readonly Figure[] {
  const goal = 'P3'
  const of = (reference: string) => series.ratios('cpu', reference, ours)
  const what = 'every token new, checks in the same CPU time, to'
  const why = 'new tokens'
  return [
    { goal, what: `${what} the bare signature check`, values: of(raw), atLeast: 0.7, why },
    { goal, what: `${what} jsonwebtoken`, values: of('jsonwebtoken'), atLeast: 1, why },
    { goal, what: `${what} jose`, values: of('jose'), atLeast: 2.5, why },
    {
      goal,
      what: 'share of checks answered from memory, 50,000 live tokens drawn at random',
      values: [hits],
      atLeast: 0.95,
    },
  ]
}

function table(contenders: readonly string[], series: Series): SuiteTable {
  const names: Readonly<Record<string, string>> = {
    raw: 'the bare signature check (`crypto.verify`)',
    postern: '`authenticate`, denylist in the process',
    jsonwebtoken: '`jsonwebtoken.verify` with a `KeyObject`',
    jose: '`jwtVerify` of jose with a `CryptoKey`',
  }
  return {
    head: ['check', 'CPU µs', 'least CPU µs', 'CPU to the bare check'],
    rows: contenders.map((name) => [
      names[name] ?? name,
      spreadText(series.values('cpu', name)),
      rounded(Math.min(...series.values('cpu', name))),
      spreadText(series.ratios('cpu', name, raw)),
    ]),
    note: 'RSA-2048, one check at a time, 12,000 tokens in turn and memory for fewer than 2,000 of them.',
  }
}
