import assert from 'node:assert/strict'
import type { Counter, CounterResult } from '../ports/backend.js'
import { type AddingCounter, addingCounter } from './shared/adding-counter.js'
import {
  type BackendSubject,
  type CaseScript,
  type ConformanceCase,
  casesOf,
  type MakeBackend,
  race,
  rounds,
  type Scripts,
  scriptsOf,
  uniqueName,
} from './shared/conformance-case.js'

interface Setup {
  readonly counter: Counter
  /** A key of this case alone. */
  readonly key: string
}

interface AddingSetup extends Setup {
  readonly counter: AddingCounter
}

async function setUpOf({ backend: { counter, store } }: BackendSubject): Promise<Setup> {
  await store.prepare([])
  return { counter, key: `kit/${uniqueName()}` }
}

const noon = Date.UTC(2030, 5, 15, 12)
const minute = 60_000

function answer(allowed: boolean, count: number, resetsAt = noon + minute): CounterResult {
  return { allowed, count, resetsAt }
}

/** The counts given to allowed hits, sorted. */
function counted(answers: readonly CounterResult[]): readonly number[] {
  const allowed = answers.filter((one) => one.allowed)
  return allowed.map(({ count }) => count).sort((a, b) => a - b)
}

const scripts: Scripts<Setup> = {
  'hits are counted up to the limit and refused beyond it': async ({ counter, key }) => {
    assert.deepEqual(await counter.hit(key, minute, 3, noon), answer(true, 1))
    assert.deepEqual(await counter.hit(key, minute, 3, noon + 1), answer(true, 2))
    assert.deepEqual(await counter.hit(key, minute, 3, noon + 2), answer(true, 3))
    assert.deepEqual(await counter.hit(key, minute, 3, noon + 3), answer(false, 3))
    assert.deepEqual(await counter.hit(key, minute, 3, noon + 4), answer(false, 3), 'not counted')
  },
  'a window starts with its first hit and no later hit extends it': async ({ counter, key }) => {
    await counter.hit(key, minute, 2, noon)
    const last = noon + minute - 1
    assert.deepEqual(await counter.hit(key, minute, 2, last), answer(true, 2), 'allowed')
    assert.deepEqual(await counter.hit(key, minute, 2, last), answer(false, 2), 'refused')
    assert.deepEqual(
      await counter.hit(key, minute, 2, noon + minute),
      answer(true, 1, noon + 2 * minute),
      'counting starts anew the millisecond the window ends',
    )
  },
  'a running window keeps its end when another length is asked': async ({ counter, key }) => {
    await counter.hit(key, minute, 5, noon)
    assert.deepEqual(await counter.hit(key, 10 * minute, 5, noon + 1), answer(true, 2))
    assert.deepEqual(await counter.hit(key, 1, 5, noon + 2), answer(true, 3))
  },
  'another limit counts from the next hit': async ({ counter, key }) => {
    await counter.hit(key, minute, 5, noon)
    await counter.hit(key, minute, 5, noon)
    assert.deepEqual(await counter.hit(key, minute, 1, noon), answer(false, 2), 'lowered')
    assert.deepEqual(await counter.hit(key, minute, 3, noon), answer(true, 3), 'raised')
  },
  'a limit of 0 refuses every hit': async ({ counter, key }) => {
    for (let hit = 0; hit < 2; hit++) {
      const { allowed, count } = await counter.hit(key, minute, 0, noon)
      assert.deepEqual({ allowed, count }, { allowed: false, count: 0 })
    }
    assert.equal((await counter.hit(key, minute, 1, noon)).allowed, true, 'nothing was counted')
  },
  'keys are counted apart': async ({ counter, key }) => {
    await counter.hit(`${key}/a`, minute, 1, noon)
    for (const other of [key, `${key}/A`, `${key}/a `, `${key}/b`]) {
      assert.deepEqual(await counter.hit(other, minute, 1, noon), answer(true, 1))
    }
  },
  'only the time that is passed counts': async ({ counter, key }) => {
    for (const now of [Date.UTC(1970, 0, 2), Date.UTC(2100, 0, 1)]) {
      const own = `${key}/${now}`
      assert.deepEqual(await counter.hit(own, minute, 2, now), answer(true, 1, now + minute))
      await counter.hit(own, minute, 2, now + 1)
      const refused = answer(false, 2, now + minute)
      assert.deepEqual(await counter.hit(own, minute, 2, now + minute - 1), refused)
      assert.equal((await counter.hit(own, minute, 2, now + minute)).allowed, true)
    }
  },
  'of twenty parallel hits with a limit of five, five are allowed': async ({ counter, key }) => {
    await rounds(async (round) => {
      const answers = await race(20, () => counter.hit(`${key}/${round}`, minute, 5, noon))
      assert.deepEqual(counted(answers), [1, 2, 3, 4, 5], 'each allowed hit is counted once')
      const refused = answers.filter(({ allowed }) => !allowed)
      assert.deepEqual(new Set(refused.map(({ count }) => count)), new Set([5]))
      assert.deepEqual(new Set(answers.map(({ resetsAt }) => resetsAt)), new Set([noon + minute]))
    })
  },
  'of twenty parallel hits after a window ended, the limit is allowed': async ({
    counter,
    key,
  }) => {
    await rounds(async (round) => {
      const own = `${key}/${round}`
      await race(5, () => counter.hit(own, minute, 5, noon))
      const answers = await race(20, () => counter.hit(own, minute, 5, noon + minute))
      assert.deepEqual(counted(answers), [1, 2, 3, 4, 5], 'one new window, started once')
    })
  },
  'forgive hands back hits, never below zero': async ({ counter, key }) => {
    for (let hit = 0; hit < 3; hit++) await counter.hit(key, minute, 3, noon)
    await counter.forgive(key, 1)
    assert.deepEqual(await counter.hit(key, minute, 3, noon), answer(true, 3), 'one handed back')
    assert.deepEqual(await counter.hit(key, minute, 3, noon), answer(false, 3))
    await counter.forgive(key, 100)
    assert.deepEqual(await counter.hit(key, minute, 3, noon), answer(true, 1), 'not below zero')
  },
  'forgive without a number forgets the key': async ({ counter, key }) => {
    await counter.hit(key, minute, 1, noon)
    await counter.forgive(key)
    const later = noon + 10
    assert.deepEqual(await counter.hit(key, minute, 1, later), answer(true, 1, later + minute))
  },
  'forgive of an unknown key does nothing': async ({ counter, key }) => {
    await counter.forgive(key)
    await counter.forgive(key, 3)
    assert.deepEqual(await counter.hit(key, minute, 1, noon), answer(true, 1))
  },
  'parallel hits and forgives lose nothing': async ({ counter, key }) => {
    await rounds(async (round) => {
      const own = `${key}/${round}`
      await race(10, () => counter.hit(own, minute, 100, noon))
      await race(20, async (racer) => {
        if (racer % 2) await counter.forgive(own, 1)
        else await counter.hit(own, minute, 100, noon)
      })
      assert.deepEqual(await counter.hit(own, minute, 100, noon), answer(true, 11))
    })
  },
  'sweep removes windows that ended, up to its limit': async ({ counter, key }) => {
    // Other cases may share this counter; none of their windows ends in the first hours of 1970.
    for (const name of ['a', 'b', 'c']) await counter.hit(`${key}/${name}`, minute, 1, 2000)
    await counter.hit(`${key}/d`, minute, 1, 2000 + 1)
    const end = 2000 + minute
    assert.equal(await counter.sweep(end - 1, 10), 0, 'no window had ended yet')
    assert.equal(await counter.sweep(end, 2), 2, 'at most the limit')
    assert.equal(await counter.sweep(end, 2), 1, 'the rest')
    const running = await counter.hit(`${key}/d`, minute, 1, 2000 + 2)
    assert.deepEqual(running, answer(false, 1, end + 1), 'a running window stays')
    assert.equal(await counter.sweep(end + 1, 10), 1)
  },
}

export const counterScripts: readonly CaseScript<BackendSubject>[] = scriptsOf({
  group: 'counter',
  promise: 'Counter: counting and checking are one atomic step, by the time that is passed',
  scripts,
  setUp: setUpOf,
})

/** How many answers there are of each kind. */
function tally(answers: readonly CounterResult[]): Readonly<Record<string, number>> {
  const seen: Record<string, number> = {}
  for (const { allowed, count, resetsAt } of answers) {
    const what = `${allowed ? 'allowed' : 'refused'} at ${count} until ${resetsAt}`
    seen[what] = (seen[what] ?? 0) + 1
  }
  return seen
}

/** What eight additions of two hits within a limit of five come to, in whatever order they were carried out. */
const twoByTwo = (resetsAt: number) => ({
  [`allowed at 2 until ${resetsAt}`]: 1,
  [`allowed at 4 until ${resetsAt}`]: 1,
  [`refused at 5 until ${resetsAt}`]: 6,
})

const addScripts: Scripts<AddingSetup> = {
  'add counts all its hits, and hit goes on from there': async ({ counter, key }) => {
    assert.deepEqual(await counter.add(key, minute, 9, noon, 3), answer(true, 3), 'a new window')
    assert.deepEqual(await counter.add(key, minute, 9, noon + 1, 4), answer(true, 7))
    assert.deepEqual(await counter.hit(key, minute, 9, noon + 2), answer(true, 8))
    assert.deepEqual(await counter.add(key, minute, 9, noon + 3, 1), answer(true, 9), 'the last')
    assert.deepEqual(await counter.hit(key, minute, 9, noon + 4), answer(false, 9))
  },
  'add counts the hits that have room and is refused when not all have': async (setup) => {
    const { counter, key } = setup
    await counter.add(key, minute, 5, noon, 3)
    assert.deepEqual(await counter.add(key, minute, 5, noon, 3), answer(false, 5), 'two of three')
    assert.deepEqual(await counter.add(key, minute, 5, noon, 1), answer(false, 5), 'none of one')
    assert.deepEqual(await counter.hit(key, minute, 6, noon), answer(true, 6), 'neither is kept')
  },
  'add of more hits than the limit fills a new window': async ({ counter, key }) => {
    assert.deepEqual(await counter.add(key, minute, 5, noon, 8), answer(false, 5))
    const after = noon + minute
    const refused = answer(false, 5, after + minute)
    assert.deepEqual(await counter.add(key, minute, 5, after, 8), refused, 'the one before ended')
    const { allowed, count } = await counter.add(`${key}/0`, minute, 0, noon, 2)
    assert.deepEqual({ allowed, count }, { allowed: false, count: 0 }, 'a limit of 0')
  },
  'add within a lowered limit takes back nothing that was counted': async ({ counter, key }) => {
    await counter.add(key, minute, 9, noon, 4)
    assert.deepEqual(await counter.add(key, minute, 2, noon, 3), answer(false, 4), 'lowered')
    assert.deepEqual(await counter.add(key, minute, 7, noon, 3), answer(true, 7), 'raised')
  },
  'a window starts with the first hits added and no later ones extend it': async (setup) => {
    const { counter, key } = setup
    for (const [later, count] of [
      [0, 2],
      [1, 4],
      [minute - 1, 6],
    ] as const) {
      // Another length is asked for each time; the window that runs keeps its end.
      assert.deepEqual(
        await counter.add(key, minute + later, 9, noon + later, 2),
        answer(true, count),
      )
    }
    const after = noon + minute
    assert.deepEqual(await counter.add(key, minute, 9, after, 2), answer(true, 2, after + minute))
  },
  'of eight parallel additions, as many hits are counted as have room': async (setup) => {
    const { counter, key } = setup
    await rounds(async (round) => {
      const own = `${key}/${round}`
      const first = await race(8, () => counter.add(own, minute, 5, noon, 2))
      assert.deepEqual(tally(first), twoByTwo(noon + minute), 'in a new window')
      const later = noon + minute
      const second = await race(8, () => counter.add(own, minute, 5, later, 2))
      assert.deepEqual(tally(second), twoByTwo(later + minute), 'after a window ended')
    })
  },
  'parallel additions, hits and forgives lose nothing': async ({ counter, key }) => {
    await rounds(async (round) => {
      const own = `${key}/${round}`
      await counter.add(own, minute, 100, noon, 10)
      await race(18, async (racer) => {
        if (racer % 3 === 0) await counter.add(own, minute, 100, noon, 3)
        else if (racer % 3 === 1) await counter.hit(own, minute, 100, noon)
        else await counter.forgive(own, 1)
      })
      assert.deepEqual(await counter.hit(own, minute, 100, noon), answer(true, 29))
    })
  },
}

export const counterAddScripts: readonly CaseScript<BackendSubject>[] = scriptsOf({
  group: 'counter',
  promise: 'Counter.add: as many calls of `hit`, in one atomic step',
  scripts: addScripts,
  async setUp(subject: BackendSubject) {
    const counter = addingCounter(subject.backend.counter)
    return { ...(await setUpOf(subject)), counter }
  },
})

/** The cases that every `Counter` must pass. Those of `add` are skipped for a counter without it. */
export function counterCases(make: MakeBackend): readonly ConformanceCase[] {
  return casesOf([...counterScripts, ...counterAddScripts], make)
}
