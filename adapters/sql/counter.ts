import type { AddCall } from '../../src/checks/check-call.js'
import type { Counter, CounterResult } from '../../src/ports/backend.js'
import type { CollectionSpec, Doc } from '../../src/ports/store.js'
import { counterOf } from '../shared/checked-calls.js'
import type { SqlDialect } from './dialect.js'
import type { SqlRun } from './sql-run.js'
import { sweepOf } from './sweep.js'
import { columnOf, type SqlTable } from './table.js'
import { documentOf } from './values.js'

interface CounterDoc extends Doc {
  /** Whether the newest hits were all counted: how the statement that made them learns of it. */
  readonly allowed: boolean
  readonly hits: number
}

export const counterSpec: CollectionSpec<CounterDoc> = {
  name: 'postern_counters',
  fields: { allowed: { kind: 'boolean' }, hits: { kind: 'integer' } },
  indexes: [],
  expires: 'fixed',
}

/** Hits are one statement, however many come together: it looks, decides and counts at the row as it is then. */
export function sqlCounter(run: SqlRun, dialect: SqlDialect, table: SqlTable): Counter {
  const { sql, id, expiresAt, list } = table
  const [allowed, hits] = [columnOf(table, 'allowed').sql, columnOf(table, 'hits').sql]
  const sweep = sweepOf(run, dialect, table)
  const stored = (column: string): string => `${sql}.${column}`
  const ended = `${stored(expiresAt)} <= ?`
  const wanted = `${stored(hits)} + ?`
  // Some databases assign from left to right and see what they assigned: `expires_at` decides, and comes last.
  const assignments = [
    `${allowed} = case when ${ended} then ${dialect.incoming(allowed)} when ${wanted} <= ? then 1 else 0 end`,
    `${hits} = case when ${ended} then ${dialect.incoming(hits)} when ${stored(hits)} >= ? then ${stored(hits)} ` +
      `when ${wanted} >= ? then ? else ${wanted} end`,
    `${expiresAt} = case when ${ended} then ${dialect.incoming(expiresAt)} else ${stored(expiresAt)} end`,
  ].join(', ')
  const countText =
    `insert into ${sql} (${id}, ${allowed}, ${hits}, ${expiresAt}) values (?, ?, ?, ?) ` +
    `${dialect.onTaken(id, assignments)} returning ${list}`
  const forgiveText = `update ${sql} set ${hits} = case when ${hits} > ? then ${hits} - ? else 0 end where ${id} = ?`
  const forgetText = `delete from ${sql} where ${id} = ?`

  async function count(
    [key, , limit, now, more]: AddCall,
    resetsAt: number,
  ): Promise<CounterResult> {
    const first = [key, more <= limit ? 1 : 0, Math.min(more, limit), resetsAt]
    const again = [now, more, limit, now, limit, more, limit, limit, more, now]
    const [row] = await run(countText, [...first, ...again])
    if (!row) throw new Error(`${dialect.name}: the counter gave no row`)
    const { allowed: isAllowed, hits: counted, expiresAt: ends } = documentOf(table, row)
    return { allowed: isAllowed === true, count: Number(counted), resetsAt: Number(ends) }
  }

  return counterOf({
    count,
    forget: (key) => run(forgetText, [key]),
    handBack: (key, some) => run(forgiveText, [some, some, key]),
    sweep: async (before, limit) => (await sweep(before, limit)).removed,
  })
}
