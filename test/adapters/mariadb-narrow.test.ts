import { randomBytes } from 'node:crypto'
import { createPool, type Pool } from 'mariadb'
import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  inject,
  it,
  onTestFinished,
} from 'vitest'
import { type MariadbPool, type MariadbStatement, mariadb } from '../../adapters/mariadb/index.js'
import { TextTooLongError } from '../../adapters/stores/index.js'
import type { CollectionSpec } from '../../src/ports/store.js'

interface Pet {
  readonly id: string
  readonly nick: string
  readonly owner: string | null
  readonly expiresAt: number | null
}

const before: CollectionSpec<Pet> = {
  name: 'pets',
  fields: {
    nick: { kind: 'text', default: 'none `yet`' },
    owner: { kind: 'text', nullable: true },
  },
  indexes: [],
  expires: 'never',
}
const after: CollectionSpec<Pet> = {
  ...before,
  indexes: [{ on: ['nick'], unique: true }, { on: ['owner', 'nick'] }],
}

/** Exactly 255 UTF-16 code units. */
const longest = {
  letters: 'x'.repeat(255),
  'letters of two units': `${'😀'.repeat(127)}x`,
  'spaces at the end': `x${' '.repeat(254)}`,
} as const
const tooLong = {
  letters: 'x'.repeat(256),
  'letters of two units': '😀'.repeat(128),
  'spaces at the end': `x${' '.repeat(255)}`,
} as const

const url = inject('mariadbUrl')
const title = url ? 'mariadb' : 'mariadb (MariaDB not found)'

describe.skipIf(!url)(`${title}: an index comes to name a text that has a column already`, () => {
  const pool = createPool(url ?? '')
  // What a host may have set, and what must not matter.
  const careless = createPool(
    `${url}?initSql=${encodeURIComponent("set sql_mode = '', check_constraint_checks = 0")}`,
  )
  afterAll(async () => {
    await pool.end()
    await careless.end()
  })

  const tablePrefix = `n${randomBytes(4).toString('hex')}_`
  const table = `${tablePrefix}pets`
  const on = (client: MariadbPool) => mariadb(client, { tablePrefix }).store
  const store = on(pool)
  const made = async (): Promise<string> => {
    const [shown] = await pool.query(`show create table ${table}`)
    return shown['Create Table']
  }
  /** What the database says of a table that had the indexes from its first day. */
  let madeAtOnce = ''
  beforeAll(async () => {
    await store.prepare([after])
    madeAtOnce = await made()
    await pool.query(`drop table ${table}`)
  })
  afterEach(() => pool.query(`drop table if exists ${table}`))

  /** The table as the version before left it. */
  async function begin(rows: readonly Pet[]): Promise<void> {
    await store.prepare([before])
    for (const row of rows) await store.collection(before).insert(row)
  }

  const pet = (id: string, nick: string, owner: string | null = null): Pet => {
    return { id, nick, owner, expiresAt: null }
  }

  it.each([
    ['as the driver makes them', pool],
    ['neither strict nor checking', careless],
  ])('the column becomes what a new one would be, on sessions %s', async (_, client) => {
    const rows = Object.values(longest).map((nick, at) =>
      pet(`${at}`, nick, at === 0 ? null : nick),
    )
    await begin(rows)
    const given = on(client)
    const plan = (await given.plan?.([after])) ?? []
    expect(plan.map(({ name, blocks }) => [name.replace(table, 'pets'), blocks])).toEqual([
      ['pets/narrow/nick/1', null],
      ['pets/narrow/nick/2', null],
      ['pets/narrow/owner/1', null],
      ['pets/narrow/owner/2', null],
      [`pets/index/${table}_nick_key`, null],
      [`pets/index/${table}_owner_nick_idx`, null],
    ])
    await given.prepare([after])
    expect(await made()).toBe(madeAtOnce)
    expect(await given.plan?.([after])).toEqual([])
    const pets = store.collection(after)
    for (const row of rows) {
      expect(await pets.find({ nick: row.nick }, { limit: 9 })).toEqual([row])
    }
    expect(await pets.insert(pet('9', longest['spaces at the end']))).toBe(false)
  })

  it('a table that was given another character set keeps texts apart as before', async () => {
    await begin([])
    await pool.query(`alter table ${table} default character set latin1`)
    await store.prepare([after])
    expect(await made()).toMatch(/`nick` varchar\(255\) .*COLLATE utf8mb4_nopad_bin NOT NULL/)
    expect(await store.plan?.([after])).toEqual([])
  })

  describe.each(Object.entries(tooLong))('a text that is too long: %s', (_, nick) => {
    it.each([
      ['as the driver makes them', pool],
      ['neither strict nor checking', careless],
    ])('is refused before anything is changed, on sessions %s', async (__, client) => {
      const row = pet('a', 'short', nick)
      await begin([row])
      const given = on(client)
      const other: CollectionSpec<Pet> = { ...before, name: 'a_table_before' }
      const was = await made()
      const message =
        `mariadb: \`${table}\`.\`owner\` holds a text of more than 255 UTF-16 code units, and an index of collection ` +
        '"pets" now names "owner"; shorten these texts and migrate again: '
      const refused: unknown = await given.prepare([other, after]).catch((error) => error)
      expect(refused).toBeInstanceOf(TextTooLongError)
      expect(refused).toMatchObject({
        name: 'TextTooLongError',
        code: 'stored_text_too_long_for_index',
        message: expect.stringContaining(message),
      })
      await expect(given.plan?.([other, after])).rejects.toThrow(message)
      expect(await made()).toBe(was)
      expect(await store.collection(before).get('a')).toEqual(row)
      await expect(store.collection(other).get('a')).rejects.toThrow('is missing')

      // The remedy that the message names.
      const [, find] = String(refused).split('migrate again: ')
      expect(await pool.query(String(find))).toEqual([{ id: 'a' }])
      await store.collection(before).update('a', { nick: 'short' }, { owner: 'short' })
      await store.prepare([after])
      expect(await made()).toBe(madeAtOnce)
    })
  })

  /** Does `work` before the n-th statement that changes something, counted from 0. */
  function interrupted(
    nth: number,
    work: () => Promise<void>,
    client: Pool = pool,
  ): MariadbPool & { count(): number } {
    let changes = 0
    const before = async ({ sql }: MariadbStatement) => {
      if (!/\b(alter|create|drop) /.test(sql)) return
      changes += 1
      if (changes === nth + 1) await work()
    }
    return {
      count: () => changes,
      async query(statement) {
        await before(statement)
        return client.query(statement)
      },
      execute: (statement, values) => client.execute(statement, values),
    }
  }

  const places = [0, 1, 2, 3, 4, 5]

  it.each(places)('a process that dies before statement %i: the next goes on', async (nth) => {
    await begin([pet('a', 'x', 'y')])
    const dead = new Error('dead')
    let isDead = false
    const dying = interrupted(nth, async () => {
      isDead = true
      throw dead
    })
    const whileAlive: MariadbPool = {
      query: async (statement) => (isDead ? Promise.reject(dead) : dying.query(statement)),
      execute: async (...call) => (isDead ? Promise.reject(dead) : dying.execute(...call)),
    }
    await expect(on(whileAlive).prepare([after])).rejects.toThrow('dead')
    await store.prepare([after])
    expect(await made()).toBe(madeAtOnce)
    expect(await store.collection(after).find({ nick: 'x' }, { limit: 1 })).toHaveLength(1)
  })

  it.each(places)('a process that does all of it before statement %i of another', async (nth) => {
    await begin([pet('a', 'x', 'y')])
    const slow = interrupted(nth, () => store.prepare([after]))
    await on(slow).prepare([after])
    expect(slow.count()).toBeGreaterThanOrEqual(places.length)
    expect(await made()).toBe(madeAtOnce)
  })

  it('eight replicas at once', async () => {
    await begin([pet('a', 'x', 'y')])
    const pools: Pool[] = Array.from({ length: 8 }, () =>
      createPool({ ...connectionOf(url ?? ''), connectionLimit: 1 }),
    )
    onTestFinished(async () => {
      for (const one of pools) await one.end()
    })
    await Promise.all(pools.map((one) => on(one).prepare([after])))
    expect(await made()).toBe(madeAtOnce)
  })

  const late = [
    { client: pool, sessions: 'as the driver makes them' },
    { client: careless, sessions: 'neither strict nor checking' },
  ].flatMap((given) => [0, 1].map((nth) => ({ ...given, nth })))

  it.each(late)(
    'a text that another process writes before statement $nth is never cut, on sessions $sessions',
    async ({ client, nth }) => {
      await begin([pet('a', 'short')])
      const long = pet('b', 'other', tooLong['spaces at the end'])
      let isWritten = false
      const slow = interrupted(
        2 + nth,
        async () => {
          isWritten = await store
            .collection(before)
            .insert(long)
            .catch(() => false)
        },
        client,
      )
      const outcome = await on(slow)
        .prepare([after])
        .then(
          () => 'done',
          (error: Error) => error.name,
        )
      // Until the constraint is there it can be written; from then on it cannot.
      expect([isWritten, outcome]).toEqual(nth === 0 ? [true, 'TextTooLongError'] : [false, 'done'])
      expect(await store.collection(before).get('b')).toEqual(isWritten ? long : null)
    },
  )

  it.each([
    ['a kind', { ...after.fields, nick: { kind: 'integer' } }, '"mediumtext not null"'],
    ['what may be null', { ...after.fields, owner: { kind: 'text' } }, '"mediumtext"'],
  ] as const)('a change of %s is refused as ever', async (_, fields, was) => {
    await begin([])
    const first = await made()
    await expect(store.prepare([{ ...after, fields }])).rejects.toThrow(`was created as ${was}`)
    expect(await made()).toBe(first)
  })

  it('a column whose index is gone is not made wider', async () => {
    await begin([])
    await store.prepare([after])
    const was = await made()
    await expect(store.prepare([before])).rejects.toThrow('was created as "varchar(255) not null"')
    expect(await made()).toBe(was)
  })
})

function connectionOf(url: string) {
  const { hostname, port, username, password, pathname } = new URL(url)
  return {
    host: hostname,
    port: Number(port || 3306),
    user: username,
    password: decodeURIComponent(password),
    database: pathname.slice(1),
  }
}
