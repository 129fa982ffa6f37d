import type { AddCall } from '../../src/checks/check-call.js'
import type { Counter, CounterResult } from '../../src/ports/backend.js'
import type { CollectionSpec, Doc } from '../../src/ports/store.js'
import { counterOf } from '../shared/checked-calls.js'
import type { Runs } from './client.js'
import { sweepOf } from './sweep.js'
import type { SqlTable } from './table.js'

interface CounterDoc extends Doc {
  readonly hits: number
  /** Whether the newest hits were all counted: how the statement that made them learns of it. */
  readonly allowed: boolean
}

export const counterSpec: CollectionSpec<CounterDoc> = {
  name: 'postern_counters',
  fields: { hits: { kind: 'integer' }, allowed: { kind: 'boolean' } },
  indexes: [],
  expires: 'fixed',
}

/**
 * Hits are one upsert, however many come together. Parallel ones wait for each other at the row, and
 * each decides by the row its predecessor left, not by the one it saw at its own start. `$4` is the
 * caller's now, `$5` the number of hits.
 */
export function postgresCounter({ named: run, unnamed }: Runs, table: SqlTable): Counter {
  const ended = `"running"."expires_at" <= $4::timestamptz`
  const wanted = `"running"."hits" + $5::bigint`
  const countText =
    `insert into ${table.sql} as "running" ("id", "hits", "allowed", "expires_at") ` +
    `values ($1::text, least($5::bigint, $3::bigint), $5::bigint <= $3::bigint, $2::timestamptz) ` +
    `on conflict ("id") do update set ` +
    `"hits" = case when ${ended} then excluded."hits" ` +
    `else greatest("running"."hits", least(${wanted}, $3::bigint)) end, ` +
    `"allowed" = case when ${ended} then excluded."allowed" else ${wanted} <= $3::bigint end, ` +
    `"expires_at" = case when ${ended} then excluded."expires_at" else "running"."expires_at" end ` +
    `returning ${table.reader.list}`
  const forgiveText = `update ${table.sql} set "hits" = greatest(0, "hits" - $2::bigint) where "id" = $1::text`
  const forgetText = `delete from ${table.sql} where "id" = $1::text`
  const sweep = sweepOf(unnamed, table)

  async function count(
    [key, , limit, now, hits]: AddCall,
    resetsAt: number,
  ): Promise<CounterResult> {
    const [ends, at] = [new Date(resetsAt).toISOString(), new Date(now).toISOString()]
    const [cells] = await run(countText, [key, ends, String(limit), at, String(hits)])
    if (!cells) throw new Error('postgres: the counter gave no row')
    const row = table.reader.read(cells)
    return {
      allowed: row['allowed'] === true,
      count: Number(row['hits']),
      resetsAt: Number(row['expiresAt']),
    }
  }

  return counterOf({
    count,
    forget: (key) => run(forgetText, [key]),
    handBack: (key, hits) => run(forgiveText, [key, String(hits)]),
    sweep: async (before, limit) => (await sweep(before, limit)).removed,
  })
}
