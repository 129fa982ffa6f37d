import assert from 'node:assert/strict'
import { fill, type Sample, sample } from '../shared/sample.js'
import { racer, racers, type Scenario } from './scenario.js'

const one = 'Collection.update: of racers with one guard, one gets the document'
const taken = 'Collection.take: one racer receives the document'
const refused = 'Collection.update: a refused unique value answers null and changes nothing'
const stored = 'Collection.insert: false, changing nothing, when the id or a unique value is taken'
const whole = 'Collection.update: writes the fields it sets, and no others'
const renewed = 'Collection.sweep: re-checks each as it goes, so that one being renewed survives'
const in2030 = Date.UTC(2030, 5, 15)

/** The answers that are documents. */
function won(answers: readonly unknown[]): readonly unknown[] {
  return answers.filter((answer) => typeof answer === 'object' && answer !== null)
}

function updates(count: number, words: string): Scenario {
  return {
    name: `interleaved: of ${words} updates with one guard, one wins`,
    promise: one,
    async arrange({ samples }, own) {
      await fill(samples, [sample(own)])
      return {
        racers: racers(count, (at) =>
          racer(`update(id, { count: 0 }, { count: 1, score: ${at} })`, () =>
            samples.update(own, { count: 0 }, { count: 1, score: at }),
          ),
        ),
        async check(answers) {
          assert.equal(won(answers).length, 1, 'exactly one update may win')
          const nulls = answers.filter((answer) => answer === null)
          assert.equal(nulls.length, count - 1, 'the others must answer null')
          const kept = await samples.get(own)
          assert.deepEqual(kept, won(answers)[0], "the winner's document must be the one stored")
        },
      }
    },
  }
}

function takes(count: number, words: string): Scenario {
  return {
    name: `interleaved: of ${words} takes, one receives the document`,
    promise: taken,
    async arrange({ samples }, own) {
      await fill(samples, [sample(own)])
      return {
        racers: racers(count, () => racer('take(id)', () => samples.take(own))),
        async check(answers) {
          assert.deepEqual(won(answers), [sample(own)], 'exactly one take may receive it')
          assert.equal(await samples.get(own), null, 'a taken document must be gone')
        },
      }
    },
  }
}

function inserts(count: number, words: string): Scenario {
  return {
    name: `interleaved: of ${words} inserts of one unique value, one answers true`,
    promise: stored,
    async arrange({ samples }, own) {
      const email = `${own}@unique.test`
      return {
        racers: racers(count, (at) =>
          racer(`insert(id ${at}, one e-mail)`, () =>
            samples.insert(sample(`${own}${at}`, { email })),
          ),
        ),
        async check(answers) {
          const holders = await samples.find({ email }, { limit: 10 })
          assert.equal(answers.filter(Boolean).length, 1, 'exactly one insert may answer true')
          const winner = sample(`${own}${answers.indexOf(true)}`, { email })
          assert.deepEqual(holders, [winner], 'one document may hold a unique value: the winner')
        },
      }
    },
  }
}

export const storeScenarios: readonly Scenario[] = [
  updates(2, 'two'),
  updates(3, 'three'),
  takes(2, 'two'),
  takes(3, 'three'),
  inserts(2, 'two'),
  inserts(3, 'three'),
  {
    name: 'interleaved: of two inserts of one id, one answers true',
    promise: stored,
    async arrange({ samples }, own) {
      const doc = (at: number) =>
        sample(own, { email: `${at}@${own}.test`, handle: `${own}/${at}` })
      return {
        racers: racers(2, (at) => racer('insert(one id)', () => samples.insert(doc(at)))),
        async check(answers) {
          assert.equal(answers.filter(Boolean).length, 1, 'exactly one insert may answer true')
          const kept = await samples.get(own)
          assert.deepEqual(kept, doc(answers.indexOf(true)), 'the winner is the one stored')
        },
      }
    },
  },
  {
    name: 'interleaved: of two updates to one unique value, one wins and one answers null',
    promise: refused,
    async arrange({ samples }, own) {
      const ids = [`${own}a`, `${own}b`]
      await fill(
        samples,
        ids.map((id) => sample(id)),
      )
      const email = `${own}@unique.test`
      return {
        racers: ids.map((id) =>
          racer('update(own id, { count: 0 }, { one e-mail })', () =>
            samples.update(id, { count: 0 }, { email }),
          ),
        ),
        async check(answers) {
          const holders = await samples.find({ email }, { limit: 10 })
          assert.deepEqual(holders, won(answers), 'one document may hold a unique value')
          assert.equal(holders.length, 1, 'exactly one update may win')
          assert.ok(answers.includes(null), 'the other must answer null')
        },
      }
    },
  },
  {
    name: 'interleaved: of an insert and an update to one unique value, one wins',
    promise: stored,
    async arrange({ samples }, own) {
      await fill(samples, [sample(`${own}old`)])
      const email = `${own}@unique.test`
      return {
        racers: [
          racer('insert(new id, one e-mail)', () => samples.insert(sample(`${own}new`, { email }))),
          racer('update(old id, { count: 0 }, { one e-mail })', () =>
            samples.update(`${own}old`, { count: 0 }, { email }),
          ),
        ],
        async check([inserted, updated]) {
          const holders = await samples.find({ email }, { limit: 10 })
          assert.equal(holders.length, 1, 'one document may hold a unique value')
          assert.equal(inserted, updated === null, 'exactly one of them may be told it won')
        },
      }
    },
  },
  {
    name: 'interleaved: of an update and a take with one guard, one wins',
    promise: one,
    async arrange({ samples }, own) {
      await fill(samples, [sample(own)])
      return {
        racers: [
          racer('update(id, { count: 0 }, { count: 1 })', () =>
            samples.update(own, { count: 0 }, { count: 1 }),
          ),
          racer('take(id, { count: 0 })', () => samples.take(own, { count: 0 })),
        ],
        async check(answers) {
          assert.equal(won(answers).length, 1, 'exactly one of update and take may win')
          const kept = answers[1] === null ? sample(own, { count: 1 }) : null
          assert.deepEqual(await samples.get(own), kept, 'what won must be what is stored')
        },
      }
    },
  },
  {
    name: 'interleaved: no update brings back a document that was taken',
    promise: taken,
    async arrange({ samples }, own) {
      await fill(samples, [sample(own)])
      return {
        racers: [
          racer('update(id, { enabled: true }, { count: 1 })', () =>
            samples.update(own, { enabled: true }, { count: 1 }),
          ),
          racer('take(id)', () => samples.take(own)),
        ],
        async check([updated, got]) {
          assert.notEqual(got, null, 'the take must receive the document that was there')
          const wrote = sample(own, { count: 1 })
          if (updated !== null) assert.deepEqual(updated, wrote, 'an update answers what it wrote')
          const seen = updated === null ? sample(own) : sample(own, { count: 1 })
          assert.deepEqual(got, seen, 'the take must receive what the update answered to have set')
          assert.equal(await samples.get(own), null, 'a taken document must stay away')
        },
      }
    },
  },
  {
    name: 'interleaved: two updates of different fields both hold',
    promise: whole,
    async arrange({ samples }, own) {
      await fill(samples, [sample(own)])
      const sets: readonly Partial<Omit<Sample, 'id'>>[] = [{ count: 5 }, { data: ['kept'] }]
      return {
        racers: sets.map((set) =>
          racer(`update(id, { enabled: true }, { ${Object.keys(set).join()} })`, () =>
            samples.update(own, { enabled: true }, set),
          ),
        ),
        async check(answers) {
          assert.equal(won(answers).length, 2, 'a guard that went on holding must not answer null')
          const both = sample(own, { count: 5, data: ['kept'] })
          assert.deepEqual(await samples.get(own), both, 'no acknowledged update may be lost')
        },
      }
    },
  },
  {
    name: 'interleaved: an update answers the document that it wrote, and no later one',
    promise: 'Collection.update: answers the new document',
    async arrange({ samples }, own) {
      await fill(samples, [sample(own)])
      return {
        racers: racers(2, (at) =>
          racer(`update(id, { enabled: true }, { count: ${at + 1} })`, () =>
            samples.update(own, { enabled: true }, { count: at + 1 }),
          ),
        ),
        async check(answers) {
          const written = [1, 2].map((count) => sample(own, { count }))
          assert.deepEqual(answers, written, 'each update must answer the document as it wrote it')
          const kept = await samples.get(own)
          assert.ok(kept?.count === 1 || kept?.count === 2, 'one of them must be stored')
        },
      }
    },
  },
  {
    name: 'interleaved: no page is empty for a document that was taken while more follow',
    promise: 'Collection.find: only an empty page is the end',
    async arrange({ samples }, own) {
      const docs = ['a', 'b'].map((id) => sample(own + id, { team: own }))
      await fill(samples, docs)
      return {
        racers: [
          racer('find({ team }, { limit: 1 })', () => samples.find({ team: own }, { limit: 1 })),
          racer('take(the first id)', () => samples.take(`${own}a`)),
        ],
        async check([page]) {
          const [first]: readonly unknown[] = Array.isArray(page) ? page : []
          const meant = docs.find(({ id }) => id === Reflect.get(Object(first), 'id'))
          assert.deepEqual(page, [meant], 'it must hold the one taken, or the next one')
        },
      }
    },
  },
  {
    name: 'interleaved: of a sweep and a renewal, one wins and the other sees it',
    promise: renewed,
    async arrange({ samples }, own) {
      await fill(samples, [sample(own, { expiresAt: 1000 })])
      return {
        racers: [
          racer('sweep(before its expiry, 10)', () => samples.sweep(1000, 10)),
          racer('update(id, { count: 0 }, { expiresAt: later })', () =>
            samples.update(own, { count: 0 }, { expiresAt: in2030 }),
          ),
        ],
        async check([, updated]) {
          const kept = await samples.get(own)
          assert.deepEqual(kept, updated, 'a renewal that was answered must survive the sweep')
          await samples.take(own)
        },
      }
    },
  },
  {
    name: 'interleaved: two sweeps count a document once',
    promise: 'Collection.sweep: tells how many documents it removed',
    async arrange({ samples }, own) {
      await fill(samples, [sample(own, { expiresAt: 1000 })])
      return {
        racers: racers(2, () => racer('sweep(1000, 10)', () => samples.sweep(1000, 10))),
        async check(answers) {
          const removed = answers.map((swept) => Reflect.get(Object(swept), 'removed'))
          assert.deepEqual([...removed].sort(), [0, 1], 'a document may be removed once')
          assert.equal(await samples.get(own), null, 'what expired must be gone')
        },
      }
    },
  },
]
