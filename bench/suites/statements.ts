import type { Figure, Suite } from '../harness/suite.js'

interface Count {
  readonly statements: number
  readonly trips: number
  readonly writes: number
  readonly later: number
}

/**
 * The most trips that an operation may wait for; null where another goal has the limit. One trip of a
 * login passes while the password is hashed, which takes longer.
 */
const operations: Readonly<Record<string, number | null>> = {
  'authenticate, requireUser': 1,
  'GET /me': 1,
  'GET /me, reported': 2,
  'login, one beside the hash': 5,
  'login, wrong password, one beside the hash': 3,
  refresh: null,
  'grant, again': 2,
  'logout by the bearer': 3,
  'logout by the body': 3,
  'GET an environment': 2,
  'GET an environment, reported': 3,
  'PATCH a setting, reported': 5,
}

export const statements: Suite = {
  name: 'statements',
  title: 'Statements and trips to Postgres before a reply',
  goals: ['P15', 'P20'],
  async run(context) {
    const database = await context.database()
    if (database === null) return { tables: [], figures: notMeasured() }
    const given = { postgres: database.url, key: context.key }
    const child = await context.start<null>('statements-child.mjs', given)
    const counts = await child.ask<Record<string, Count>>('counts')
    const held = await child.ask<number>('preparedStatements')
    const rows = Object.keys(operations).map((name) => {
      const { statements, trips, writes, later } = counts[name] ?? {}
      return [name, `${statements}`, `${trips}`, `${writes}`, `${later}`]
    })
    const note =
      'A trip is one wait for the database; statements that are sent side by side share it. Each operation ' +
      'ran once before it is counted. Of the requests of one session within a minute, the third ' +
      'is the first whose count is reported, as the lines below show. No reply waits for audit records and for ' +
      'the record of where a login came from, nor for what is sent after it. ' +
      `A connection holds at most ${held} prepared statements after all of it.`
    const head = ['operation', 'statements', 'trips', 'writes', 'beside or after the reply']
    return {
      tables: [{ head, rows, note }],
      figures: [
        ...Object.entries(operations).flatMap(([name, atMost]): readonly Figure[] =>
          atMost === null
            ? []
            : [
                {
                  goal: 'P15',
                  what: `trips of ${name}`,
                  values: valuesOf(counts[name]?.trips),
                  atMost,
                },
              ],
        ),
        { goal: 'P20', what: 'prepared statements a connection', values: [held], atMost: 200 },
      ],
    }
  },
}

const valuesOf = (value: number | undefined): readonly number[] =>
  value === undefined ? [] : [value]

function notMeasured(): readonly Figure[] {
  return [
    { goal: 'P15', what: 'trips', values: [], atMost: 0 },
    { goal: 'P20', what: 'prepared statements a connection', values: [], atMost: 200 },
  ]
}
