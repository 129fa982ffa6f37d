import { randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Pool } from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { accountId } from '../../../../src/cli/import/rows/old-id.js'
import { importTerminal } from '../../../support/cli/import-terminal.js'
import { openHost, storedUser } from '../../../support/hosts/open-host.js'
import { onDatabase } from '../../../support/stores/postgres.js'

const postgresUrl = inject('postgresUrl')
const tenant = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const microsoft = `https://login.microsoftonline.com/${tenant}/v2.0`
const proved = new Date(Date.UTC(2024, 1, 29, 12))

/** Tables and columns that the statements of `@auth/pg-adapter` 1.11.3 (ISC licence) name. */
const tables = `
  create table users (id serial primary key, name text, email text, "emailVerified" timestamptz, image text);
  create table accounts (id serial primary key, "userId" integer not null, type text not null,
    provider text not null, "providerAccountId" text not null, refresh_token text, access_token text,
    expires_at bigint, id_token text, scope text, session_state text, token_type text);`

function idTokenOf(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'RS256' })}.${part(claims)}.c2lnbmF0dXJl`
}

/** Users as the adapter for PostgreSQL stores them. */
async function onPostgres() {
  const schema = `authjs_${randomUUID().slice(0, 8)}`
  await onDatabase(postgresUrl ?? '', (client) => client.query(`create schema ${schema}`))
  const url = new URL(postgresUrl ?? '')
  url.searchParams.set('options', `-c search_path=${schema}`)
  const pool = new Pool({ connectionString: url.href, max: 1 })
  onTestFinished(async () => {
    await pool.end()
    await onDatabase(postgresUrl ?? '', (client) => client.query(`drop schema ${schema} cascade`))
  })
  await pool.query(tables)
  const ids = new Map<string, string>()
  async function user(who: string, emailVerified: Date | null) {
    const { rows } = await pool.query(
      'insert into users (name, email, "emailVerified") values ($1, $2, $3) returning id',
      [who, `${who}@example.org`, emailVerified],
    )
    const id = String(rows[0].id)
    ids.set(who, id)
    return id
  }
  const link = (userId: string, provider: string, subject: string, idToken: string | null = null) =>
    pool.query(
      `insert into accounts ("userId", type, provider, "providerAccountId", id_token)
        values ($1, 'oidc', $2, $3, $4)`,
      [userId, provider, subject, idToken],
    )
  /** As Prisma calls the tables. */
  const rename = () =>
    pool.query('alter table users rename to "User"; alter table accounts rename to "Account"')
  return { url: url.href, ids, user, link, rename }
}

async function prepared(url: string) {
  const host = await openHost()
  const place = await importTerminal(host, { env: { POSTERN_SOURCE_URL: url } })
  async function report() {
    const text = await readFile(join(place.folder, 'postern-import-report.jsonl'), 'utf8')
    const lines = text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
    return lines.map(({ row, notCarried }) => [
      row,
      ...notCarried.map(({ code }: { readonly code: string }) => code),
    ])
  }
  async function identitiesOf(id: string) {
    const all = await host.auth.client.identities.list(accountId('client authjs', id))
    return all.map(({ provider, issuer, subject }) => [provider, issuer, subject]).toSorted()
  }
  return { host, place, report, identitiesOf }
}

describe.skipIf(postgresUrl === null)(
  `postern import authjs${postgresUrl === null ? ' (Postgres not found)' : ''}`,
  () => {
    it('carries users and identities, and names what stays behind', async () => {
      const { url, ids, user, link } = await onPostgres()
      const ada = await user('ada', proved)
      await link(ada, 'google', '1815')
      await link(ada, 'github', '1843')
      const claims = { tid: tenant, sub: 'the-sub', oid: 'the-oid' }
      await link(ada, 'microsoft-entra-id', 'the-sub', idTokenOf(claims))
      const linked = await user('linked', proved)
      await link(linked, 'azure-ad', 'the-sub')
      await link(linked, 'discord', '1')
      const grace = await user('grace', null)
      await link(grace, 'github', '1906')

      const { host, place, report, identitiesOf } = await prepared(url)
      const { code, out } = await place.run('authjs', '--batch', '2', '--json')
      expect([code, JSON.parse(out)]).toEqual([
        0,
        expect.objectContaining({ rows: 3, created: 3, partly: 2 }),
      ])
      expect(await report()).toEqual([
        [ids.get('linked'), 'provider', 'provider'],
        [ids.get('grace'), 'identity_unverified'],
      ])
      expect(await identitiesOf(ada)).toEqual([
        ['github', 'https://github.com/login/oauth', '1843'],
        ['google', 'https://accounts.google.com', '1815'],
        ['microsoft', microsoft, 'the-sub'],
      ])
      expect([await identitiesOf(linked), await identitiesOf(grace)]).toEqual([[], []])
      expect(await storedUser(host, 'client', 'ada@example.org')).toMatchObject({
        name: 'ada',
        emailVerifiedAt: proved.getTime(),
        passwordHash: null,
      })
      const { emailVerifiedAt } = await storedUser(host, 'client', 'grace@example.org')
      expect(emailVerifiedAt).toBeNull()
    })

    it('takes every address as verified where the host says so, in the tables of Prisma', async () => {
      const { url, user, link, rename } = await onPostgres()
      const grace = await user('grace', null)
      await link(grace, 'google', '1906')
      await rename()
      const { host, place, identitiesOf } = await prepared(url)
      expect((await place.run('authjs', '--verified')).code).toBe(0)
      expect(await identitiesOf(grace)).toEqual([['google', 'https://accounts.google.com', '1906']])
      const { emailVerifiedAt } = await storedUser(host, 'client', 'grace@example.org')
      expect(emailVerifiedAt).not.toBeNull()
    })
  },
)

it('postern import authjs reads user and account, as Drizzle calls them', async () => {
  const path = join(tmpdir(), `authjs-${randomUUID()}.db`)
  onTestFinished(() => rm(path, { force: true }))
  const database = new DatabaseSync(path)
  database.exec(`
    create table user (id text primary key, name text, email text, emailVerified integer, image text);
    create table account (userId text, type text, provider text, providerAccountId text, id_token text);
    insert into user values ('cku1', 'Ada', 'ada@example.org', ${proved.getTime()}, null);
    insert into account values ('cku1', 'oauth', 'apple', '000.aa', null)`)
  database.close()
  const { place, identitiesOf } = await prepared(`sqlite:${path}`)
  expect((await place.run('authjs')).code).toBe(0)
  expect(await identitiesOf('cku1')).toEqual([['apple', 'https://appleid.apple.com', '000.aa']])
})

it('postern import authjs says which tables it needs', async () => {
  const path = join(tmpdir(), `authjs-${randomUUID()}.db`)
  onTestFinished(() => rm(path, { force: true }))
  const database = new DatabaseSync(path)
  database.exec('create table users (id text, email text); create table accounts (id text)')
  database.close()
  const { place } = await prepared(`sqlite:${path}`)
  const { code, err } = await place.run('authjs')
  expect([code, err]).toEqual([2, expect.stringContaining('users and accounts')])
})
