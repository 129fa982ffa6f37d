import { inRounds, type Series } from '../harness/rounds.js'
import { spreadText } from '../harness/statistics.js'
import type { Figure, Suite, SuiteTable } from '../harness/suite.js'

const goal = 'P13'

export const configuration: Suite = {
  name: 'configuration',
  title: 'The configuration store',
  goals: ['P13'],
  async run(context) {
    const database = await context.database()
    if (database === null) {
      const what = 'the configuration store on Postgres'
      return { tables: [], figures: [{ goal, what, values: [], atMost: 0 }] }
    }
    context.progress('lists of 50 and of 1,000 elements')
    const given = { postgres: database.url, key: context.key }
    const child = await context.start<readonly string[]>('configuration-child.mjs', given)
    const forMs = context.smoke ? 1 : 150
    const series = await inRounds({
      rounds: context.rounds,
      slices: context.smoke ? 1 : 3,
      contenders: child.ready,
      measure: async (what) => ({ cpu: await child.ask<number>('measure', { what, forMs }) }),
      progress: context.progress,
    })
    return {
      tables: [tableOf(child.ready, series)],
      figures: context.smoke ? [] : figuresOf(series),
    }
  },
}

function tableOf(works: readonly string[], series: Series): SuiteTable {
  const rows = works.map((what) => [what, spreadText(series.values('cpu', what))])
  const note =
    'A record list of fifty elements with six fields each, one of them a secret. Cold reads parse the stored ' +
    'text, check it and open fifty secrets; the floor does that by hand for this one list. A list holds ' +
    'fifty elements, so a thousand are twenty lists. PATCH and GET are whole requests with Postgres behind ' +
    'them, of which the CPU of the server process counts. The least of three slices in each round.'
  return { head: ['work', 'CPU, µs'], rows, note }
}

function figuresOf(series: Series): readonly Figure[] {
  const ratio = (what: string, to: string) => series.ratios('cpu', what, to)
  return [
    {
      goal,
      what: 'cold read over the floor',
      values: ratio('postern, cold', 'floor, cold'),
      atMost: 1.5,
    },
    {
      goal,
      what: 'cached read',
      values: series.values('cpu', 'cached read'),
      unit: 'µs',
      atMost: 0.5,
    },
    {
      goal,
      what: 'PATCH of one key, among 1,000 over among 50',
      values: ratio('PATCH of one key among 1,000', 'PATCH of one key among 50'),
      why: 'a thousand elements',
      atMost: 4,
    },
    { goal, what: 'GET, 1,000 over 50', values: ratio('GET of 1,000', 'GET of 50') },
  ]
}
