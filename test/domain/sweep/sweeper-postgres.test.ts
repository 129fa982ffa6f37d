import { describe, expect, inject, it } from 'vitest'
import { postgres } from '../../../adapters/postgres/index.js'
import { allCollectionSpecs } from '../../../src/model/collections.js'
import type { Backend } from '../../../src/ports/backend.js'
import { type FakeClock, fakeClock } from '../../../src/testing/fake-clock.js'
import { withCall } from '../../support/stores/faulty-backend.js'
import { schemasOf } from '../../support/stores/postgres-schemas.js'
import {
  expiredRows,
  family,
  fillFamilies,
  leaseName,
  minutes,
  ownerOf,
  renewalOf,
  seconds,
  startReplica,
  stored,
  tokenSweeps,
  untilFirst,
} from './sweeper-rig.js'

const url = inject('postgresUrl')
const title = url ? 'on Postgres' : 'on Postgres (Postgres not found)'

/** Lets time pass only while no call is under way: a fake clock knows nothing of real I/O. */
function patient(inner: Backend, clock: FakeClock) {
  const running = new Set<Promise<unknown>>()
  const backend = withCall(inner, (_, work) => {
    const call = work()
    running.add(call)
    return call.finally(() => running.delete(call))
  })
  async function idle(): Promise<void> {
    do {
      await Promise.allSettled(running)
      // What those answers set going may be about to make the next call.
      await clock.advance(0)
    } while (running.size > 0)
  }
  return {
    backend,
    async advance(ms: number) {
      const step = 10 * seconds
      for (let left = ms; left > 0; left -= step) {
        await clock.advance(Math.min(step, left))
        await idle()
      }
    },
  }
}

describe.skipIf(!url)(`the sweep ${title}`, () => {
  const { pool, schema } = schemasOf(url)

  async function prepared() {
    const clock = fakeClock()
    const { backend, advance } = patient(postgres(pool, { schema: schema() }), clock)
    await backend.store.prepare(allCollectionSpecs(''))
    return { backend, advance, clock }
  }

  it('three replicas remove 5,000 per tier per cycle together', async () => {
    const { backend, advance, clock } = await prepared()
    await fillFamilies(backend, 'operator', 12_000, clock.now())
    await fillFamilies(backend, 'client', 12_000, clock.now())
    const replicas = [1, 2, 3].map(() => startReplica(backend, clock))
    await advance(untilFirst)
    const leader = replicas.find((replica) => replica.count(...tokenSweeps) > 0)
    for (const left of [7000, 2000, 0]) {
      expect(await expiredRows(backend, clock.now())).toEqual([left, left])
      expect(await leader?.scrape()).toEqual({ operator: left, client: left })
      await advance(5 * minutes)
    }
    expect(replicas.map((replica) => replica.count(...tokenSweeps)).sort()).toEqual([0, 0, 6])
  })

  it('rotated and revoked rows stay until they expire', async () => {
    const { backend, advance, clock } = await prepared()
    const at = clock.now() + untilFirst
    const revoked = { revokedAt: at - 1, revokedReason: 'replay' } as const
    const rows = [
      family(at),
      family(at, revoked),
      family(at + 1),
      family(at + 1, revoked),
      family(at + 1, { generation: 7 }),
    ]
    const { families } = stored(backend, 'operator')
    for (const row of rows) await families.insert(row)
    startReplica(backend, clock)
    await advance(untilFirst)
    expect(await Promise.all(rows.map(({ id }) => families.get(id)))).toEqual([
      null,
      null,
      ...rows.slice(2),
    ])
  })

  it('the lease is kept by renewals, taken over from the dead, released', async () => {
    const { backend, advance, clock } = await prepared()
    const dead = startReplica(backend, clock)
    await advance(untilFirst)
    const renewal = await renewalOf(backend)
    await advance(minutes)
    expect(await renewalOf(backend)).toBe(renewal + 3)
    await dead.sweeper.close()
    expect(await backend.lease.read(leaseName)).toEqual({ owner: null, renewal: renewal + 4 })

    const seen = await backend.lease.read(leaseName)
    await backend.lease.replace(leaseName, seen, { owner: 'dead', renewal: renewal + 5 })
    const heir = startReplica(backend, clock)
    await advance(untilFirst + 50 * seconds)
    expect(await ownerOf(backend)).toBe('dead')
    await advance(10 * seconds)
    expect(heir.count(...tokenSweeps)).toBe(2)
    expect(await ownerOf(backend)).not.toBe('dead')
    await heir.sweeper.close()
    expect(await ownerOf(backend)).toBeNull()
  })
})
