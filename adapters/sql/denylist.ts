import { checkExpiry } from '../../src/checks/check-call.js'
import { isText } from '../../src/checks/check-value.js'
import type { Denylist, DenylistEntry } from '../../src/ports/backend.js'
import type { CollectionSpec, Doc } from '../../src/ports/store.js'
import { entriesToPut } from '../shared/denylist-entries.js'
import type { SqlDialect } from './dialect.js'
import type { SqlRun } from './sql-run.js'
import { sweepOf } from './sweep.js'
import { columnOf, type SqlTable } from './table.js'
import { documentOf } from './values.js'

interface DenylistDoc extends Doc {
  readonly reason: string
}

export const denylistSpec: CollectionSpec<DenylistDoc> = {
  name: 'postern_denylist',
  fields: { reason: { kind: 'text' } },
  indexes: [],
  expires: 'fixed',
}

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

  return {
    findsInGroups: true,
    async put(given) {
      const entries = entriesToPut(given)
      for (let at = 0; at < entries.length; at += mostRows) {
        await putRows(entries.slice(at, at + mostRows))
      }
    },
    async find(ids) {
      if (!ids.every(isText)) throw new TypeError('denylist.find: an id is text without NUL')
      const wanted = [...new Set(ids)]
      const [only] = wanted
      if (only === undefined) return []
      const size = setSizes.find((one) => wanted.length <= one) ?? wanted.length
      const filled = Array.from({ length: size }, (_, at) => wanted[at] ?? only)
      const places = filled.map(() => '?').join(', ')
      const rows = await run(`select ${list} from ${sql} where ${id} in (${places})`, filled)
      return rows.map((row): DenylistEntry => {
        const read = documentOf(table, row)
        return {
          id: String(read['id']),
          reason: read['reason'] === 'max_age' ? 'max_age' : 'revoked',
          expiresAt: Number(read['expiresAt']),
        }
      })
    },
    async sweep(before, limit) {
      checkExpiry('denylist.sweep', before, limit)
      return (await sweep(before, limit)).removed
    },
  }
}
