import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { redis } from '../../adapters/redis/index.js'
import { keysOf } from '../../adapters/redis/keys.js'
import { NotMigratedError } from '../../adapters/stores/index.js'
import type { CollectionSpec, Doc, FieldSpec } from '../../src/ports/store.js'
import { recordingRedis } from '../support/stores/recording-redis.js'
import {
  newPrefix,
  type OpenClient,
  removeKeys,
  singleClients,
} from '../support/stores/redis-clients.js'

const url = inject('redisUrl')
const title = url ? 'redis prepare' : 'redis prepare (Redis not found)'

interface Person extends Doc {
  readonly email: string
  readonly team: string
}

const text: FieldSpec = { kind: 'text' }

function spec(
  fields: { readonly email: FieldSpec; readonly team: FieldSpec },
  indexes: CollectionSpec<Person>['indexes'] = [],
): CollectionSpec<Person> {
  return { name: 'people', fields, indexes, expires: 'never' }
}

function person(id: string, changes: Partial<Person> = {}): Person {
  return { id, email: `${id}@example.test`, team: 'x', expiresAt: null, ...changes }
}

const plain = spec({ email: text, team: text })
const byTeam = spec({ email: text, team: text }, [{ on: ['team'] }])
const byEmail = spec({ email: text, team: text }, [{ on: ['email'], unique: true }])

describe.skipIf(!url)(title, () => {
  let open: OpenClient
  const prefixes: string[] = []
  beforeAll(async () => {
    open = await singleClients.ioredis(url ?? '')
  })
  afterAll(async () => {
    await open.close()
    for (const prefix of prefixes) await removeKeys(url ?? '', prefix)
  })

  /** Replicas over the same keys. */
  function place(): () => ReturnType<typeof redis> {
    const keyPrefix = newPrefix()
    prefixes.push(keyPrefix)
    return () => redis(open.client, { keyPrefix })
  }

  const ids = (docs: readonly Person[]) => docs.map(({ id }) => id)

  it('a new index has the documents that were there, entered by twenty replicas at once', async () => {
    const replica = place()
    const { store } = replica()
    await store.prepare([plain])
    const people = store.collection(plain)
    const names = Array.from({ length: 700 }, (_, at) => `p${1000 + at}`)
    await Promise.all(names.map((name) => people.insert(person(name))))
    await Promise.all(Array.from({ length: 20 }, () => replica().store.prepare([byTeam, byTeam])))
    const found = await replica().store.collection(byTeam).find({ team: 'x' }, { limit: 1000 })
    expect(ids(found)).toEqual(names)
  })

  it('what older replicas write while and after an index is built is in it', async () => {
    const replica = place()
    await replica().store.prepare([plain])
    const old = replica().store.collection(plain)
    await Promise.all(Array.from({ length: 300 }, (_, at) => old.insert(person(`p${at}`))))
    const writing = Promise.all(
      Array.from({ length: 300 }, async (_, at) => {
        if (at % 3 === 0) await old.take(`p${at}`)
        if (at % 3 === 1) await old.update(`p${at}`, { team: 'x' }, { team: 'y' })
        await old.insert(person(`q${at}`, { team: 'y' }))
      }),
    )
    await replica().store.prepare([byTeam])
    await writing
    await old.insert(person('late'))
    const people = replica().store.collection(byTeam)
    const numbers = Array.from({ length: 300 }, (_, at) => at)
    const kept = numbers.filter((at) => at % 3 === 2).map((at) => `p${at}`)
    const moved = numbers.filter((at) => at % 3 === 1).map((at) => `p${at}`)
    const added = numbers.map((at) => `q${at}`)
    const inTeam = async (team: string) => ids(await people.find({ team }, { limit: 1000 }))
    expect(await inTeam('x')).toEqual([...kept, 'late'].sort())
    expect(await inTeam('y')).toEqual([...moved, ...added].sort())
  })

  it('an older replica keeps a unique index it does not know', async () => {
    const replica = place()
    await replica().store.prepare([plain])
    const old = replica().store.collection(plain)
    await old.insert(person('a'))
    await replica().store.prepare([byEmail])
    expect(await old.insert(person('b', { email: person('a').email }))).toBe(false)
    await old.insert(person('c'))
    const people = replica().store.collection(byEmail)
    expect(ids(await people.find({ email: person('c').email }, { limit: 1 }))).toEqual(['c'])
    await old.take('c')
    expect(await people.insert(person('d', { email: person('c').email }))).toBe(true)
  })

  it('a denylist whose entries were evicted is none in which no session was ended', async () => {
    const keyPrefix = newPrefix()
    prefixes.push(keyPrefix)
    const { store, denylist } = redis(open.client, { keyPrefix })
    expect((await store.plan?.([]))?.map(({ name }) => name)).toContain('postern_denylist/marker')
    await store.prepare([])
    expect(await store.plan?.([])).toEqual([])
    expect(await denylist.find(['a'])).toEqual([])
    await denylist.put([{ id: 'a', reason: 'revoked', expiresAt: 1 }])
    expect(await denylist.find(['a'])).toMatchObject([{ id: 'a' }])
    await denylist.sweep(1, 10)
    expect(await denylist.find(['a'])).toEqual([])

    const raw = new Redis(url ?? '')
    onTestFinished(() => raw.disconnect())
    expect(await raw.del(keysOf('postern_denylist', { keyPrefix }).entries)).toBe(1)
    await expect(denylist.find(['a'])).rejects.toBeInstanceOf(NotMigratedError)
    await denylist.put([{ id: 'b', reason: 'revoked', expiresAt: 1 }])
    await expect(denylist.find(['b'])).rejects.toBeInstanceOf(NotMigratedError)
    await store.prepare([])
    expect(await denylist.find(['a', 'b'])).toMatchObject([{ id: 'b' }])
  })

  it('an index nobody built is no index without documents', async () => {
    const replica = place()
    await replica().store.prepare([plain])
    const people = replica().store.collection(byTeam)
    const lost = { name: 'NotMigratedError' }
    await expect(people.find({ team: 'x' }, { limit: 1 })).rejects.toBeInstanceOf(NotMigratedError)
    const unique = replica().store.collection(byEmail)
    await expect(unique.insert(person('a'))).rejects.toMatchObject(lost)
    await expect(unique.update('a', { team: 'x' }, { team: 'y' })).rejects.toMatchObject(lost)
    await expect(unique.find({ email: 'x' }, { limit: 1 })).rejects.toMatchObject(lost)
  })

  describe('a unique index that documents contradict', () => {
    const same = 'same@example.test'
    const clash = '"[abc]" and "[abc]"'
    const refused = (count: number, pairs: string) => {
      const what = 'documents of "people" are not unique by \\(email\\)'
      return new RegExp(`^redis: ${what}; ${count} too many: ${pairs}\\. Change`)
    }
    const lost = { name: 'NotMigratedError' }

    /** A collection in which `a`, `b` and `c` have one address, and a version that wants it unique. */
    async function clashing() {
      const replica = place()
      await replica().store.prepare([plain])
      const old = replica().store.collection(plain)
      for (const id of ['a', 'b', 'c']) await old.insert(person(id, { email: same }))
      await old.insert(person('d'))
      const prepare = () => replica().store.prepare([byEmail])
      const refusal = await prepare().catch((error: unknown) => error)
      expect(String(refusal).replace('Error: ', '')).toMatch(refused(2, `${clash}, ${clash}`))
      expect(String(refusal)).not.toContain(same)
      return { old, prepare, people: replica().store.collection(byEmail) }
    }

    it('is not used, and its documents go on as they are', async () => {
      const { old, people } = await clashing()
      for (const id of ['a', 'b', 'c']) {
        expect(await old.update(id, { team: 'x' }, { team: 'y' })).toMatchObject({ email: same })
        expect(await people.get(id)).toMatchObject({ team: 'y' })
      }
      await expect(people.find({ email: same }, { limit: 1 })).rejects.toMatchObject(lost)
      const { email } = person('d')
      await expect(people.find({ email }, { limit: 1 })).rejects.toMatchObject(lost)
    })

    it('lets no replica, old or new, add to them', async () => {
      const { old, people } = await clashing()
      for (const collection of [old, people]) {
        expect(await collection.insert(person('e', { email: same }))).toBe(false)
        expect(await collection.update('d', { team: 'x' }, { email: same })).toBeNull()
      }
    })

    it.each(['a', 'b', 'c'])('is finished once only %s has the value', async (left) => {
      const { old, prepare, people } = await clashing()
      const [changed = '', removed = ''] = ['a', 'b', 'c'].filter((id) => id !== left)
      await old.update(changed, { team: 'x' }, { email: 'other@example.test' })
      await expect(prepare()).rejects.toThrow(refused(1, clash))
      await old.take(removed)
      await prepare()
      expect(ids(await people.find({ email: same }, { limit: 2 }))).toEqual([left])
      const { email } = person('d')
      expect(ids(await people.find({ email }, { limit: 2 }))).toEqual(['d'])
      expect(await old.insert(person('e', { email: same }))).toBe(false)
      await old.take(left)
      expect(await old.insert(person('e', { email: same }))).toBe(true)
    })

    it('is never finished while there is one, whatever was written meanwhile', async () => {
      const added: boolean[] = []
      for (const id of ['a', 'b', 'c']) {
        const { old, prepare } = await clashing()
        await old.update(id, { team: 'x' }, { email: 'moved@example.test' })
        const isAdded = await old.insert(person('e', { email: same }))
        added.push(isAdded)
        await expect(prepare()).rejects.toThrow(refused(isAdded ? 2 : 1, '.*'))
      }
      // The one that the index has makes room for one more as it goes.
      expect(added.filter(Boolean)).toEqual([true])
    })
  })

  it.each([
    ['another kind', { kind: 'integer' }, '"text"', '"integer"'],
    ['null allowed', { kind: 'text', nullable: true }, '"text"', '"text, nullable"'],
  ] as const)(
    'a field that was prepared with another declaration (%s) is refused',
    async (...args) => {
      const [, team, was, is] = args
      const replica = place()
      await replica().store.prepare([plain])
      await expect(replica().store.prepare([spec({ email: text, team })])).rejects.toThrow(
        `redis: "team" of collection "people" was prepared as ${was}, but is now declared as ${is}; ` +
          'give the field a new name instead',
      )
    },
  )

  it('another default than the one documents are indexed by is refused', async () => {
    const replica = place()
    const withDefault = (value: string) => spec({ email: text, team: { ...text, default: value } })
    await replica().store.prepare([withDefault('x')])
    await replica().store.prepare([withDefault('x'), plain])
    await expect(replica().store.prepare([withDefault('y')])).rejects.toThrow(
      'redis: "team" of collection "people" was prepared as "text" with another default',
    )
  })

  it('a new field that documents already stored could not have is refused', async () => {
    const replica = place()
    const early = {
      name: 'people',
      fields: { email: text },
      indexes: [],
      expires: 'never',
    } as const
    await replica().store.prepare([early])
    const people = replica().store.collection<Doc & { readonly email: string }>(early)
    await people.insert({ id: 'a', email: 'a', expiresAt: null })
    await expect(replica().store.prepare([plain])).rejects.toThrow(
      'redis: "team", new in collection "people", must be nullable or have a default',
    )
    await people.take('a')
    await replica().store.prepare([plain])
    await expect(people.insert({ id: 'b', email: 'b', expiresAt: null })).rejects.toThrow(
      'POSTERN_REQUIRED team',
    )
  })

  it('collections of its own are not to be had', async () => {
    const { store } = place()()
    const taken = { ...plain, name: 'postern_denylist' }
    await expect(store.prepare([taken])).rejects.toThrow('"postern_" is reserved')
  })

  it('collections under different prefixes know nothing of each other', async () => {
    const [here, there] = [place()(), place()()]
    await here.store.prepare([byEmail])
    await there.store.prepare([byEmail])
    await here.store.collection(byEmail).insert(person('a'))
    expect(await there.store.collection(byEmail).get('a')).toBe(null)
    expect(await there.store.collection(byEmail).insert(person('a'))).toBe(true)
  })

  it('is repeated without a change', async () => {
    const { client, sent } = recordingRedis(open.client)
    const keyPrefix = newPrefix()
    prefixes.push(keyPrefix)
    const { store } = redis(client, { keyPrefix })
    await store.prepare([byTeam])
    sent.length = 0
    await store.prepare([byTeam])
    // Of every collection its schema and its indexes' states, the policy, and the denylist's marker.
    expect(sent).toHaveLength(4 + 1 + 1 + 1)
  })
})
