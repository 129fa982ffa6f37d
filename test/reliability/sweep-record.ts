import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { postgres } from '../../adapters/postgres/index.js'
import { allCollectionSpecs } from '../../src/model/collections.js'
import { monotonic } from './moving-clock.js'

/** The refresh rows of the two surfaces, in the order a cycle goes through them. */
export const refreshTables = ['operator_refresh_tokens', 'client_refresh_tokens'] as const

/** One sweep of refresh tokens as the server saw it. */
export interface Statement {
  readonly table: string
  readonly app: string
  readonly removed: number
  /** The replicas' time. */
  readonly at: number
  /** Milliseconds of the server's clock, for what it overlapped and nothing else. */
  readonly beganAt: number
  readonly endedAt: number
}

export type SweepRecord = Awaited<ReturnType<typeof openSweepRecord>>

/** A schema with `expired` refresh rows in each table, which writes down who removes how many. */
export async function openSweepRecord(url: string, schema: string, expired: number) {
  const pool = new pg.Pool({ connectionString: url, max: 4 })
  await postgres(pool, { schema }).store.prepare(allCollectionSpecs(''))
  await pool.query(`create table ${schema}.present (ms float8 not null)`)
  await pool.query(`insert into ${schema}.present values (0)`)
  await pool.query(`create table ${schema}.swept (nth serial, tier text, app text, removed int,
    at float8, began timestamptz, ended timestamptz)`)
  await pool.query(`create function ${schema}.note_sweep() returns trigger language plpgsql as $$
    begin
      insert into ${schema}.swept (tier, app, removed, at, began, ended)
      select tg_table_name, current_setting('application_name'), count(*),
        (select ms from ${schema}.present), statement_timestamp(), clock_timestamp()
        from gone having count(*) > 0;
      return null;
    end $$`)
  for (const table of refreshTables) {
    await pool.query(`insert into ${schema}.${table}
      (id, user_id, login_at, session_epoch, generation, rotated_at, rotated_to, expires_at,
       no_reissue_up_to, shown, by_device, rotated_by, delivery)
      select 'expired-' || n, 'nobody', to_timestamp(0), 0, 1, to_timestamp(0), 'x',
        to_timestamp(86400 * (1 + n % 100)), 0, 0, false, 'x', 'body' from generate_series(1, ${expired}) as n`)
    await pool.query(`create trigger note_sweep after delete on ${schema}.${table}
      referencing old table as gone for each statement execute function ${schema}.note_sweep()`)
  }
  const { rows } = await pool.query('select clock_timestamp() as now')

  return {
    schema,
    /** From the machine's monotonic time to the server's clock. */
    skew: new Date(rows[0]?.now).getTime() - monotonic(),

    /** Statements from here on are at this time of the replicas. */
    async setTime(ms: number): Promise<void> {
      await pool.query(`update ${schema}.present set ms = $1`, [ms])
    },

    /** In the order in which they ended. */
    async statements(): Promise<readonly Statement[]> {
      const { rows } = await pool.query(`select * from ${schema}.swept order by nth`)
      return rows.map((row) => ({
        table: String(row.tier),
        app: String(row.app),
        removed: Number(row.removed),
        at: Number(row.at),
        beganAt: new Date(row.began).getTime(),
        endedAt: new Date(row.ended).getTime(),
      }))
    },

    /** Keeps everybody from removing rows of a table, until the function given back is called. */
    async hold(table: string): Promise<() => Promise<void>> {
      const client = await pool.connect()
      await client.query('begin')
      await client.query(`lock table ${schema}.${table} in share mode`)
      return async () => {
        await client.query('rollback')
        client.release()
      }
    },

    /** Whose statement waits for a table; null when nobody's does. */
    async waitingOn(table: string): Promise<string | null> {
      const { rows } = await pool.query(
        `select application_name as app from pg_stat_activity
         where wait_event_type = 'Lock' and query like $1`,
        [`%delete from "${schema}"."${table}"%`],
      )
      return rows[0] === undefined ? null : String(rows[0].app)
    },

    /** Resolves when no statement of theirs is under way. */
    async quiet(app: string): Promise<void> {
      for (;;) {
        const { rows } = await pool.query(
          `select 1 from pg_stat_activity where application_name = $1 and state = 'active'`,
          [app],
        )
        if (rows.length === 0) return
        await wait(10)
      }
    },

    close: () => pool.end(),
  }
}
