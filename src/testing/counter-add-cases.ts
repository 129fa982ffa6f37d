import assert from 'node:assert/strict'
import type { CounterResult } from '../ports/backend.js'
import { type AddingCounter, addingCounter } from './shared/adding-counter.js'
import {
  type BackendSubject,
  type CaseScript,
  race,
  rounds,
  type Scripts,
  scriptsOf,
  uniqueName,
} from './shared/conformance-case.js'

interface Setup {
  readonly counter: AddingCounter
  /** A key of this case alone. */
  readonly key: string
}

const noon = Date.UTC(2030, 5, 15, 12)
const minute = 60_000

function answer(allowed: boolean, count: number, resetsAt = noon + minute): CounterResult {
  return { allowed, count, resetsAt }
}

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

const scripts: Scripts<Setup> = {
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
  scripts,
  async setUp({ backend: { counter, store } }: BackendSubject) {
    const adding = addingCounter(counter)
    await store.prepare([])
    return { counter: adding, key: `kit/${uniqueName()}` }
  },
})
