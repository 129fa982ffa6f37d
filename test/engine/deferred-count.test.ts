import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type DeferredCount,
  isForgettable,
  judgeDeferred,
  localAllowance,
  reported,
  unanswered,
} from '../../src/engine/limits.js'
import { deferredReplicas, type Step } from './deferred-replicas.js'

const windowMs = 60_000
const at = (now: number, limit = 100) => ({ now, limit, windowMs })

/** The state after these hits, none of which may have been reported or refused. */
function having(known: DeferredCount | null, ...times: readonly number[]): DeferredCount | null {
  return times.reduce((state: DeferredCount | null, now) => {
    const decision = judgeDeferred(state, at(now))
    if (decision.outcome !== 'allowed') throw new Error(`${decision.outcome} at ${now}`)
    return decision.next
  }, known)
}

function outcomeOf(known: DeferredCount | null, now: number, limit = 100): string {
  const decision = judgeDeferred(known, at(now, limit))
  return decision.outcome === 'report' ? `report ${decision.hits}` : decision.outcome
}

function never(): never {
  throw new Error('nothing was counted')
}

/** What is known after the answer to a report that began at 0. */
function told(allowed: boolean, resetsAt: number, limit = 100): DeferredCount | null {
  const asked = judgeDeferred(having(null, 0, 0), at(0, limit))
  if (asked.outcome !== 'report') throw new Error(asked.outcome)
  return reported(asked.next, { allowed, resetsAt }, at(1, limit))
}

describe('what a process counts by itself', () => {
  it.each([
    [0, 0],
    [1, 1],
    [99, 1],
    [100, 2],
    [120, 2],
    [150, 3],
    [600, 12],
  ])('of a limit of %i: %i', (limit, allowance) => {
    expect(localAllowance(limit)).toBe(allowance)
  })

  it('lets a fiftieth of the limit through, and reports them with the next hit', () => {
    expect(outcomeOf(null, 0)).toBe('allowed')
    expect(outcomeOf(having(null, 0), 1)).toBe('allowed')
    expect(outcomeOf(having(null, 0, 1), 2)).toBe('report 3')
    expect(outcomeOf(null, 0, 0)).toBe('report 1')
  })

  it('reports each later hit alone until the window of the counter ends', () => {
    const shared = told(true, 90_000)
    expect(outcomeOf(shared, 2)).toBe('report 1')
    expect(outcomeOf(shared, 89_999)).toBe('report 1')
    expect(outcomeOf(shared, 90_000)).toBe('allowed')
  })

  it('remembers a refusal until the window ends, and under no higher limit', () => {
    const full = told(false, 90_000)
    expect(judgeDeferred(full, at(89_999))).toEqual({ outcome: 'refused', resetsAt: 90_000 })
    expect(outcomeOf(full, 2, 99)).toBe('refused')
    expect(outcomeOf(full, 2, 101)).toBe('report 1')
    expect(outcomeOf(full, 90_000)).toBe('allowed')
  })

  it('goes by a lowered limit at once', () => {
    expect(outcomeOf(having(null, 0), 1, 99)).toBe('report 2')
  })

  it('begins a window when the one before has ended, and drops what that one had', () => {
    const ended = having(null, 0, 0)
    expect(outcomeOf(ended, windowMs)).toBe('allowed')
    expect(outcomeOf(having(ended, windowMs, windowMs), windowMs)).toBe('report 3')
  })

  it('counts late hits of the window before as spent, so that no minute has more than the allowance', () => {
    const late = having(null, 0, 50_000)
    expect(outcomeOf(having(late, windowMs), windowMs + 1)).toBe('report 2')
    // Those are older than a minute by then.
    expect(outcomeOf(having(late, 110_000), 110_001)).toBe('allowed')
  })

  it('keeps what it was told while an answer was under way', () => {
    const asked = judgeDeferred(having(null, 0, 0), at(59_999))
    if (asked.outcome !== 'report') throw new Error(asked.outcome)
    const next = having(asked.next, windowMs)
    const answered = reported(next, { allowed: true, resetsAt: 119_999 }, at(windowMs))
    expect(outcomeOf(answered, windowMs + 1)).toBe('report 2')
    // The answer about a window that has ended says nothing.
    const other = { allowed: false, resetsAt: windowMs }
    expect(reported(next, other, at(windowMs))).toBe(next)
  })

  it('of two answers believes the one about the later window', () => {
    const shared = told(false, 90_000)
    expect(reported(shared, { allowed: true, resetsAt: 80_000 }, at(2))).toBe(shared)
    expect(outcomeOf(reported(shared, { allowed: true, resetsAt: 90_000 }, at(2)), 3)).toBe(
      'refused',
    )
    const later = reported(shared, { allowed: true, resetsAt: 100_000 }, at(2))
    expect(outcomeOf(later, 3)).toBe('report 1')
  })

  it('reports hits once more whose report failed, and decides by them meanwhile', () => {
    const asked = judgeDeferred(having(null, 0, 0), at(1, 4))
    if (asked.outcome !== 'report') throw new Error(asked.outcome)
    const first = unanswered(asked.next, asked.hits, at(2, 4))
    expect(first.allowed).toBe(true)
    expect(outcomeOf(first.next, 3, 4)).toBe('report 4')
    const fourth = unanswered({ ...first.next, unreported: 0 }, 4, at(3, 4))
    expect(fourth.allowed).toBe(true)
    const fifth = unanswered({ ...fourth.next, unreported: 0 }, 5, at(4, 4))
    expect(fifth.allowed).toBe(false)
    // The refused hit is not among them.
    expect(outcomeOf(fifth.next, 5, 4)).toBe('report 5')
    // Those of a window that has ended are nobody's any more.
    const next = unanswered(asked.next, asked.hits, at(windowMs, 4))
    expect([next.allowed, next.next.unreported]).toEqual([true, 1])
  })

  it('counts none of a window that it knew nothing of, and none where nothing was let through', () => {
    expect(unanswered(null, 3, at(0)).next).toMatchObject({ unreported: 1, quietAt: windowMs })
    expect(unanswered(null, 1, at(5, 0))).toMatchObject({
      allowed: false,
      next: { unreported: 0, quietAt: 0 },
    })
  })

  it('counts all late hits of a window of the counter as spent', () => {
    const late = unanswered(told(true, 30_000), 3, at(100))
    expect(late.next.unreported).toBe(3)
    expect(unanswered(late.next, 1, at(30_000)).next.spent).toBe(3)
  })

  it('of answers about one window keeps a refusal, and the highest limit that it was of', () => {
    const refused = (known: DeferredCount | null, limit: number) =>
      reported(known, { allowed: false, resetsAt: 60_000 }, at(2, limit))
    expect(refused(told(true, 60_000), 100)?.full).toBe(100)
    expect(refused(refused(told(true, 60_000), 150), 100)?.full).toBe(150)
    expect(refused(refused(told(true, 60_000), 100), 150)?.full).toBe(150)
  })

  it('is not forgettable before the window of the counter is over', () => {
    const known = told(true, 90_000) ?? never()
    expect([89_999, 90_000].map((now) => isForgettable(known, now))).toEqual([false, true])
  })

  it('is forgettable once its window and the minute after its last hit are over', () => {
    const late = having(null, 0, 50_000) ?? never()
    expect([59_999, 60_000, 109_999, 110_000].map((now) => isForgettable(late, now))).toEqual([
      false,
      false,
      false,
      true,
    ])
  })
})

const windowsMs = 1000
const replicas = 3

/** Hits of one process at one moment; now and then as many as use up the limit. */
const burst = fc.record({
  replica: fc.nat(replicas - 1),
  pause: fc.constantFrom(0, 1, 400, 700, 1000),
  times: fc.constantFrom(1, 1, 2, 7, 400),
  counted: fc.constantFrom(0, 0, 1, 3),
  answered: fc.constantFrom(0, 0, 1, 3),
})

type Burst = Pick<Step, 'replica' | 'pause'> & Partial<Step> & { readonly times: number }

/** How many hits were let through in each window of the counter. */
function admitted(bursts: readonly Burst[], limit: number): readonly number[] {
  const together = deferredReplicas(limit, windowsMs)
  const steps = bursts.flatMap(({ times, ...one }) => {
    const hit = { counted: 0, answered: 0, ...one }
    return Array.from({ length: times }, (_, at) => (at === 0 ? hit : { ...hit, pause: 0 }))
  })
  for (const [index, one] of steps.entries()) together.play(one, index)
  return together.admittedPerWindow()
}

describe('processes together', () => {
  const boundOf = (limit: number) => limit + replicas * localAllowance(limit)

  it('let through the limit and the allowance of each in a window, however their reports cross', () => {
    const bursts = fc.array(burst, { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(bursts, fc.constantFrom(1, 100, 400), (played, limit) => {
        for (const count of admitted(played, limit)) {
          expect(count).toBeLessThanOrEqual(boundOf(limit))
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('let through no more where the windows of the processes began earlier', () => {
    const [count = 0] = admitted(
      [
        { replica: 1, pause: 0, times: 1 },
        { replica: 2, pause: 0, times: 1 },
        { replica: 0, pause: 990, times: 450 },
        { replica: 1, pause: 8, times: 7 },
        { replica: 2, pause: 0, times: 7 },
        { replica: 1, pause: 2, times: 8 },
        { replica: 2, pause: 0, times: 8 },
      ],
      400,
    )
    expect(count).toBeLessThanOrEqual(boundOf(400))
  })

  it('may let through nearly as many', () => {
    const others = [1, 2].map((replica) => ({ replica, pause: 0, times: 9 }))
    const bursts = [{ replica: 0, pause: 0, times: 450 }, ...others]
    expect(admitted(bursts, 400)).toEqual([400 + 2 * localAllowance(400)])
  })
})
