import { describe, expect, it } from 'vitest'
import { countHit } from '../../src/engine/limits.js'

describe('a fixed counting window', () => {
  it('starts with its first hit and counts up to the limit', () => {
    const first = countHit(null, 1000, 2, 5)
    expect(first).toEqual({ allowed: true, window: { count: 1, resetsAt: 1005 } })
    const second = countHit(first.window, 1000, 2, 900)
    expect(second).toEqual({ allowed: true, window: { count: 2, resetsAt: 1005 } })
    const third = countHit(second.window, 1000, 2, 1004)
    expect(third).toEqual({ allowed: false, window: { count: 2, resetsAt: 1005 } })
  })

  it('starts anew when it ends, at that millisecond', () => {
    expect(countHit({ count: 2, resetsAt: 1005 }, 1000, 2, 1005)).toEqual({
      allowed: true,
      window: { count: 1, resetsAt: 2005 },
    })
  })

  it('allows nothing with a limit of zero', () => {
    expect(countHit(null, 1000, 0, 5).allowed).toBe(false)
  })
})
