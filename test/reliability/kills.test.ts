import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { createPool } from 'mariadb'
import { MongoClient } from 'mongodb'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { mariadb } from '../../adapters/mariadb/index.js'
import { mongo } from '../../adapters/mongo/index.js'
import { postgres } from '../../adapters/postgres/index.js'
import { redis } from '../../adapters/redis/index.js'
import { sqlite } from '../../adapters/sqlite/index.js'
import { collectionsOf } from '../../src/model/collections.js'
import type { Backend } from '../../src/ports/backend.js'
import { singleClients } from '../support/stores/redis-clients.js'
import { type CrashPerson, crashPerson } from './crash-person.js'
import { figure } from './figures.js'
import { fsck, fsckUnderLoad, type Leftovers } from './fsck.js'
import type { Host } from './host-client.js'
import type { Database } from './invariants.js'
import { lineFrom } from './moving-clock.js'
import { randomOf } from './random-of.js'
import type { Place } from './replica.js'
import { newPlace, type Replica, startReplica } from './replicas.js'
import { sizes } from './sizes.js'
import { at, describeOn, everyStore, inLanes } from './stores.js'

const lanes = 8
const fleetSize = 3
const kills = sizes.kills
const expiredDocs = 900
const sweptAtOnce = 2

for (const store of everyStore) {
  if (store === 'memory') continue
  describeOn(store, `figure R15 on ${store}`, () => {
    it(`${kills} processes killed amid everything they do leave nothing half done`, async () => {
      const shared = await openShared(store)
      onTestFinished(() => shared.close())
      const database: Database = {
        surface: 'client',
        stored: collectionsOf(shared.backend.store, 'client', ''),
        denylist: shared.backend.denylist,
      }
      const fleet = await startFleet(shared.start)
      onTestFinished(() => fleet.stop())
      await fillWithExpired(await fleet.any(), database)

      const people: CrashPerson[] = []
      const lives = runLives(fleet, people)
      const seen = {
        ...{ sessionsWithoutFamily: 0, familiesWithoutSession: 0 },
        ...{ endingsBegun: 0, documentsToClose: 0 },
      }
      for (let n = 0; n < kills; n += 1) {
        await fleet.killOne()
        lives.expectWell()
        if (n % 10 !== 9) continue
        const { problems, leftovers } = await fsckUnderLoad(database)
        expect(problems, `after ${n + 1} kills`).toEqual([])
        for (const kind of Object.keys(seen) as (keyof Leftovers)[]) {
          seen[kind] = Math.max(seen[kind], leftovers[kind])
        }
      }
      await lives.stop()

      // Nobody kills any more: everybody goes through every flow, whatever befell them before.
      await inLanes(people.length, lanes, async (n) => at(people, n).live())
      const { problems, users } = await fsck(database)
      expect(problems).toEqual([])
      expect(users.size).toBe(people.length + 1)
      const host = await fleet.any()
      await expectEverythingEnds(host, database, users.keys())
      await expectSwept(host, database)

      const lost = people.reduce((sum, person) => sum + person.lost(), 0)
      figure(
        'R15',
        `processes killed amid their work, on ${store}`,
        `${kills} times SIGKILL at a random moment to one of ${fleetSize} processes, while ${lanes} ` +
          `people at a time registered, confirmed, signed in, refreshed, changed and reset passwords ` +
          `and signed out, and rows were swept: ${lost} requests without a reply; 0 orphans, 0 half ` +
          `states; each of ${people.length} people went through every flow afterwards, and each ` +
          `session could be ended; at most at one time, ${shown(seen)}`,
      )
    }, 1_500_000)
  })
}

const shown = (seen: Leftovers): string =>
  `${seen.sessionsWithoutFamily} session documents without a family, ` +
  `${seen.familiesWithoutSession} families without a document, ${seen.endingsBegun} endings ` +
  `begun and ${seen.documentsToClose} documents to be closed waited for the next touch`

/** People live one after the other in each lane, until they may stop. */
function runLives(fleet: Fleet, people: CrashPerson[]) {
  let goesOn = true
  const lane = async (): Promise<void> => {
    while (goesOn) {
      const person = crashPerson(fleet.any)
      await person.arrive()
      people.push(person)
      for (let n = 0; n < 8 && goesOn; n += 1) await person.live()
    }
  }
  const sweeping = async (): Promise<void> => {
    while (goesOn) {
      const host = await fleet.any()
      // Whether it was killed meanwhile shows in what is left.
      await host.control('sweep', { before: Date.now(), limit: sweptAtOnce }).catch(() => {})
      await wait(20)
    }
  }
  const running = Promise.all([sweeping(), ...Array.from({ length: lanes }, lane)])
  const failures: unknown[] = []
  running.catch((error: unknown) => failures.push(error))
  return {
    /** Throws what anybody met that may not be met. */
    expectWell() {
      for (const failure of failures) throw failure
    },
    async stop() {
      goesOn = false
      await running
    },
  }
}

interface Fleet {
  any(): Promise<Host>
  killOne(): Promise<void>
  stop(): Promise<void>
}

/** Processes of which one is killed now and then, and another takes its place. */
async function startFleet(start: () => Promise<Replica>): Promise<Fleet> {
  const random = randomOf('kills')
  const alive = new Set(await Promise.all(Array.from({ length: fleetSize }, start)))
  // Ready before it is needed: a process takes longer to start than to be killed.
  let next = start()
  const pick = () => [...alive][Math.floor(random() * alive.size)]
  return {
    async any() {
      const host = pick()
      if (host === undefined) throw new Error('none is left')
      return host
    },
    async killOne() {
      // Its successor first, so that work goes on everywhere at the moment of the kill.
      const successor = await next
      next = start()
      await wait(random() * 150)
      const victim = pick()
      alive.add(successor)
      if (victim === undefined) throw new Error('none is left')
      alive.delete(victim)
      victim.signal('SIGKILL')
    },
    async stop() {
      for (const host of [...alive, await next]) await host.stop()
    },
  }
}

interface SharedStore {
  readonly backend: Backend
  start(): Promise<Replica>
  close(): Promise<void>
}

async function openShared(store: Place['store']): Promise<SharedStore> {
  const place = newPlace(store)
  const options = {
    trustProxy: 1,
    sweep: false,
    settings: { refreshReuseGrace: '60s', passwordHistoryCount: 3 },
  } as const
  const start = () => startReplica({ place, options })
  switch (place.store) {
    case 'mongo': {
      const client = new MongoClient(place.url)
      return {
        backend: mongo({ db: client.db(place.database) }),
        start,
        close: () => client.close(),
      }
    }
    case 'redis': {
      const { client, close } = await singleClients['node-redis'](place.url)
      return { backend: redis(client, { keyPrefix: place.keyPrefix }), start, close }
    }
    case 'mariadb': {
      const pool = createPool(place.url)
      const { tablePrefix } = place
      return { backend: mariadb(pool, { tablePrefix }), start, close: () => pool.end() }
    }
    case 'sqlite': {
      const database = new DatabaseSync(place.file)
      return { backend: sqlite(database), start, close: async () => database.close() }
    }
    case 'postgres': {
      const pool = new pg.Pool({ connectionString: place.url, max: 4 })
      return { backend: postgres(pool, { schema: place.schema }), start, close: () => pool.end() }
    }
  }
}

/** Documents of somebody who never came back, for the sweep to remove. */
async function fillWithExpired(host: Host, { stored }: Database): Promise<void> {
  const email = 'gone@example.org'
  const { id: userId } = await host.control('createUser', { email, password: 'a good passphrase' })
  await inLanes(expiredDocs, 8, async (n) => {
    const loginAt = Date.UTC(2020, 0, 1)
    await stored.sessions.insert({
      ...{ id: `gone-${n}`, userId, loginAt, expiresAt: loginAt + 1, active: false },
      ...{ endedAt: loginAt, endReason: 'logout', loginMethod: 'password', mfaMethod: null },
      ...{ ip: null, userAgent: null, deviceId: null },
    })
  })
}

/** The sweep goes on where killed processes left off, and takes nothing else. */
async function expectSwept(host: Host, database: Database): Promise<void> {
  const { sessions } = database.stored
  const before = Date.now()
  const expired = (await sessions.due(before, expiredDocs)).length
  expect(expired, 'nothing was swept at all').toBeLessThan(expiredDocs)
  const kept = (await fsck(database)).picture.sessions.size - expired
  for (let n = 0; n * sweptAtOnce < expired; n += 1) {
    await host.control('sweep', { before, limit: sweptAtOnce })
  }
  expect(await sessions.due(before, 1)).toEqual([])
  expect((await fsck(database)).picture.sessions.size).toBe(kept)
}

/** Every session there is can be ended, those included that a crash left behind. */
async function expectEverythingEnds(
  host: Host,
  database: Database,
  userIds: Iterable<string>,
): Promise<void> {
  // What a login of the last minute has not written yet is left to that login.
  await host.control('setClock', lineFrom(Date.now() + 120_000))
  for (const userId of userIds) await host.control('terminateAll', { userId })
  const { picture, problems } = await fsck(database)
  expect(problems).toEqual([])
  const { families, sessions, listed } = picture
  const live = [...families.values()].filter((it) => it.revokedAt === null || !listed.has(it.id))
  expect(live).toEqual([])
  expect([...sessions.values()].filter(({ active }) => active)).toEqual([])
}
