import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { createRateLimiter } from '../../../src/domain/limits/rate-limiter.js'
import type { Counter } from '../../../src/ports/backend.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

const minute = 60_000
const short = { limit: 3, windowMs: 15 * minute }
const long = { limit: 3, windowMs: 60 * minute }

/** A limiter whose counter another process hits, once in each of `times` closings, when the old window is gone. */
function limiter({ times = 0, canAdd = true } = {}) {
  const { hit, add, forgive, sweep } = memory().counter
  const clock = fakeClock()
  const calls: string[] = []
  let left = times
  const counter: Counter = {
    async hit(...call) {
      calls.push('hit')
      return hit(...call)
    },
    async forgive(key, hits) {
      calls.push('forgive')
      await forgive(key, hits)
      if (left <= 0) return
      left -= 1
      await hit(key, short.windowMs, short.limit, clock.now())
    },
    sweep,
    ...(canAdd &&
      add && {
        async add(...call) {
          calls.push('add')
          return add(...call)
        },
      }),
  }
  const deps = { clock, logger: recordingLogger(), overrides: {} }
  const limits = createRateLimiter({ surface: 'client', counter, ...deps })
  const guess = () => limits.checkWith('guess', 'ada', short)
  return { limits, clock, calls, guess }
}

describe.each([true, false])('a window that is closed, by a counter that adds: %s', (canAdd) => {
  it.each([0, 1, 3])(
    'is as long as it is to be, also where another process hits it meanwhile: %s times',
    async (times) => {
      const { limits, clock, guess } = limiter({ times, canAdd })
      await guess()
      const from = clock.now()
      expect(await limits.close('guess', 'ada', long)).toBe(from + long.windowMs)
      await expect(guess()).rejects.toMatchObject({ retryAfter: 3600 })
      await clock.advance(long.windowMs - 1)
      await expect(guess()).rejects.toMatchObject({ code: 'rate_limited' })
      await clock.advance(1)
      expect(await guess()).toMatchObject({ count: 1 })
    },
  )

  it('ends at some time, although others are always faster', async () => {
    const { limits, clock, guess } = limiter({ times: Number.POSITIVE_INFINITY, canAdd })
    await guess()
    const until = await limits.close('guess', 'ada', long)
    expect(until).toBe(clock.now() + short.windowMs)
    await expect(guess()).rejects.toMatchObject({ code: 'rate_limited' })
  })
})

it('a window is closed in three calls of the counter, whatever its limit', async () => {
  const { limits, calls, guess } = limiter()
  await guess()
  calls.length = 0
  await limits.close('guess', 'ada', { ...long, limit: 1000 })
  expect(calls).toEqual(['add', 'forgive', 'add'])
})

it('of two closings the longer one stays', async () => {
  const { limits, clock } = limiter()
  const until = clock.now() + 2 * long.windowMs
  await limits.close('guess', 'ada', { ...long, windowMs: 2 * long.windowMs })
  expect(await limits.close('guess', 'ada', long)).toBe(until)
})

it('a closing ends where the counter forgives nothing', async () => {
  const faulty = faultyBackend(memory())
  const { counter } = faulty.backend
  const deps = { clock: fakeClock(), logger: recordingLogger(), overrides: {} }
  const limits = createRateLimiter({ surface: 'client', counter, ...deps })
  await limits.checkWith('guess', 'ada', short)
  faulty.failNext('counter.forgive', 'before', Number.POSITIVE_INFINITY)
  const before = faulty.calls.length
  expect(await limits.close('guess', 'ada', long)).toBe(deps.clock.now() + short.windowMs)
  expect(faulty.calls.slice(before)).toEqual(['counter.add', 'counter.forgive', 'counter.add'])
})

it('a window is closed in this process where the counter cannot be reached at all', async () => {
  const faulty = faultyBackend(memory())
  const { counter } = faulty.backend
  const deps = { clock: fakeClock(), logger: recordingLogger(), overrides: {} }
  const limits = createRateLimiter({ surface: 'client', counter, ...deps })
  for (const call of ['hit', 'add', 'forgive'])
    faulty.failNext(`counter.${call}`, 'before', Number.POSITIVE_INFINITY)
  const guess = () => limits.checkWith('guess', 'ada', short)
  for (let n = 0; n < short.limit; n += 1) await guess()
  expect(await limits.close('guess', 'ada', long)).toBe(deps.clock.now() + long.windowMs)
  await expect(guess()).rejects.toMatchObject({ retryAfter: 3600 })
})

it('a window is closed by a counter that cannot add just now', async () => {
  const { counter } = memory()
  const add = () => Promise.reject(new Error('cannot be reached'))
  const deps = { clock: fakeClock(), logger: recordingLogger(), overrides: {} }
  const limits = createRateLimiter({ surface: 'client', counter: { ...counter, add }, ...deps })
  await limits.close('guess', 'ada', long)
  const guess = limits.checkWith('guess', 'ada', short)
  await expect(guess).rejects.toMatchObject({ retryAfter: 3600 })
})
