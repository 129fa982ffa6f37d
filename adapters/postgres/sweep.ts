import type { SweepResult } from '../../src/ports/store.js'
import type { Run } from './client.js'
import { dayColumn, dayOf, type SqlTable } from './table.js'

const mostLeft = 100_000

/**
 * One statement removes and counts. It locks the rows it chooses, so none of them is renewed before
 * it goes, and skips rows that another transaction holds instead of waiting. It names rows by their id: a `ctid` is that of
 * another row in each partition of a table. The delete tests the
 * expiry again, with `is true` so that no index serves that test: the planner might otherwise walk all
 * expired rows a second time and compare each row with each id. Both counts see the table as it
 * was at the start, so the rows left are those counted minus those removed.
 *
 * The orders choose the index. Without them the planner reads the table from its start if it believes
 * that many rows have expired, as it does for every table that was not analysed yet: past all live
 * rows, and past all that earlier sweeps removed.
 */
export function sweepOf(
  run: Run,
  table: SqlTable,
): (before: number, limit: number) => Promise<SweepResult> {
  const text =
    `with "gone" as (delete from ${table.sql} where "id" = any(array(` +
    `select "id" from ${table.sql} where ${table.expired} order by ${table.expiryColumn} ` +
    `limit $2::bigint for update skip locked)) ` +
    `and ("expires_at" <= $1::timestamptz) is true returning 1) ` +
    `select (select count(*) from "gone")::text as "removed", (${seen(table)})::text as "seen"`
  return async (before, limit) => {
    const values = [new Date(before).toISOString(), String(limit), String(limit + mostLeft)]
    const [counts] = await run(text, values)
    const removed = Number(counts?.['removed'])
    const left = Math.min(mostLeft, Math.max(0, Number(counts?.['seen']) - removed))
    return { removed, left }
  }
}

/** How many rows have expired, counted up to `$3`, or to twice as many. */
function seen(table: SqlTable): string {
  const counted = (rows: string) =>
    `select count(*) from (select 1 from ${table.sql} where ${rows} limit $3::bigint) as "seen"`
  if (table.shape.expires !== 'sliding') {
    return counted(`${table.expired} order by ${table.expiryColumn}`)
  }
  // All rows of days that are over have expired: the index alone tells, without a look at the rows.
  const today = dayOf('$1::timestamptz')
  const before = counted(`${dayColumn} < ${today} order by ${dayColumn}`)
  return `select (${before}) + (${counted(`${dayColumn} = ${today} and "expires_at" <= $1::timestamptz`)})`
}
