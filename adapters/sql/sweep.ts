import type { SweepResult } from '../../src/ports/store.js'
import type { SqlDialect } from './dialect.js'
import type { SqlRun } from './sql-run.js'
import type { SqlTable } from './table.js'

const mostLeft = 100_000

/** Removes expired rows in one statement and counts those that are left in a second. */
export function sweepOf(
  run: SqlRun,
  dialect: SqlDialect,
  table: SqlTable,
): (before: number, limit: number) => Promise<SweepResult> {
  const { sql, id, expiresAt } = table
  const where = `${expiresAt} <= ?`
  const remove = dialect.remove({ table: sql, id, where, orderBy: expiresAt })
  const count = `select count(*) from (select 1 from ${sql} where ${where} limit ${mostLeft}) as ${dialect.quote('seen')}`
  return async (before, limit) => {
    const values = dialect.removesByWhereTwice ? [before, limit, before] : [before, limit]
    const gone = await run(remove, values)
    const [[left] = []] = await run(count, [before])
    return { removed: gone.length, left: Number(left) }
  }
}
