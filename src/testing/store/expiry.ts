import assert from 'node:assert/strict'
import { race, rounds, type Scripts } from '../shared/conformance-case.js'
import { fill, type StoreSetup, sample } from '../shared/sample.js'

const noon = Date.UTC(2030, 5, 15, 12)
const hour = 3_600_000
const day = 24 * hour

function expiring(id: string, expiresAt: number | null) {
  return sample(id, { expiresAt })
}

export const expiry: Scripts<StoreSetup> = {
  'due returns what falls due at or before a time, earliest first': async ({ open }) => {
    const jobs = await open('due')
    const docs = [
      expiring('late', noon + 1),
      expiring('b', noon - 5),
      expiring('c', noon),
      expiring('a', noon - 1),
      expiring('old', noon - 400 * day),
      expiring('never', null),
    ]
    await fill(jobs, docs)
    const due = async (before: number, limit: number) => {
      return (await jobs.due(before, limit)).map(({ id }) => id)
    }
    assert.deepEqual(await due(noon, 10), ['old', 'b', 'a', 'c'], 'null and later are not due')
    assert.deepEqual(await due(noon, 2), ['old', 'b'], 'the limit keeps the earliest')
    assert.deepEqual(await due(noon - 400 * day - 1, 10), [], 'nothing was due yet')
    assert.deepEqual(await jobs.due(noon, 1), [expiring('old', noon - 400 * day)])
  },
  'due follows updates and takes, and removes nothing': async ({ open }) => {
    const jobs = await open('due')
    await fill(jobs, [expiring('a', noon), expiring('b', noon), expiring('c', noon)])
    await jobs.update('a', { expiresAt: noon }, { expiresAt: noon + hour })
    await jobs.take('b')
    assert.deepEqual(await jobs.due(noon, 10), [expiring('c', noon)])
    assert.deepEqual(await jobs.due(noon, 10), [expiring('c', noon)], 'due must not remove')
    const later = await jobs.due(noon + hour, 10)
    assert.deepEqual(later, [expiring('c', noon), expiring('a', noon + hour)])
  },
  'a due document is claimed by one of eight racers': async ({ open }) => {
    const jobs = await open('due')
    await rounds(async (round) => {
      await fill(jobs, [expiring(`job${round}`, noon)])
      const claims = await race(8, (racer) => {
        return jobs.update(`job${round}`, { expiresAt: noon }, { expiresAt: noon + 1 + racer })
      })
      const won = claims.filter((claim) => claim !== null)
      assert.equal(won.length, 1, 'exactly one claim may win')
      assert.deepEqual(await jobs.get(`job${round}`), won[0])
    })
  },
  'sweep removes what expired at or before a time, never earlier': async ({ open }) => {
    for (const regime of ['fixed', 'sliding'] as const) {
      const samples = await open(regime)
      const kept = [
        expiring('millisecond', noon + 1),
        expiring('same day', noon + hour),
        expiring('next day', noon + day),
        expiring('next year', noon + 365 * day),
        expiring('never', null),
      ]
      const gone = [
        expiring('now', noon),
        expiring('earlier', noon - 1),
        expiring('yesterday', noon - day),
        expiring('long ago', noon - 1000 * day),
        expiring('epoch', 0),
      ]
      await fill(samples, [...kept, ...gone])
      const swept = await samples.sweep(noon, 100)
      assert.deepEqual(swept, { removed: gone.length, left: 0 }, `${regime}: what sweep answers`)
      for (const { id } of gone) assert.equal(await samples.get(id), null, `${regime}: ${id}`)
      for (const doc of kept) assert.deepEqual(await samples.get(doc.id), doc, `${regime}: kept`)
      assert.deepEqual(await samples.sweep(noon, 100), { removed: 0, left: 0 }, 'a second time')
    }
  },
  'sweep removes at most its limit and tells what is left': async ({ open }) => {
    for (const regime of ['fixed', 'sliding'] as const) {
      const samples = await open(regime)
      const docs = Array.from({ length: 7 }, (_, at) => expiring(`id${at}`, noon - at * hour))
      await fill(samples, [...docs, expiring('kept', noon + 1)])
      const told = `${regime}: a sweep must tell how many it removed and how many are left`
      assert.deepEqual(await samples.sweep(noon, 3), { removed: 3, left: 4 }, told)
      assert.deepEqual(await samples.sweep(noon, 3), { removed: 3, left: 1 }, told)
      assert.deepEqual(await samples.sweep(noon, 3), { removed: 1, left: 0 }, told)
      assert.notEqual(await samples.get('kept'), null, `${regime}: never early`)
    }
  },
  'a renewed document survives the sweep': async ({ samples }) => {
    await fill(samples, [expiring('a', noon), expiring('b', noon), expiring('c', noon)])
    await samples.update('a', { count: 0 }, { expiresAt: noon + 1 })
    await samples.update('b', { count: 0 }, { expiresAt: null })
    assert.deepEqual(await samples.sweep(noon, 10), { removed: 1, left: 0 })
    assert.notEqual(await samples.get('a'), null, 'renewed by a millisecond')
    assert.notEqual(await samples.get('b'), null, 'renewed for good')
  },
  'a document shortened by an update is swept': async ({ samples }) => {
    await fill(samples, [expiring('a', noon + 30 * day)])
    await samples.update('a', { count: 0 }, { expiresAt: noon })
    assert.deepEqual(await samples.sweep(noon, 10), { removed: 1, left: 0 })
  },
  'of a renewal racing a sweep, one wins and the other sees it': async ({ samples }) => {
    await rounds(async (round) => {
      const ids = Array.from({ length: 16 }, (_, at) => `round${round}id${at}`)
      await fill(
        samples,
        ids.map((id) => expiring(id, noon)),
      )
      const sweeping = [samples.sweep(noon, 5), samples.sweep(noon, 100)]
      const renewed = await Promise.all(
        ids.map((id) => samples.update(id, { expiresAt: noon }, { expiresAt: noon + day })),
      )
      await Promise.all(sweeping)
      for (const [at, id] of ids.entries()) {
        const stored = await samples.get(id)
        assert.deepEqual(stored, renewed[at], 'a document whose renewal was answered must stay')
      }
    })
  },
  'racing sweeps count each document once': async ({ open }) => {
    const samples = await open('fixed')
    await fill(
      samples,
      Array.from({ length: 40 }, (_, at) => expiring(`id${at}`, noon - at)),
    )
    const swept = await race(8, () => samples.sweep(noon, 10))
    const removed = swept.reduce((sum, one) => sum + one.removed, 0)
    const rest = await samples.sweep(noon, 100)
    assert.equal(removed + rest.removed, 40, 'no document may be counted twice or lost')
    assert.equal(rest.left, 0)
  },
  'sweep rejects where nothing may be swept': async ({ open }) => {
    const jobs = await open('due')
    await fill(jobs, [expiring('a', noon)])
    await assert.rejects(jobs.sweep(noon, 10), { name: 'TypeError' }, '`due` is never swept')
    assert.deepEqual(await jobs.get('a'), expiring('a', noon))
    const lasting = await open('never')
    await assert.rejects(lasting.sweep(noon, 10), { name: 'TypeError' }, '`never` is never swept')
  },
}
