import { rounded } from '../harness/statistics.js'
import type { Suite } from '../harness/suite.js'

interface Weight {
  readonly table: string
  readonly rows: number
  /** Both in bytes. */
  readonly own: number
  readonly indexes: number
}

/** What a row of each table that grows takes on the disk of Postgres. */
export const storage: Suite = {
  name: 'storage',
  title: 'What a row takes on the disk',
  goals: [],
  async run(context) {
    const database = await context.database()
    if (database === null) throw new Error('a Postgres is needed')
    const rows = context.smoke ? 1000 : 400_000
    context.progress(`filling Postgres with ${rows} rows`)
    const child = await context.start<readonly string[]>('growth-child.mjs', {
      postgres: database.url,
      redis: null,
      key: context.key,
      rows,
    })
    const weights = await child.ask<readonly Weight[]>('weights')
    await child.stop()
    return {
      tables: [
        {
          head: ['table on Postgres', 'bytes of a row', 'bytes of its places in indexes'],
          rows: weights.map(({ table, rows: count, own, indexes }) => [
            table,
            rounded(own / count),
            rounded(indexes / count),
          ]),
          note:
            'A quarter of as many users as other rows. The indexes were made after the rows, so they are as small as they ' +
            'get; those that grow by random keys take about a third more.',
        },
      ],
      figures: [],
    }
  },
}
