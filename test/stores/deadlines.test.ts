import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createDeadlines } from '../../src/stores/deadlines.js'
import { fakeClock } from '../../src/testing/fake-clock.js'

function counted(ms: number) {
  const clock = fakeClock()
  let timers = 0
  const after: typeof clock.after = (delay, run) => {
    timers++
    return clock.after(delay, run)
  }
  return { clock, deadlines: createDeadlines({ ...clock, after }, ms), timers: () => timers }
}

describe('deadlines that share a timer', () => {
  it('each call expires at its own time, once, unless it was answered', async () => {
    // Odd, so that no call is answered at the very moment of its deadline.
    const wait = fc.oneof(fc.nat(3), fc.nat(60))
    const answeredAfter = fc.option(fc.nat(99).map((half) => half * 2 + 1))
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ wait, answeredAfter })), async (calls) => {
        const { clock, deadlines } = counted(100)
        const expired: [number, number][] = []
        const expected: [number, number][] = []
        for (const [index, call] of calls.entries()) {
          await clock.advance(call.wait)
          const due = clock.now() + 100
          const cancel = deadlines.add(() => expired.push([index, clock.now()]))
          if (call.answeredAfter !== null) clock.after(call.answeredAfter, cancel)
          if (call.answeredAfter === null || call.answeredAfter > 100) expected.push([index, due])
        }
        await clock.advance(500)
        expect(expired).toEqual(expected)
      }),
    )
  })

  it('a thousand calls that are answered in time need one timer', async () => {
    const { clock, deadlines, timers } = counted(5000)
    for (let at = 0; at < 1000; at++) {
      const cancel = deadlines.add(() => {
        throw new Error('was answered')
      })
      await clock.advance(1)
      cancel()
    }
    await clock.advance(60_000)
    expect(timers()).toBe(1)
  })

  it('a clock that is set back delays a call by one more round at most', async () => {
    const clock = fakeClock()
    let back = 0
    const deadlines = createDeadlines({ ...clock, now: () => clock.now() - back }, 100)
    let isExpired = false
    deadlines.add(() => {
      isExpired = true
    })
    back = 1_000_000
    await clock.advance(100)
    expect(isExpired).toBe(false)
    await clock.advance(100)
    expect(isExpired).toBe(true)
  })
})
