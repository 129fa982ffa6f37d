import assert from 'node:assert/strict'
import type { Backend, LeaseRecord } from '../ports/backend.js'
import type { Collection } from '../ports/store.js'
import { type CaseScript, type Scripts, scriptsOf, uniqueName } from './shared/conformance-case.js'
import { fill, type Sample, sample, sampleSpec } from './shared/sample.js'
import { earlyDoc, lateDoc, versions } from './store/preparing.js'

/** A backend that can be opened a second time, as another process opens it. */
export interface ReopenedBackend {
  readonly backend: Backend
  /** Another adapter on the same database. */
  again(): Promise<Backend>
}

interface Side extends Backend {
  readonly samples: Collection<Sample>
}

/** The second has asked for nothing yet. The first alone has prepared. */
interface Setup {
  readonly first: Side
  readonly second: Side
  readonly key: string
}

const noon = Date.UTC(2030, 5, 15, 12)
const minute = 60_000

/** What a process keeps by itself is as old as its last look, so the second looks before each write of the first. */
function sees<T>(actual: T, expected: T, written: string): void {
  assert.deepEqual(actual, expected, `another process must see ${written} at once`)
}

const held = (owner: string, renewal: number): LeaseRecord => ({ owner, renewal })

const scripts: Scripts<Setup> = {
  'what one process writes, another gets at once': async ({ first, second }) => {
    const there = () => second.samples.get('a')
    assert.equal(await there(), null, 'nothing is there yet')
    await fill(first.samples, [sample('a', { expiresAt: 1000 })])
    sees(await there(), sample('a', { expiresAt: 1000 }), 'an insert')
    await first.samples.update('a', { count: 0 }, { count: 1 })
    sees(await there(), sample('a', { expiresAt: 1000, count: 1 }), 'an update')
    await first.samples.sweep(1000, 10)
    sees(await there(), null, 'a sweep')
    await fill(first.samples, [sample('a', { count: 2 })])
    sees(await there(), sample('a', { count: 2 }), 'a second insert')
    await first.samples.take('a')
    sees(await there(), null, 'a take')
  },
  'what one process writes, another finds at once': async ({ first, second }) => {
    const team = 'x'
    const found = () => second.samples.find({ team }, { limit: 9 })
    const due = () => second.samples.due(noon, 9)
    sees([await found(), await due()], [[], []], 'nothing')
    const doc = sample('a', { team, expiresAt: noon })
    await fill(first.samples, [doc])
    sees([await found(), await due()], [[doc], [doc]], 'an insert')
    await first.samples.update('a', { team }, { count: 1 })
    const changed = { ...doc, count: 1 }
    sees([await found(), await due()], [[changed], [changed]], 'an update')
    await first.samples.update('a', { team }, { team: null, expiresAt: noon + 1 })
    sees([await found(), await due()], [[], []], 'what an update moved')
  },
  'a guard goes by what another process wrote': async ({ first, second }) => {
    await fill(first.samples, [sample('a')])
    await second.samples.get('a')
    await first.samples.update('a', { count: 0 }, { count: 1 })
    const late = await second.samples.update('a', { count: 0 }, { count: 5 })
    assert.equal(late, null, 'a guard that held when this process last looked holds no more')
    const next = await second.samples.update('a', { count: 1 }, { count: 2 })
    assert.deepEqual(next, sample('a', { count: 2 }), 'what another process wrote is guarded')
    sees(await first.samples.take('a', { count: 2 }), sample('a', { count: 2 }), 'an update')
  },
  'a unique value that one process holds is refused to another': async ({ first, second }) => {
    const { email } = sample('a')
    await fill(second.samples, [sample('b')])
    await fill(first.samples, [sample('a')])
    const rival = await second.samples.insert(sample('c', { email }))
    assert.equal(rival, false, 'a unique value that another process holds must be refused')
    assert.equal(await second.samples.update('b', { count: 0 }, { email }), null, 'update as well')
    await first.samples.take('a')
    const again = await second.samples.insert(sample('c', { email }))
    assert.equal(again, true, 'a unique value that another process gave up must be free')
  },
  'what one process prepares, another uses without preparing': async ({ first, second }) => {
    const { early, late } = versions()
    await first.store.prepare([early])
    const old = second.store.collection(early)
    assert.equal(await old.insert(earlyDoc('a')), true)
    await first.store.prepare([late])
    const page = { limit: 9 }
    const { email, kind } = lateDoc('a')
    for (const { store } of [first, second]) {
      const docs = store.collection(late)
      sees(await docs.get('a'), lateDoc('a'), 'fields that were prepared')
      sees(await docs.find({ kind }, page), [lateDoc('a')], 'an index that was prepared')
      const rival = await docs.insert({ ...lateDoc('b'), email })
      assert.equal(rival, false, 'a unique index holds in a process that did not prepare it')
    }
    assert.deepEqual(await old.get('a'), earlyDoc('a'), 'the older process goes on')
    assert.equal(await old.insert(earlyDoc('c')), true, 'the older process goes on writing')
    sees(
      await first.store.collection(late).find({ kind }, page),
      [lateDoc('a'), lateDoc('c')],
      'it',
    )
  },
  'what one process puts on the denylist, another finds at once': async (setup) => {
    const { first, second, key: id } = setup
    const found = () => second.denylist.find([id])
    assert.deepEqual(await found(), [], 'nothing is listed yet')
    await first.denylist.put([{ id, reason: 'max_age', expiresAt: noon }])
    sees(await found(), [{ id, reason: 'max_age', expiresAt: noon }], 'a sign-out')
    await first.denylist.put([{ id, reason: 'revoked', expiresAt: noon + 1 }])
    sees(await found(), [{ id, reason: 'max_age', expiresAt: noon + 1 }], 'a later expiry')
  },
  'a lease that one process takes, another sees at once': async ({ first, second, key }) => {
    assert.equal(await second.lease.read(key), null)
    await first.lease.replace(key, null, held('a', 1))
    sees(await second.lease.read(key), held('a', 1), 'who holds a lease')
    assert.equal(await second.lease.replace(key, null, held('b', 1)), false, 'it is held')
    assert.equal(await second.lease.replace(key, held('a', 1), held('b', 2)), true, 'taken over')
    const late = await first.lease.replace(key, held('a', 1), held('a', 2))
    assert.equal(late, false, 'a lease that another process took over must not be renewed')
    sees(await first.lease.read(key), held('b', 2), 'who holds a lease')
  },
  'hits of two processes are counted together': async ({ first, second, key }) => {
    const counts: number[] = []
    for (const { counter } of [first, second, first, second]) {
      counts.push((await counter.hit(key, minute, 3, noon)).count)
    }
    assert.deepEqual(counts, [1, 2, 3, 3], 'one count for all processes, and one limit')
    await first.counter.forgive(key, 1)
    const { allowed } = await second.counter.hit(key, minute, 3, noon)
    assert.equal(allowed, true, 'another process must see what was forgiven')
    const { count } = (await first.counter.add?.(key, minute, 9, noon, 2)) ?? { count: 5 }
    assert.equal(count, 5, 'hits that are added count for all processes')
  },
}

/** Whatever else it keeps, a process cannot have kept a lease that it never read. */
export async function requireSame(first: Backend, second: Backend): Promise<void> {
  const name = `kit/${uniqueName()}`
  await first.lease.replace(name, null, held('first', 1))
  if ((await second.lease.read(name).catch(() => null)) !== null) return
  throw new TypeError(
    'open: the kit opens the backend twice, and the second does not see a lease that the first took; ' +
      'where `open` makes a new database each time, return `openAgain`, which opens the same one again',
  )
}

export const processScripts: readonly CaseScript<ReopenedBackend>[] = scriptsOf({
  group: 'processes',
  promise: 'Backend: once a write has been answered, every process sees it',
  scripts,
  async setUp({ backend, again }: ReopenedBackend): Promise<Setup> {
    const spec = sampleSpec('sliding')
    await backend.store.prepare([spec])
    const second = await again()
    await requireSame(backend, second)
    const side = (one: Backend): Side => ({ ...one, samples: one.store.collection(spec) })
    return { first: side(backend), second: side(second), key: `kit/${uniqueName()}` }
  },
})
