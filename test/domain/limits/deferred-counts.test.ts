import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { createDeferredCounts } from '../../../src/domain/limits/rate-limiter.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { addingCounter } from '../../../src/testing/shared/adding-counter.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'
import { type FaultMode, faultyBackend, withCall } from '../../support/stores/faulty-backend.js'

const minute = 60_000
const hundred = { limit: 100, windowMs: minute }
const always = Number.POSITIVE_INFINITY

function countsOf(capacity?: number) {
  const faulty = faultyBackend(memory())
  // Every answer takes a while, so that hits of one moment overlap.
  const { counter } = withCall(faulty.backend, async (_name, work) => {
    await turn()
    return work()
  })
  const { add } = addingCounter(counter)
  const clock = fakeClock()
  const logger = recordingLogger()
  const counts = createDeferredCounts({ add, clock, logger }, capacity)
  return {
    ...{ faulty, clock, logger, counts },
    /** How many of so many hits at once are let through. */
    async passed(times: number, { key = 'a', limit = hundred.limit } = {}): Promise<number> {
      const hits = Array.from({ length: times }, () => counts.hit(key, { ...hundred, limit }))
      const answers = await Promise.all(hits)
      return answers.filter((answer) => answer?.allowed).length
    },
    /** How many hits the counter holds. */
    held: async (key = 'a') => (await counter.hit(key, minute, 0, clock.now())).count,
  }
}

describe('hits that a process counts first', () => {
  it('make no call until the allowance is used up, and then one for all', async () => {
    const { passed, held, faulty } = countsOf()
    expect(await passed(2)).toBe(2)
    expect([faulty.calls, await held()]).toEqual([['counter.hit'], 0])
    expect(await passed(1)).toBe(1)
    expect(await held()).toBe(3)
  })

  it('are each counted once when many come at once', async () => {
    const { passed, held } = countsOf()
    expect(await passed(60)).toBe(60)
    expect(await held()).toBe(60)
    expect(await passed(60)).toBe(40)
    expect(await held()).toBe(100)
  })

  it('are refused without a call once the counter refused', async () => {
    const { passed, faulty, clock } = countsOf()
    expect(await passed(101)).toBe(100)
    const calls = faulty.calls.length
    expect(await passed(50)).toBe(0)
    expect(faulty.calls).toHaveLength(calls)
    await clock.advance(minute)
    expect(await passed(1)).toBe(1)
  })

  it('go by a lowered limit at once, and by a raised one', async () => {
    const { passed } = countsOf()
    expect(await passed(30)).toBe(30)
    expect(await passed(5, { limit: 10 })).toBe(0)
    expect(await passed(50, { limit: 40 })).toBe(10)
  })

  it('are counted per key', async () => {
    const { passed, held } = countsOf()
    expect(await passed(101)).toBe(100)
    expect(await passed(5, { key: 'b' })).toBe(5)
    expect(await held('b')).toBe(5)
  })
})

describe('a full map', () => {
  it('forgets nothing: a key without room is counted as it comes', async () => {
    const { passed, held, counts, clock } = countsOf(2)
    expect(await passed(2)).toBe(2)
    expect(await passed(1, { key: 'b' })).toBe(1)
    expect(await counts.hit('c', hundred)).toBeNull()
    expect(await passed(1)).toBe(1)
    expect(await held()).toBe(3)
    await clock.advance(minute)
    expect(await counts.hit('c', hundred)).toMatchObject({ allowed: true })
  })

  it('has room again for each key whose window ended', async () => {
    const { counts, clock } = countsOf(50)
    for (const round of [1, 2, 3]) {
      for (let key = 0; key < 50; key += 1) {
        expect(await counts.hit(`${round}/${key}`, hundred)).toMatchObject({ allowed: true })
      }
      await clock.advance(minute)
    }
  })
})

describe('a report that fails', () => {
  const modes: readonly FaultMode[] = ['before', 'after']

  it.each(modes)('leaves its hits to the next one: failing %s it is counted', async (mode) => {
    const { passed, held, faulty, logger } = countsOf()
    faulty.failNext('counter.add', mode)
    expect(await passed(3)).toBe(3)
    expect(logger.lines.map(({ level, fields }) => [level, fields?.['hits']])).toEqual([
      ['warn', 3],
    ])
    expect(await passed(1)).toBe(1)
    // Lost answers count twice, so that they are no way around the limit.
    expect(await held()).toBe(mode === 'before' ? 4 : 7)
  })

  it.each(modes)('of many at once loses none: failing %s', async (mode) => {
    const { passed, held, faulty } = countsOf()
    faulty.failNext('counter.add', mode, 10)
    expect(await passed(20)).toBe(20)
    expect(await passed(1)).toBe(1)
    if (mode === 'before') expect(await held()).toBe(21)
    else expect(await held()).toBeGreaterThanOrEqual(21)
  })

  it.each(modes)('leaves the limit to this process, for as long as it lasts: %s', async (mode) => {
    const { passed, faulty, clock, counts } = countsOf()
    faulty.failNext('counter.add', mode, always)
    expect(await passed(150)).toBe(100)
    const resetsAt = clock.now() + minute
    expect(await counts.hit('a', hundred)).toEqual({ allowed: false, resetsAt })
    await clock.advance(minute)
    expect(await passed(150)).toBe(100)
  })

  it('is not remembered as a refusal: the counter is asked again at once', async () => {
    const { passed, held, faulty } = countsOf()
    faulty.failNext('counter.add', 'before', always)
    expect(await passed(40)).toBe(40)
    faulty.heal()
    expect(await passed(100)).toBe(60)
    expect(await held()).toBe(100)
  })
})
