import { checkExpiry, checkForgive, checkHit } from '../../src/checks/check-call.js'
import type { Counter } from '../../src/ports/counter.js'
import type { CollectionSpec, Doc } from '../../src/ports/store.js'
import type { Runs } from './client.js'
import { sweepOf } from './sweep.js'
import { rowOf, type SqlTable } from './table.js'

interface CounterDoc extends Doc {
  readonly hits: number
  /** Whether the newest hit was counted: how the statement that made it learns of it. */
  readonly allowed: boolean
}

export const counterSpec: CollectionSpec<CounterDoc> = {
  name: 'postern_counters',
  fields: { hits: { kind: 'integer' }, allowed: { kind: 'boolean' } },
  indexes: [],
  expires: 'fixed',
}

/**
 * A hit is one upsert. Parallel hits wait for each other at the row, and each decides by the row
 * its predecessor left, not by the one it saw at its own start. `$4` is the caller's now.
 */
export function postgresCounter({ named: run, unnamed }: Runs, table: SqlTable): Counter {
  const ended = `"running"."expires_at" <= $4::timestamptz`
  const room = `"running"."hits" < $3::bigint`
  const hitText =
    `insert into ${table.sql} as "running" ("id", "hits", "allowed", "expires_at") ` +
    `values ($1::text, least(1, $3::bigint), $3::bigint > 0, $2::timestamptz) ` +
    `on conflict ("id") do update set ` +
    `"hits" = case when ${ended} then excluded."hits" ` +
    `when ${room} then "running"."hits" + 1 else "running"."hits" end, ` +
    `"allowed" = case when ${ended} then excluded."allowed" else ${room} end, ` +
    `"expires_at" = case when ${ended} then excluded."expires_at" else "running"."expires_at" end ` +
    `returning ${table.selectList}`
  const forgiveText = `update ${table.sql} set "hits" = greatest(0, "hits" - $2::bigint) where "id" = $1::text`
  const forgetText = `delete from ${table.sql} where "id" = $1::text`
  const sweep = sweepOf(unnamed, table)
  return {
    async hit(key, windowMs, limit, now) {
      const resetsAt = checkHit(key, windowMs, limit, now)
      const values = [
        key,
        new Date(resetsAt).toISOString(),
        String(limit),
        new Date(now).toISOString(),
      ]
      const [cells] = await run(hitText, values)
      if (!cells) throw new Error('postgres: the counter gave no row')
      const row = rowOf(table, cells)
      return {
        allowed: row['allowed'] === true,
        count: Number(row['hits']),
        resetsAt: Number(row['expiresAt']),
      }
    },
    async forgive(key, hits) {
      checkForgive(key, hits)
      if (hits === undefined) await run(forgetText, [key])
      else await run(forgiveText, [key, String(hits)])
    },
    async sweep(before, limit) {
      checkExpiry('counter.sweep', before, limit)
      return (await sweep(before, limit)).removed
    },
  }
}
