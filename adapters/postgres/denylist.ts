import { checkExpiry } from '../../src/checks/check-call.js'
import { isText } from '../../src/checks/check-value.js'
import type { Denylist, DenylistEntry } from '../../src/ports/backend.js'
import type { CollectionSpec, Doc } from '../../src/ports/store.js'
import { entriesToPut } from '../shared/denylist-entries.js'
import type { Runs } from './client.js'
import { sweepOf } from './sweep.js'
import type { SqlTable } from './table.js'

interface DenylistDoc extends Doc {
  readonly reason: string
}

export const denylistSpec: CollectionSpec<DenylistDoc> = {
  name: 'postern_denylist',
  fields: { reason: { kind: 'text' } },
  indexes: [],
  expires: 'fixed',
}

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
  return {
    findsInGroups: true,
    async put(given) {
      const entries = entriesToPut(given)
      if (entries.length === 0) return
      await run(putText, [
        entries.map((entry) => entry.id),
        entries.map((entry) => entry.reason),
        entries.map((entry) => new Date(entry.expiresAt).toISOString()),
      ])
    },
    async find(ids) {
      if (!ids.every(isText)) throw new TypeError('denylist.find: an id is text without NUL')
      if (ids.length === 0) return []
      const rows = await findRows(ids)
      return rows.map((cells): DenylistEntry => {
        const row = table.reader.read(cells)
        return {
          id: String(row['id']),
          reason: row['reason'] === 'max_age' ? 'max_age' : 'revoked',
          expiresAt: Number(row['expiresAt']),
        }
      })
    },
    async sweep(before, limit) {
      checkExpiry('denylist.sweep', before, limit)
      return (await sweep(before, limit)).removed
    },
  }
}

function placeholders(count: number): string {
  return Array.from({ length: count }, (_, at) => `$${at + 1}::text`).join(', ')
}
