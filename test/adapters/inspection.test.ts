import { createPool } from 'mariadb'
import { Pool } from 'pg'
import { describe, expect, inject, it } from 'vitest'
import { mariadb } from '../../adapters/mariadb/index.js'
import { memory } from '../../adapters/memory/index.js'
import { mongo } from '../../adapters/mongo/index.js'
import { postgres } from '../../adapters/postgres/index.js'
import { redis } from '../../adapters/redis/index.js'
import { checkedPorts } from '../../adapters/stores/index.js'
import { checkedStore } from '../../src/stores/checked-store.js'
import { splitStore } from '../../src/stores/split-store.js'
import { mongoDatabases, mongoTitle } from '../support/stores/mongo-databases.js'
import { spawnRedis } from '../support/stores/redis.js'
import { newPrefix, singleClients } from '../support/stores/redis-clients.js'
import { spareSchemas } from '../support/stores/spare-schemas.js'

/** All of them run on this machine, whose clock they read. */
async function expectClock(inspect: () => Promise<readonly { readonly now: number | null }[]>) {
  const before = Date.now()
  const [inspection] = await inspect()
  const after = Date.now()
  const now = inspection?.now ?? 0
  expect(Number.isSafeInteger(now)).toBe(true)
  expect(now).toBeGreaterThanOrEqual(before - 2)
  expect(now).toBeLessThanOrEqual(after + 2)
}

const mariadbUrl = inject('mariadbUrl')
const mongoServer = inject('mongo')

describe('the clock of a database', () => {
  it('is that of Postgres', async () => {
    const pool = new Pool({ connectionString: inject('postgresUrl') ?? '' })
    const { store } = postgres(pool, { schema: spareSchemas.take() })
    await expectClock(async () => store.inspect?.([]) ?? [])
    await pool.end()
  })

  it.skipIf(!mariadbUrl)('is that of MariaDB', async () => {
    const pool = createPool(mariadbUrl ?? '')
    const { store } = mariadb(pool)
    await expectClock(async () => store.inspect?.([]) ?? [])
    await pool.end()
  })

  it('is that of Redis, by each of its ports', async () => {
    const server = await spawnRedis({ appendonly: 'yes' })
    const { client, close } = await singleClients['node-redis'](server.url)
    const { store, ...ports } = redis(client, { keyPrefix: newPrefix() })
    await expectClock(async () => store.inspect?.([]) ?? [])
    for (const port of Object.values(ports)) {
      if (typeof port === 'function') continue
      await expectClock(async () => port?.inspect?.() ?? [])
    }
    await close()
    await server.remove()
  })
})

describe.skipIf(!mongoServer)(mongoTitle('the clock of MongoDB'), () => {
  const { database } = mongoDatabases()

  it('is the one of the server that answers', async () => {
    const { store } = mongo({ db: database() })
    await expectClock(async () => store.inspect?.([]) ?? [])
  })
})

describe('what wraps a store hands its inspection on', () => {
  const told = [{ name: 'one', now: 1, problems: [] }]
  const inspect = async () => told
  const { store, denylist, lease, counter } = memory()
  const inspected = {
    store: { ...store, inspect },
    denylist: { ...denylist, inspect },
    lease: { ...lease, inspect },
    counter: { ...counter, inspect },
  }

  it('checkedStore and checkedPorts', async () => {
    expect(await checkedStore(inspected.store).inspect?.([])).toEqual(told)
    expect('inspect' in checkedStore(store)).toBe(false)
    const ports = checkedPorts(inspected)
    for (const port of [ports.denylist, ports.lease, ports.counter]) {
      expect(await port.inspect?.()).toEqual(told)
    }
    const plain = checkedPorts({ denylist, lease, counter })
    for (const port of Object.values(plain)) expect('inspect' in port).toBe(false)
  })

  it('splitStore, of each of its stores', async () => {
    const overrides = {
      challenges: { ...store, inspect: async () => [{ ...told[0], name: 'two' }] },
    }
    const split = splitStore({ default: inspected.store, overrides } as never)
    const all = await split.inspect?.([])
    expect(all?.map(({ name }) => name)).toEqual(['one', 'two'])
    const half = splitStore({ default: store, overrides: { challenges: inspected.store } })
    expect(await half.inspect?.([])).toEqual(told)
  })

  it('and each store of a splitStore is asked what would refuse the removals of its own', async () => {
    const holding = (own: string) => ({
      ...memory().store,
      heldBy: async (removals: readonly { readonly collection: string }[]) =>
        removals.map(({ collection }) => `${own}: ${collection}`),
    })
    const removals = ['client_users', 'client_challenges', 'client_sessions'].map((collection) => ({
      collection,
      field: 'id',
      value: 'a',
    }))
    const overrides = { challenges: checkedStore(holding('two')) }
    const split = splitStore({ default: holding('one'), overrides })
    expect(await split.heldBy?.(removals)).toEqual([
      'one: client_users',
      'one: client_sessions',
      'two: client_challenges',
    ])
    const half = splitStore({ default: store, overrides: { challenges: holding('two') } })
    expect(await half.heldBy?.(removals)).toEqual(['two: client_challenges'])
  })
})
