import { describe, expect, it } from 'vitest'
import { createFailureThrottle } from '../../../src/domain/limits/lockout.js'
import type { RateLimiter } from '../../../src/domain/limits/rate-limiter.js'
import { AuthError } from '../../../src/errors/index.js'

const limit = { limit: 1, windowMs: 60_000 }
const full = new AuthError('rate_limited', { retryAfter: 60 })

/** A moment that a test brings about. */
function moment() {
  let come = (): void => {}
  const comes = new Promise<void>((resolve) => {
    come = resolve
  })
  return { come, comes }
}

/** A counter whose answers arrive when the test says so. It counts when it is asked. */
function slowLimits(answers: readonly Promise<void>[] = []) {
  let hits = 0
  let asked = 0
  const limits: Pick<RateLimiter, 'checkWith' | 'forgive'> = {
    async checkWith() {
      hits += 1
      const isFull = hits > limit.limit
      if (isFull) hits -= 1
      asked += 1
      await answers[asked - 1]
      if (isFull) throw full
      return { count: hits, resetAt: 0 } as never
    },
    async forgive() {
      hits -= 1
    },
  }
  const throttle = createFailureThrottle({ limits: limits as RateLimiter }, 'guesses')
  return { throttle, asked: () => asked, hits: () => hits }
}

const ends = (ok: boolean) => async () => ({ ok })

describe('attempts of one subject at once', () => {
  it('an answer that is older than an attempt handed back is asked for again', async () => {
    const late = moment()
    const work = moment()
    const { throttle, asked, hits } = slowLimits([Promise.resolve(), late.comes])
    const first = throttle.attempt('ada', limit, async () => {
      await work.comes
      return { ok: true }
    })
    const second = throttle.attempt('ada', limit, ends(true))
    await expect.poll(asked).toBe(2)
    work.come()
    await first
    // The counter refused the second while the first was under way; by now there is room.
    late.come()
    expect(await second).toEqual({ ok: true })
    expect([asked(), hits()]).toEqual([3, 0])
  })

  it('an answer is final where what was under way has failed', async () => {
    const late = moment()
    const work = moment()
    const { throttle, asked, hits } = slowLimits([Promise.resolve(), late.comes])
    const first = throttle.attempt('ada', limit, async () => {
      await work.comes
      return { ok: false }
    })
    const second = throttle.attempt('ada', limit, ends(true))
    await expect.poll(asked).toBe(2)
    work.come()
    await first
    late.come()
    await expect(second).rejects.toBe(full)
    expect([asked(), hits()]).toEqual([2, 1])
  })

  it('waits for one that is under way, and takes its place', async () => {
    const work = moment()
    const { throttle, hits } = slowLimits()
    const first = throttle.attempt('ada', limit, async () => {
      await work.comes
      return { ok: true }
    })
    const others = Promise.all([1, 2, 3].map(() => throttle.attempt('ada', limit, ends(true))))
    work.come()
    expect(await first).toEqual({ ok: true })
    expect(await others).toEqual([{ ok: true }, { ok: true }, { ok: true }])
    expect(hits()).toBe(0)
  })

  it('asks no second time where nothing was under way here', async () => {
    const { throttle, asked } = slowLimits()
    await throttle.attempt('ada', limit, ends(false))
    await expect(throttle.attempt('ada', limit, ends(true))).rejects.toBe(full)
    expect(asked()).toBe(2)
  })

  it('hands back an attempt that throws', async () => {
    const { throttle, hits } = slowLimits()
    const down = new Error('down')
    await expect(throttle.attempt('ada', limit, () => Promise.reject(down))).rejects.toBe(down)
    expect(hits()).toBe(0)
  })
})
