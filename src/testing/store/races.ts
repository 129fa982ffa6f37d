import assert from 'node:assert/strict'
import type { Collection } from '../../ports/store.js'
import { race, rounds, type Scripts } from '../shared/conformance-case.js'
import { fill, type Sample, type StoreSetup, sample } from '../shared/sample.js'

function winners(answers: readonly (Sample | null)[]): readonly Sample[] {
  return answers.filter((answer) => answer !== null)
}

/** Reads and compare-and-sets until it wins: the only way to count with this port. */
async function increment(samples: Collection<Sample>, id: string): Promise<void> {
  for (;;) {
    const seen = await samples.get(id)
    assert.ok(seen, 'the document must stay')
    const { count } = seen
    if ((await samples.update(id, { count }, { count: count + 1 })) !== null) return
  }
}

export const races: Scripts<StoreSetup> = {
  'of eight inserts of one id, one answers true': async ({ samples }) => {
    await rounds(async (round) => {
      const id = `round${round}`
      const doc = (racer: number) => {
        return sample(id, { email: `${racer}@${id}.test`, handle: `${id}/${racer}`, count: racer })
      }
      const answers = await race(8, (racer) => samples.insert(doc(racer)))
      assert.equal(answers.filter(Boolean).length, 1, 'exactly one insert may answer true')
      const stored = await samples.get(id)
      assert.deepEqual(stored, doc(answers.indexOf(true)), 'the winner is the one stored')
    })
  },
  'of eight inserts of one unique value, one answers true': async ({ samples }) => {
    await rounds(async (round) => {
      const email = `round${round}@example.test`
      const answers = await race(8, (racer) => {
        return samples.insert(sample(`round${round}/${racer}`, { email }))
      })
      assert.equal(answers.filter(Boolean).length, 1, 'exactly one insert may answer true')
      const holders = await samples.find({ email }, { limit: 10 })
      const wanted = [`round${round}/${answers.indexOf(true)}`]
      assert.deepEqual(
        holders.map(({ id }) => id),
        wanted,
        'one document holds a unique value: the winner',
      )
    })
  },
  'of eight updates with one guard, one wins and the others answer null': async ({ samples }) => {
    await fill(samples, [sample('a')])
    await rounds(async (round) => {
      const answers = await race(8, (racer) => {
        return samples.update('a', { count: round }, { count: round + 1, score: racer })
      })
      const won = winners(answers)
      assert.equal(won.length, 1, 'exactly one update may win')
      assert.equal(answers.filter((answer) => answer === null).length, 7, 'the others answer null')
      assert.deepEqual(await samples.get('a'), won[0], 'the winner is the one stored')
    })
  },
  'eight updates whose guard goes on holding all succeed': async ({ samples }) => {
    await fill(samples, [sample('a')])
    await rounds(async () => {
      const answers = await race(8, (racer) => {
        return samples.update('a', { enabled: true }, { count: racer })
      })
      const won = winners(answers)
      assert.equal(won.length, 8, 'a guard that held must not answer null')
      assert.deepEqual(
        won.map(({ count }) => count),
        [0, 1, 2, 3, 4, 5, 6, 7],
        'each update answers the document it wrote',
      )
    })
  },
  'racing updates of different fields lose nothing': async ({ samples }) => {
    await rounds(async (round) => {
      const id = `round${round}`
      await fill(samples, [sample(id)])
      const sets: readonly Partial<Omit<Sample, 'id'>>[] = [
        { team: 'x' },
        { count: 1 },
        { score: 2 },
        { bornAt: 3 },
        { seenAt: 4 },
        { data: [5] },
        { expiresAt: 6 },
        { handle: `${id}/7` },
      ]
      await Promise.all(sets.map((set) => samples.update(id, { enabled: true }, set)))
      const all = Object.assign({}, sample(id), ...sets)
      assert.deepEqual(await samples.get(id), all, 'an update may write only the fields it sets')
    })
  },
  'eight racers counting by compare-and-set reach eight': async ({ samples }) => {
    await fill(samples, [sample('a')])
    await race(8, () => increment(samples, 'a'))
    assert.deepEqual(await samples.get('a'), sample('a', { count: 8 }), 'no increment may be lost')
  },
  'of eight takes, one receives the document': async ({ samples }) => {
    await rounds(async () => {
      await fill(samples, [sample('a')])
      const answers = await race(8, () => samples.take('a'))
      const got = answers.filter((answer) => answer !== null)
      assert.deepEqual(got, [sample('a')], 'exactly one take may receive the document')
      assert.equal(await samples.get('a'), null)
    })
  },
  'of eight documents updated to one unique value, one wins, the others answer null': async ({
    samples,
  }) => {
    await rounds(async (round) => {
      const ids = Array.from({ length: 8 }, (_, at) => `round${round}/${at}`)
      await fill(
        samples,
        ids.map((id) => sample(id)),
      )
      const email = `round${round}@example.test`
      const answers = await Promise.all(
        ids.map((id) => samples.update(id, { count: 0 }, { email, count: 1 })),
      )
      const won = winners(answers)
      assert.equal(won.length, 1, 'exactly one document may get the value')
      assert.equal(answers.filter((one) => one === null).length, 7, 'the others answer null')
      assert.deepEqual(await samples.find({ email }, { limit: 10 }), won, 'one holder')
      const losers = ids.filter((id) => id !== won[0]?.id)
      for (const id of losers) assert.deepEqual(await samples.get(id), sample(id), 'unchanged')
    })
  },
  'of an insert and an update to one unique value, one wins': async ({ samples }) => {
    await rounds(async (round) => {
      const email = `round${round}@example.test`
      await fill(samples, [sample(`old${round}`)])
      const [inserted, updated] = await Promise.all([
        samples.insert(sample(`new${round}`, { email })),
        samples.update(`old${round}`, { count: 0 }, { email }),
      ])
      assert.equal(inserted, updated === null, 'the value goes to exactly one of them')
      const holders = await samples.find({ email }, { limit: 10 })
      assert.equal(holders.length, 1, 'one document holds a unique value')
    })
  },
  'of an update racing a take with one guard, one wins': async ({ samples }) => {
    await rounds(async (round) => {
      const id = `round${round}`
      await fill(samples, [sample(id)])
      const calls = await race(8, (racer) => {
        return racer % 2 === 0
          ? samples.take(id, { count: 0 })
          : samples.update(id, { count: 0 }, { count: 1 })
      })
      const won = calls.filter((call) => call !== null)
      assert.equal(won.length, 1, 'exactly one of the updates and takes may win')
      const taken = calls.some((call, at) => call !== null && at % 2 === 0)
      assert.deepEqual(await samples.get(id), taken ? null : sample(id, { count: 1 }))
    })
  },
  'a take without a guard gets the document however often it is updated': async ({ samples }) => {
    await rounds(async (round) => {
      const id = `round${round}`
      await fill(samples, [sample(id)])
      const calls = await race(8, (racer) => {
        return racer === 4
          ? samples.take(id)
          : samples.update(id, { enabled: true }, { count: racer })
      })
      assert.notEqual(calls[4], null, 'take must receive the document that was there')
      assert.equal(await samples.get(id), null, 'no update may bring a taken document back')
    })
  },
  'what a write acknowledged, the next read sees': async ({ samples }) => {
    await race(8, async (racer) => {
      const id = `racer${racer}`
      await fill(samples, [sample(id, { team: id })])
      for (let count = 0; count < 5; count++) {
        await samples.update(id, { count }, { count: count + 1 })
        assert.equal((await samples.get(id))?.count, count + 1, 'get must not be stale')
        const [found] = await samples.find({ team: id }, { limit: 1 })
        assert.equal(found?.count, count + 1, 'find must not be stale')
      }
    })
  },
}
