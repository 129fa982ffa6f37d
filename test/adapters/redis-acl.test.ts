import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import type { RedisClient } from '../../adapters/redis/client.js'
import { redis } from '../../adapters/redis/index.js'
import type { CollectionSpec, Doc } from '../../src/ports/store.js'
import { type RedisServer, spawnRedis } from '../support/stores/redis.js'
import { clusterClients, singleClients, withServer } from '../support/stores/redis-clients.js'

const installed = inject('redisInstalled')
const title = installed
  ? 'the user of the redis page'
  : 'the user of the redis page (no redis-server found)'

const page = readFileSync(new URL('../../docs/redis.md', import.meta.url), 'utf8')
const command = /^redis-cli ACL SETUSER auth on '>…' '(\S+)' ((?:['+\w|]| |\\\n)+)/m.exec(page)
const pattern = command?.[1] ?? ''
const rights = command?.[2]?.match(/\+[\w|]+/g) ?? []
const keyPrefix = 'auth:'

interface Person extends Doc {
  readonly email: string
  readonly team: string
}

function people(name: string, indexes: CollectionSpec<Person>['indexes']): CollectionSpec<Person> {
  const text = { kind: 'text' } as const
  return { name, fields: { email: text, team: text }, indexes, expires: 'fixed' }
}

const ann: Person = { id: 'a', email: 'a@example.test', team: 'x', expiresAt: 1000 }
const bea: Person = { id: 'b', email: 'b@example.test', team: 'x', expiresAt: 2000 }
let collections = 0

/** Whatever a backend is asked, each answer looked at. */
async function useAll(client: RedisClient): Promise<void> {
  const { store, denylist, counter, lease } = redis(client, { keyPrefix })
  collections += 1
  const name = `people_${collections}`
  await store.prepare([people(name, [])])
  await store.collection(people(name, [])).insert(ann)
  const spec = people(name, [{ on: ['email'], unique: true }, { on: ['team'] }])
  await store.prepare([spec])
  const docs = store.collection(spec)
  expect(await docs.insert(bea)).toBe(true)
  expect(await docs.get('a')).toEqual(ann)
  expect(await docs.find({ email: bea.email }, { limit: 1 })).toEqual([bea])
  expect(await docs.find({ team: 'x' }, { limit: 2 })).toEqual([ann, bea])
  expect(await docs.find({ team: 'x' }, { limit: 2, newestFirst: true })).toEqual([bea, ann])
  expect(await docs.update('b', { team: 'x' }, { email: ann.email })).toBeNull()
  expect(await docs.update('b', { team: 'x' }, { team: 'y' })).toEqual({ ...bea, team: 'y' })
  expect(await docs.due(1000, 5)).toEqual([ann])
  expect(await docs.sweep(1000, 5)).toEqual({ removed: 1, left: 0 })
  expect(await docs.take('b')).toEqual({ ...bea, team: 'y' })

  const entry = { id: name, reason: 'revoked', expiresAt: 1000 } as const
  await denylist.put([entry])
  expect(await denylist.find([name])).toEqual([entry])
  expect(await denylist.sweep(1000, 5)).toBe(1)
  expect(await counter.hit(name, 1000, 5, 0)).toMatchObject({ count: 1 })
  await counter.forgive(name, 1)
  await counter.forgive(name)
  expect(await counter.sweep(1000, 5)).toBe(0)
  expect(await lease.replace(name, null, { owner: 'a', renewal: 1 })).toBe(true)
  expect(await lease.read(name)).toEqual({ owner: 'a', renewal: 1 })
}

describe.skipIf(!installed)(title, () => {
  let single: RedisServer
  /** A cluster of one, which has all slots. */
  let node: RedisServer
  beforeAll(async () => {
    single = await spawnRedis()
    node = await spawnRedis({ 'cluster-enabled': 'yes', 'cluster-announce-ip': '127.0.0.1' })
    await withServer(node.url, async (client) => {
      await client.cluster('ADDSLOTSRANGE', 0, 16_383)
      while (!String(await client.cluster('INFO')).includes('cluster_state:ok'));
    })
  })
  afterAll(async () => {
    await single.remove()
    await node.remove()
  })
  const opened: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of opened.splice(0)) await close()
  })

  /** Where that user, without one of its rights, logs in. */
  async function userOn(server: RedisServer, without = ''): Promise<string> {
    await withServer(server.url, async (client) => {
      const given = rights.filter((right) => right !== without)
      await client.acl('SETUSER', 'auth', 'reset', 'on', '>secret', pattern, ...given)
    })
    const url = new URL(server.url)
    url.username = 'auth'
    url.password = 'secret'
    return url.href
  }

  it.each(Object.entries(singleClients))('may do all it needs, by %s', async (_name, open) => {
    const { client, close } = await open(await userOn(single))
    opened.push(close)
    await useAll(client)
  })

  it.each(Object.entries(clusterClients))('may do all it needs, by %s', async (_name, open) => {
    await userOn(node)
    const login = { username: 'auth', password: 'secret' }
    const { client, close } = await open([node.port], new Map(), login)
    opened.push(close)
    await useAll(client)
  })

  it('may touch no key beyond its prefix, and run no other command', async () => {
    const url = await userOn(single)
    await withServer(url, async (client) => {
      await expect(client.eval('return 1', 1, 'other')).rejects.toThrow('NOPERM')
      await expect(client.eval('return 1', 1, '{other:x}:d:1')).rejects.toThrow('NOPERM')
      const commands = ['keys *', 'get {auth:x}:s', 'config get *', 'acl list', 'flushall']
      for (const [name = '', ...args] of commands.map((text) => text.split(' '))) {
        await expect(client.call(name, args)).rejects.toThrow('NOPERM')
      }
    })
  })

  it.each(rights.filter((right) => !right.startsWith('+cluster')))(
    'cannot do without %s',
    async (right) => {
      const { client, close } = await singleClients.ioredis(await userOn(single, right))
      opened.push(close)
      // A server that knows the scripts is sent no `EVAL`.
      await withServer(single.url, (admin) => admin.script('FLUSH'))
      await expect(useAll(client)).rejects.toThrow(
        /NOPERM|can't run this command|INFO memory failed/,
      )
    },
  )
})
