import type { Denylist } from '../../src/ports/backend.js'
import { denylistOf } from '../shared/checked-calls.js'
import type { Runs } from './client.js'
import { sweepOf } from './sweep.js'
import type { SqlTable } from './table.js'

// Sets of ids are filled up to one of these sizes: a statement that names an array's content would be
// planned again each time, and one text for each number of ids would be too many prepared statements.
const setSizes = [2, 8, 32, 64]

export function postgresDenylist({ named: run, unnamed }: Runs, table: SqlTable): Denylist {
  // The conflict clause leaves `reason` alone: the first one stays.
  const putText =
    `insert into ${table.sql} as "listed" ("id", "reason", "expires_at") ` +
    `select * from unnest($1::text[], $2::text[], $3::timestamptz[]) ` +
    `on conflict ("id") do update set "expires_at" = excluded."expires_at" ` +
    `where "listed"."expires_at" < excluded."expires_at"`
  const sweep = sweepOf(unnamed, table)
  const findText = `select ${table.reader.list} from ${table.sql} where "id"`
  const sets = setSizes.map((size) => ({ size, text: `${findText} in (${placeholders(size)})` }))
  const findRows = (ids: readonly string[]) => {
    const set = sets.find(({ size }) => ids.length <= size)
    if (!set) return unnamed(`${findText} = any($1::text[])`, [[...ids]])
    return run(
      set.text,
      Array.from({ length: set.size }, (_, at) => ids[at] ?? ids[0]),
    )
  }
  const entries = denylistOf({
    async put(entries) {
      await run(putText, [
        entries.map((entry) => entry.id),
        entries.map((entry) => entry.reason),
        entries.map((entry) => new Date(entry.expiresAt).toISOString()),
      ])
    },
    find: async (ids) => (await findRows(ids)).map((cells) => table.reader.read(cells)),
    sweep: async (before, limit) => (await sweep(before, limit)).removed,
  })
  return { ...entries, findsInGroups: true }
}

function placeholders(count: number): string {
  return Array.from({ length: count }, (_, at) => `$${at + 1}::text`).join(', ')
}
