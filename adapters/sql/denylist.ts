import type { Denylist, DenylistEntry } from '../../src/ports/backend.js'
import { denylistOf } from '../shared/checked-calls.js'
import type { SqlDialect } from './dialect.js'
import type { SqlRun } from './sql-run.js'
import { sweepOf } from './sweep.js'
import { columnOf, type SqlTable } from './table.js'
import { documentOf } from './values.js'

// Sets of ids are filled up to one of these sizes: one text for each number of ids would be too many statements.
const setSizes = [2, 8, 32, 64]
const mostRows = 500

export function sqlDenylist(run: SqlRun, dialect: SqlDialect, table: SqlTable): Denylist {
  const { sql, id, expiresAt, list } = table
  const reason = columnOf(table, 'reason').sql
  const [stored, incoming] = [`${sql}.${expiresAt}`, dialect.incoming(expiresAt)]
  // The assignments leave the reason alone: the first one stays.
  const later = dialect.onTaken(
    id,
    `${expiresAt} = case when ${stored} < ${incoming} then ${incoming} else ${stored} end`,
  )
  const sweep = sweepOf(run, dialect, table)

  async function putRows(entries: readonly DenylistEntry[]): Promise<void> {
    const rows = entries.map(() => '(?, ?, ?)').join(', ')
    const values = entries.flatMap((entry) => [entry.id, entry.reason, entry.expiresAt])
    await run(`insert into ${sql} (${id}, ${reason}, ${expiresAt}) values ${rows} ${later}`, values)
  }

  const entries = denylistOf({
    async put(entries) {
      for (let at = 0; at < entries.length; at += mostRows) {
        await putRows(entries.slice(at, at + mostRows))
      }
    },
    async find(ids) {
      const size = setSizes.find((one) => ids.length <= one) ?? ids.length
      const filled = Array.from({ length: size }, (_, at) => ids[at] ?? ids[0] ?? '')
      const places = filled.map(() => '?').join(', ')
      const rows = await run(`select ${list} from ${sql} where ${id} in (${places})`, filled)
      return rows.map((row) => documentOf(table, row))
    },
    sweep: async (before, limit) => (await sweep(before, limit)).removed,
  })
  return { ...entries, findsInGroups: true }
}
