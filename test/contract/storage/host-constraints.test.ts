import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { createPool } from 'mariadb'
import { Pool } from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { mariadb } from '../../../adapters/mariadb/index.js'
import { postgres } from '../../../adapters/postgres/index.js'
import { sqlite } from '../../../adapters/sqlite/index.js'
import type { Backend } from '../../../src/ports/backend.js'
import { sample, sampleSpec } from '../../../src/testing/shared/sample.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { openHost } from '../../support/hosts/open-host.js'
import { signedInPerson } from '../../support/people/people.js'

/** A database that the library shares with the tables of a host. */
interface Shared {
  readonly backend: Backend
  /** Carries out statements of the host, in which `@name` stands for a table of the library. */
  run(statements: string): Promise<unknown>
}

const databases = {
  async postgres(): Promise<Shared> {
    const schema = `shared_${randomBytes(6).toString('hex')}`
    const pool = new Pool({ connectionString: inject('postgresUrl') ?? '', max: 4 })
    onTestFinished(async () => {
      await pool.query(`drop schema if exists ${schema} cascade`)
      await pool.end()
    })
    const named = (text: string) => text.replaceAll('@', `${schema}.`)
    return { backend: postgres(pool, { schema }), run: (text) => pool.query(named(text)) }
  },
  async mariadb(): Promise<Shared> {
    const url = new URL(inject('mariadbUrl') ?? '')
    const database = `shared_${randomBytes(6).toString('hex')}`
    const first = createPool(url.href)
    await first.query(`create database ${database}`)
    url.pathname = `/${database}`
    const pool = createPool(url.href)
    onTestFinished(async () => {
      await pool.end()
      await first.query(`drop database ${database}`)
      await first.end()
    })
    const run = async (text: string) => {
      for (const one of text.replaceAll('@', '').split(';\n')) await pool.query(one)
    }
    return { backend: mariadb(pool), run }
  },
  async sqlite(): Promise<Shared> {
    const database = new DatabaseSync(':memory:')
    const run = async (text: string) => database.exec(text.replaceAll('@', ''))
    return { backend: sqlite(database), run }
  },
}
type Name = keyof typeof databases

const isThere = { postgres: inject('postgresUrl'), mariadb: inject('mariadbUrl'), sqlite: true }

async function sharedHost(name: Name) {
  const shared = await databases[name]()
  return { ...shared, host: await openHost({ backend: shared.backend }) }
}

const names = 'create table names (name varchar(255) primary key)'
const signal =
  "create trigger host_guard before update on client_users for each row\nif new.name = 'Refused' then signal sqlstate '45000' set message_text = 'row of ada'; end if"
const raise = `create function @host_guard() returns trigger language plpgsql as
  $$ begin raise exception 'row of %', new.email; end $$;
  create trigger t before update of name on @client_users for each row execute function @host_guard()`

/** What a host may have put there, and what the log then tells of a change of a name to "Refused". */
const refused: readonly (readonly [Name, string, string, Readonly<Record<string, string>>])[] = [
  [
    'postgres',
    'check',
    "alter table @client_users add constraint host_check check (name <> 'Refused')",
    { code: '23514', constraint: 'host_check', table: 'client_users' },
  ],
  ['postgres', 'trigger', raise, { code: 'P0001', raisedBy: 'host_guard' }],
  [
    'postgres',
    'foreign key',
    `create table @${names.slice(13)}; insert into @names select name from @client_users;
     alter table @client_users add constraint host_fkey foreign key (name) references @names (name)`,
    { code: '23503', constraint: 'host_fkey', table: 'client_users' },
  ],
  [
    'mariadb',
    'check',
    "alter table client_users add constraint host_check check (name <> 'Refused')",
    { code: 'ER_CONSTRAINT_FAILED', constraint: 'host_check', table: 'client_users' },
  ],
  ['mariadb', 'trigger', signal, { code: 'ER_SIGNAL_EXCEPTION' }],
  [
    'sqlite',
    'trigger',
    `create trigger host_guard before update of name on client_users begin
     select raise(abort, 'row of ada'); end`,
    { code: 'ERR_SQLITE_ERROR', constraint: 'TRIGGER' },
  ],
]

describe('what of the host refuses a write', () => {
  it.skipIf(!isThere.postgres || !isThere.mariadb).each(refused)(
    '%s, a %s: the log names it, and the caller hears nothing of it',
    async (name, _, statements, told) => {
      const { host, run } = await sharedHost(name)
      const { bearer } = await signedInPerson(host, 'client')
      await run(statements)
      const body = { name: 'Refused' }
      const reply = await host.send('PATCH', '/v1/auth/client/me', { bearer, body })
      expectProblem(reply, 503, 'service_unavailable')
      expect(JSON.stringify(reply)).not.toMatch(/host_|Refused|trigger/i)
      const lines = host.logger.lines.filter(({ message }) => message.includes('client_users'))
      expect(lines).toMatchObject([
        { message: 'the store failed: client_users.update', fields: told },
      ])
      expect(JSON.stringify(lines)).not.toMatch(/Refused|row of|@/)
    },
  )
})

const idType = {
  postgres: 'text collate "POSIX"',
  mariadb: 'varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin',
  sqlite: 'text',
}
/** Tables of the host that refer to an account, and to its sessions. `name` is that of the key, as the message has it. */
const referring = (name: Name) => `
  create table @orders (user_id ${idType[name]}, constraint orders_key foreign key (user_id) references @client_users (id));
create table @drafts (user_id ${idType[name]}, constraint drafts_key foreign key (user_id) references @client_users (id) on delete cascade);
create table @notes (user_id ${idType[name]}, constraint notes_key foreign key (user_id) references @client_users (id) on delete set null);
create table @visits (session_id ${idType[name]}, constraint visits_key foreign key (session_id) references @client_sessions (id) on delete restrict)`
const keyOf = { postgres: '(orders_key)', mariadb: '(orders_key)', sqlite: '(user_id)' }

describe.each(['postgres', 'mariadb', 'sqlite'] as const)(
  '%s: foreign keys of the host that restrict',
  (name) => {
    const on = isThere[name] ? it : it.skip

    on('are told by diagnose, and before a deletion that they would refuse begins', async () => {
      const { host, run } = await sharedHost(name)
      const who = await signedInPerson(host, 'client')
      const other = await signedInPerson(host, 'client')
      const isIn = async () => (await host.send('GET', '/v1/auth/client/me', who)).status === 200
      const deletion = () => host.auth.client.users.delete(who.id)
      await run(referring(name))
      const found = await host.auth.diagnose({ offline: true })
      const told = found.filter(({ check }) => check === 'database').map(({ problem }) => problem)
      expect(told.toSorted()).toEqual([
        expect.stringMatching(/^The foreign key .*orders.* refuses that a row of .*client_users/),
        expect.stringMatching(
          /^The foreign key .*visits.* refuses that a row of .*client_sessions/,
        ),
      ])

      await run(`insert into @orders values ('${who.id}')`)
      await expect(deletion()).rejects.toMatchObject({
        name: 'DeletionRefusedError',
        code: 'deletion_refused_by_foreign_keys',
        keys: [expect.stringContaining(keyOf[name])],
        message: expect.stringMatching(/orders.*"on delete cascade"/),
      })
      expect(await host.auth.client.users.get(who.id)).toMatchObject({ enabled: true })
      const noted = host.logger.lines.filter(({ message }) => message.startsWith('foreign keys of'))
      expect(noted).toMatchObject([{ fields: { detail: expect.stringContaining('orders') } }])
      const body = { currentPassword: who.password }
      const reply = await host.send('DELETE', '/v1/auth/client/me', { bearer: who.bearer, body })
      expectProblem(reply, 503, 'service_unavailable')
      expect(JSON.stringify(reply)).not.toMatch(/orders|foreign/)
      await run('delete from @orders')

      await run(`insert into @visits select id from @client_sessions where user_id = '${who.id}'`)
      await expect(deletion()).rejects.toMatchObject({ keys: [expect.stringContaining('visits')] })
      expect(await isIn()).toBe(true)

      await run(`insert into @drafts values ('${other.id}')`)
      expect(await host.auth.client.users.delete(other.id)).toBe(true)
      await run('delete from @visits')
      expect(await deletion()).toBe(true)
      expect(await isIn()).toBe(false)
    })
  },
)

describe.each(['postgres', 'mariadb'] as const)('%s: a column of the host', (name) => {
  const on = isThere[name] ? it : it.skip

  on(
    'that is required and has no default is told, and named where it refuses an account',
    async () => {
      const { host, run } = await sharedHost(name)
      await run(
        "alter table @client_users add column plan varchar(9) not null default 'free';\nalter table @client_users add column tenant int not null",
      )
      const problems = async () =>
        (await host.auth.diagnose({ offline: true }))
          .map(({ problem }) => problem)
          .filter((problem) => problem.startsWith('The column'))
      expect(await problems()).toEqual([
        expect.stringMatching(/^The column tenant of .*client_users/),
      ])
      const made = host.auth.client.users.create({ email: 'ada@example.org', name: 'Ada' })
      await expect(made).rejects.toMatchObject({ code: 'service_unavailable' })
      expect(host.logger.lines).toContainEqual(
        expect.objectContaining({
          message: 'the store failed: client_users.insert',
          fields: expect.objectContaining({ column: 'tenant' }),
        }),
      )
      await run('alter table @client_users alter column tenant set default 1')
      expect(await problems()).toEqual([])
      await host.auth.client.users.create({ email: 'ada@example.org', name: 'Ada' })
    },
  )
})

it.skipIf(!isThere.postgres)('a table that the role may not read holds nothing up', async () => {
  const name = `shared_${randomBytes(6).toString('hex')}`
  const pool = new Pool({ connectionString: inject('postgresUrl') ?? '', max: 1 })
  onTestFinished(() => pool.end())
  const { store } = postgres(pool, { schema: name })
  const spec = sampleSpec('never')
  await store.prepare([spec])
  await store.collection(spec).insert(sample('a', { expiresAt: null }))
  await pool.query(`create table ${name}.orders (id text references ${name}.${spec.name});
    insert into ${name}.orders values ('a'); create role ${name}; grant usage on schema ${name} to ${name};
    grant select on ${name}.${spec.name} to ${name}`)
  const held = async () => store.heldBy?.([{ collection: spec.name, field: 'id', value: 'a' }])
  expect(await held()).toEqual([`${name}.orders (orders_id_fkey)`])
  await pool.query(`set role ${name}`)
  expect(await held()).toEqual([])
  await pool.query(`reset role; drop schema ${name} cascade; drop role ${name}`)
})
