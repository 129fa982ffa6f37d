import { randomUUID, scryptSync } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createConnection } from 'mariadb'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { openSourceDatabase } from '../../../src/cli/import/databases/open-source-database.js'
import { importTerminal } from '../../support/cli/import-terminal.js'
import { openHost, outcomeOf, storedUser } from '../../support/hosts/open-host.js'
import { goodPassword } from '../../support/people/people.js'
import { onDatabase } from '../../support/stores/postgres.js'

const tag = scryptSync(goodPassword, 'seasalt', 32, { N: 16, r: 8, p: 1 }).toString('hex')
const scryptHash = `scrypt:16:8:1$seasalt$${tag}`
const options = { legacyHashes: { scrypt: true } }
const noon = Date.UTC(2024, 1, 29, 12)

/** An empty database of a kind, with a way to write into it. */
interface Kind {
  readonly name: string
  readonly isThere: boolean
  /** A name of a table is quoted like this. */
  readonly mark: string
  open(): Promise<{ readonly url: string; write(sql: string): Promise<unknown> }>
}

const unique = () => `old_${randomUUID().slice(0, 8)}`

const kinds: readonly Kind[] = [
  {
    ...{ name: 'Postgres', isThere: inject('postgresUrl') !== null, mark: '"' },
    async open() {
      const url = inject('postgresUrl') ?? ''
      const schema = unique()
      await onDatabase(url, (client) => client.query(`create schema ${schema}`))
      onTestFinished(async () => {
        await onDatabase(url, (client) => client.query(`drop schema ${schema} cascade`))
      })
      const own = new URL(url)
      own.searchParams.set('options', `-c search_path=${schema}`)
      const write = (sql: string) => onDatabase(own.href, (client) => client.query(sql))
      return { url: own.href, write }
    },
  },
  {
    ...{ name: 'MariaDB', isThere: inject('mariadbUrl') !== null, mark: '`' },
    async open() {
      const url = new URL(inject('mariadbUrl') ?? '')
      const name = unique()
      const { hostname: host, port, username: user } = url
      const to = async (sql: string, database?: string) => {
        const connection = await createConnection({
          host,
          port: Number(port),
          user,
          ...(database ? { database } : {}),
        })
        try {
          await connection.query(sql)
        } finally {
          await connection.end()
        }
      }
      await to(`create database ${name}`)
      onTestFinished(() => to(`drop database ${name}`))
      url.pathname = `/${name}`
      return { url: url.href, write: (sql) => to(sql, name) }
    },
  },
  {
    ...{ name: 'SQLite', isThere: true, mark: '"' },
    async open() {
      const path = join(tmpdir(), `${unique()}.db`)
      const database = new DatabaseSync(path)
      onTestFinished(async () => {
        database.close()
        await rm(path, { force: true })
      })
      return { url: `sqlite:${path}`, write: async (sql) => database.exec(sql) }
    },
  },
]

const args = ['table', '--table', 'Old users', '--key', 'uid']
const map =
  'id=uid,email=mail,name=Full name,passwordHash=pwd,emailVerifiedAt=seen,createdAt=made,enabled=active'

for (const kind of kinds) {
  describe.skipIf(!kind.isThere)(`postern import table on ${kind.name}`, () => {
    const named = (sql: string) => sql.replaceAll('"', kind.mark)

    async function filled(rows: number) {
      const host = await openHost(options)
      const { url, write } = await kind.open()
      await write(
        named(
          'create table "Old users" (uid integer primary key, mail varchar(100), "Full name" varchar(100), pwd varchar(200), seen timestamp null, made bigint, active boolean)',
        ),
      )
      const values = Array.from({ length: rows }, (_, at) => {
        const seen = at % 2 === 0 ? "'2024-02-29 12:00:00'" : 'null'
        return `(${at * 3 + 1}, 'user${at}@example.org', 'User "${at}"', '${scryptHash}', ${seen}, ${noon / 1000}, ${at % 5 === 4 ? 'false' : 'true'})`
      })
      await write(named('insert into "Old users" values ') + values.join(', '))
      const place = await importTerminal(host, { options, env: { POSTERN_SOURCE_URL: url } })
      return { host, place, write, url }
    }

    it('reads a table page by page, with times, flags and hashes', async () => {
      const { host, place } = await filled(23)
      const { code, out, err } = await place.run(...args, '--map', map, '--batch', '5', '--json')
      expect([code, err]).toEqual([0, expect.stringContaining('23 of 23 rows: 23 created')])
      expect(JSON.parse(out)).toMatchObject({ rows: 23, created: 23, skipped: 0 })
      expect(await storedUser(host, 'client', 'user0@example.org')).toMatchObject({
        ...{ name: 'User "0"', emailVerifiedAt: noon, createdAt: noon, enabled: true },
      })
      expect(await storedUser(host, 'client', 'user9@example.org')).toMatchObject({
        ...{ emailVerifiedAt: null, enabled: false },
      })
      const body = { email: 'user22@example.org', password: goodPassword }
      expect(outcomeOf(await host.send('POST', '/v1/auth/client/login', { body }))).toBe('200')
      const again = await place.run(...args, '--map', map, '--batch', '23', '--json')
      expect(JSON.parse(again.out)).toMatchObject({ rows: 23, created: 0, skipped: 23 })
    })

    it('refuses a key that cannot tell rows apart, and names that are not there', async () => {
      const { place, host } = await filled(4)
      const refusals: readonly (readonly [readonly string[], string])[] = [
        [['table', '--table', 'Old users', '--key', 'made'], 'no value twice'],
        [['table', '--table', 'Old users', '--key', 'seen'], 'must have a value in each row'],
        [['table', '--table', 'Old users'], 'no column id in Old users'],
        [['table', '--table', 'users', '--key', 'uid'], 'no table users'],
        [['table', '--table', 'x"; drop table "Old users', '--key', 'uid'], 'no table'],
      ]
      for (const [given, message] of refusals) {
        const { code, err } = await place.run(...given, '--map', map)
        expect([code, err]).toEqual([2, expect.stringContaining(message)])
      }
      const other = await place.run(...args, '--map', 'email=mail,name=nick')
      expect([other.code, other.err]).toEqual([
        2,
        expect.stringContaining('There is no column nick'),
      ])
      expect((await host.auth.client.users.list()).users).toEqual([])
    })

    it('cannot write into the database it reads', async () => {
      const { url } = await filled(1)
      const database = await openSourceDatabase({ env: { POSTERN_SOURCE_URL: url }, cwd: '/' })
      try {
        await expect(database.query(named('delete from "Old users"'))).rejects.toThrow(
          /read.?only/i,
        )
        expect(await database.query(named('select uid from "Old users"'))).toHaveLength(1)
        expect(database.name).not.toContain('@')
      } finally {
        await database.close()
      }
    })
  })
}

describe('the database that POSTERN_SOURCE_URL names', () => {
  it.each([
    ['', 'POSTERN_SOURCE_URL must be'],
    ['oracle://scott:tiger@localhost', 'POSTERN_SOURCE_URL must be'],
    ['sqlite:gone.db', 'There is no file'],
  ])('is refused without its password being shown: "%s"', async (url, message) => {
    const place = await importTerminal(await openHost(options), {
      env: { POSTERN_SOURCE_URL: url },
    })
    const { code, out, err } = await place.run(...args, '--map', map)
    expect([code, err]).toEqual([2, expect.stringContaining(message)])
    expect(out + err).not.toContain('tiger')
  })

  it('is a part outside that failed where it does not answer', async () => {
    const env = { POSTERN_SOURCE_URL: 'postgres://me:tiger@127.0.0.1:1/none' }
    const place = await importTerminal(await openHost(options), { env })
    const { code, out, err } = await place.run(...args, '--map', map)
    expect([code, out + err]).toEqual([3, expect.not.stringContaining('tiger')])
  })
})
