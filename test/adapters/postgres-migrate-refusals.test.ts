import type { Client } from 'pg'
import { describe, expect, inject, it } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import { onDatabase } from '../support/stores/postgres.js'
import { migrations, looseSpec as spec } from '../support/stores/postgres-migrations.js'
import { schemasOf } from '../support/stores/postgres-schemas.js'

const url = inject('postgresUrl')
const title = url ? 'postgres migrations' : 'postgres migrations (Postgres not found)'

describe.skipIf(!url)(`${title} refuse`, () => {
  const { pool, schema } = schemasOf(url)
  const { prepare, journal } = migrations(pool)

  it.each([
    ['another kind', spec({ level: { kind: 'text' } }), '"bigint not null"', '"text not null"'],
    [
      'another nullability',
      spec({ level: { kind: 'integer', nullable: true } }),
      '"bigint not null"',
      '"bigint"',
    ],
  ])('a field that was created with %s, before it changes anything', async (...args) => {
    const [, changed, was, wanted] = args
    const name = schema()
    await prepare(name, spec({ level: { kind: 'integer' } }))
    const before = await journal(name)
    const more = spec({ ...changed.fields, extra: { kind: 'text', nullable: true } })
    await expect(prepare(name, more)).rejects.toThrow(
      `postgres: "${name}"."users"."level" was created as ${was}, but collection "users" now ` +
        `declares "level" as ${wanted}; give the field a new name instead`,
    )
    expect(await journal(name)).toEqual(before)
  })

  it('a new field that rows already stored could not have', async () => {
    const name = schema()
    await prepare(name, spec({}))
    await pool.query(`insert into ${name}.users (id) values ('a')`)
    const wanting = spec({ level: { kind: 'integer' } })
    await expect(prepare(name, wanting)).rejects.toThrow(
      'postgres: migration step "users/column/level" failed: column "level" of relation "users" ' +
        'contains null values',
    )
    expect(await journal(name)).not.toContain('users/column/level')
    await prepare(name, spec({ level: { kind: 'integer', default: 0 } }))
    expect(await journal(name)).toContain('users/column/level')
  })

  it('a unique index that rows already stored would break', async () => {
    const name = schema()
    await prepare(name, spec({ email: { kind: 'text' } }))
    await pool.query(`insert into ${name}.users (id, email) values ('a', 'x'), ('b', 'x')`)
    const unique = { indexes: [{ on: ['email'], unique: true }] } as const
    await expect(prepare(name, spec({ email: { kind: 'text' } }, unique))).rejects.toThrow(
      'postgres: migration step "users/unique/email" failed: could not create unique index',
    )
  })

  it('a table of that name that somebody else made', async () => {
    const name = schema()
    await pool.query(`create schema ${name}`)
    await pool.query(`create table ${name}.users (id text not null)`)
    await expect(prepare(name, spec({}))).rejects.toThrow(
      'postgres: migration step "users/table" failed: relation "users" already exists',
    )
  })

  it('a role that may not create the schema, and say what makes it', async () => {
    const name = schema()
    await pool.query(`create role ${name}_app login`)
    try {
      await onDatabase(url ?? '', async (client: Client) => {
        await client.query(`set role ${name}_app`)
        await expect(postgres(client, { schema: name }).store.prepare([])).rejects.toThrow(
          `run: create schema "${name}" authorization <this role>`,
        )
      })
    } finally {
      await pool.query(`drop role ${name}_app`)
    }
  })

  it('tells when a column was dropped by hand', async () => {
    const name = schema()
    await prepare(name, spec({ level: { kind: 'integer' } }))
    await pool.query(`alter table ${name}.users drop column level`)
    await expect(prepare(name, spec({ level: { kind: 'integer' } }))).rejects.toThrow(
      `postgres: "${name}"."users"."level" was created by a migration and is gone; restore it`,
    )
  })
})
