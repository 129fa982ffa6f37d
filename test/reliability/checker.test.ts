import { describe, expect, it } from 'vitest'
import { type Call, checkHistory, type Model } from './checker.js'
import { type FamilyCall, type FamilyOp, type FamilyResult, familyModel } from './family-model.js'

type Register = Call<{ readonly set: number } | 'get', number>

/** One number that is written and read. */
const register: Model<number, Register> = {
  initial: 0,
  key: String,
  after: (state, { op, result }) => {
    if (op !== 'get') return [op.set]
    return result === state ? [state] : []
  },
}

const set = (value: number, invokedAt: number, returnedAt: number): Register => ({
  op: { set: value },
  invokedAt,
  returnedAt,
  result: value,
})

const get = (result: number, invokedAt: number, returnedAt: number): Register => ({
  op: 'get',
  invokedAt,
  returnedAt,
  result,
})

const lost = (value: number, invokedAt: number): Register => ({
  op: { set: value },
  invokedAt,
  returnedAt: Number.POSITIVE_INFINITY,
  result: null,
})

describe('the linearizability checker', () => {
  const verdict = (...calls: readonly Register[]) => checkHistory(register, calls).verdict

  it('finds the order of calls that overlap', () => {
    expect(verdict()).toBe('legal')
    expect(verdict(set(1, 0, 9), get(1, 1, 2), get(0, 1, 2))).toBe('legal')
    expect(verdict(set(1, 0, 9), set(2, 0, 9), get(2, 1, 4), get(1, 5, 8))).toBe('legal')
  })

  it('keeps real time: what returned first took effect first', () => {
    expect(verdict(set(1, 0, 1), get(0, 2, 3))).toBe('illegal')
    expect(verdict(set(1, 0, 1), get(0, 1, 3))).toBe('legal')
    expect(verdict(set(1, 0, 9), get(1, 1, 2), get(0, 3, 4))).toBe('illegal')
    expect(verdict(set(1, 0, 9), set(2, 0, 9), get(2, 1, 2), get(1, 3, 4), get(2, 5, 6))).toBe(
      'illegal',
    )
  })

  it('lets an unanswered call take effect at any later time, or never, and once only', () => {
    expect(verdict(lost(1, 0), get(0, 5, 6))).toBe('legal')
    expect(verdict(lost(1, 0), get(0, 5, 6), get(1, 7, 8))).toBe('legal')
    expect(verdict(lost(1, 5), get(1, 1, 2))).toBe('illegal')
    expect(verdict(lost(1, 0), get(1, 1, 2), set(2, 3, 4), get(1, 5, 6))).toBe('illegal')
  })

  it('tells what fits nowhere', () => {
    const found = checkHistory(register, [set(1, 0, 1), set(2, 2, 3), get(1, 4, 5)])
    expect(found).toMatchObject({ verdict: 'illegal', order: [0, 1] })
    expect('stuck' in found ? found.stuck : '').toContain('? #2 4.00–5.00 "get" → 1')
  })

  it('gives up after ten seconds, and then knows nothing', () => {
    let time = 0
    // Every look at the clock finds it four seconds later.
    const slow = () => (time += 4000)
    expect(checkHistory(register, [set(1, 0, 1)], slow).verdict).toBe('legal')
    expect(checkHistory(register, [set(1, 0, 1), get(1, 2, 3)], slow).verdict).toBe('unknown')
  })

  it('decides sixty calls of which six at a time overlap', () => {
    const calls = Array.from({ length: 60 }, (_, index) => set(index, index, index + 5.5))
    const last = get(58, 100, 101)
    expect(verdict(...calls, last)).toBe('legal')
    expect(verdict(...calls, get(3, 100, 101))).toBe('illegal')
  })
})

const refresh = (generation: number): FamilyOp => ({ kind: 'refresh', generation, known: false })
const rotated = (generation: number): FamilyResult => ({ kind: 'rotated', generation })
const reissued = (generation: number): FamilyResult => ({ kind: 'reissued', generation })
const refused = (code: string): FamilyResult => ({ kind: 'refused', code })
const done: FamilyResult = { kind: 'done' }
const access: FamilyOp = { kind: 'access' }
const reused = refused('refresh_token_reused')
const revoked = refused('session_revoked')
const maxAge = refused('session_max_age_reached')

type Line = readonly [op: FamilyOp, result: FamilyResult | null, invokedAt: number, until: number]

describe('the model of a refresh family', () => {
  function verdict(graceMs: number, ...lines: readonly Line[]): string {
    const calls = lines.map(
      ([op, result, invokedAt, returnedAt]): FamilyCall => ({ op, result, invokedAt, returnedAt }),
    )
    const rules = { graceMs, capAt: 100_000, generation: 1 }
    return checkHistory(familyModel(rules), calls).verdict
  }
  const strict = (...lines: readonly Line[]) => verdict(0, ...lines)
  const lenient = (...lines: readonly Line[]) => verdict(10_000, ...lines)

  it('one rotation wins; a second one is a fork', () => {
    expect(lenient([refresh(1), rotated(2), 0, 9], [refresh(1), reissued(2), 0, 9])).toBe('legal')
    expect(lenient([refresh(1), rotated(2), 0, 9], [refresh(1), rotated(2), 0, 9])).toBe('illegal')
    expect(lenient([refresh(1), rotated(2), 0, 9], [refresh(2), rotated(4), 10, 19])).toBe(
      'illegal',
    )
  })

  it('without grace the predecessor is replay at once', () => {
    const first: Line = [refresh(1), rotated(2), 0, 9]
    expect(strict(first, [refresh(1), reused, 10, 19])).toBe('legal')
    expect(strict(first, [refresh(1), reissued(2), 10, 19])).toBe('illegal')
    expect(strict(first, [refresh(1), reused, 10, 19], [access, done, 20, 29])).toBe('illegal')
  })

  it('the window is that of the predecessor alone, from its rotation, to the millisecond', () => {
    const first: Line = [refresh(1), rotated(2), 0, 0]
    expect(lenient(first, [refresh(1), reissued(2), 9_999, 9_999])).toBe('legal')
    expect(lenient(first, [refresh(1), reissued(2), 10_003, 10_003])).toBe('illegal')
    expect(lenient(first, [refresh(1), reused, 9_000, 9_997])).toBe('illegal')
    expect(lenient(first, [refresh(1), reused, 10_000, 10_001])).toBe('legal')
    const second: Line = [refresh(2), rotated(3), 1, 1]
    expect(lenient(first, second, [refresh(1), reissued(3), 2, 3])).toBe('illegal')
    expect(lenient(first, second, [refresh(1), reused, 2, 3])).toBe('legal')
  })

  it('an alarm is raised once, and never after an ending was confirmed', () => {
    const first: Line = [refresh(1), rotated(2), 0, 9]
    const again: Line = [refresh(1), reused, 20, 29]
    expect(strict(first, [refresh(1), reused, 10, 19], again)).toBe('illegal')
    expect(strict(first, [refresh(1), reused, 10, 19], [refresh(1), revoked, 20, 29])).toBe('legal')
    expect(strict(first, [{ kind: 'logout' }, done, 10, 19], again)).toBe('illegal')
    expect(strict(first, [{ kind: 'logout' }, null, 10, 19], again)).toBe('legal')
    expect(strict([refresh(1), reused, 0, 9])).toBe('illegal')
  })

  it('after an ending nothing is accepted, and before it nothing is refused', () => {
    for (const kind of ['logout', 'terminate', 'terminateAll', 'disable'] as const) {
      const ending: Line = [{ kind }, done, 10, 19]
      expect(lenient(ending, [access, done, 20, 29])).toBe('illegal')
      expect(lenient(ending, [access, done, 15, 29])).toBe('legal')
      expect(lenient(ending, [refresh(1), rotated(2), 20, 29])).toBe('illegal')
      expect(lenient(ending, [access, revoked, 0, 9])).toBe('illegal')
      expect(lenient(ending, [access, revoked, 0, 11], [access, done, 12, 13])).toBe('illegal')
    }
    expect(lenient([refresh(1), revoked, 0, 9])).toBe('illegal')
  })

  it('an unanswered ending may have ended the session, and then for good', () => {
    const ending: Line = [{ kind: 'logout' }, null, 0, 9]
    expect(lenient(ending, [access, done, 20, 29])).toBe('legal')
    expect(lenient(ending, [access, done, 20, 29], [access, revoked, 30, 39])).toBe('legal')
    expect(lenient(ending, [access, revoked, 20, 29], [access, done, 30, 39])).toBe('illegal')
  })

  it('an unanswered refresh may have rotated, so its retry is a re-issue or a rotation', () => {
    const first: Line = [refresh(1), null, 0, 9]
    expect(lenient(first, [refresh(1), rotated(2), 10, 19])).toBe('legal')
    expect(lenient(first, [refresh(1), reissued(2), 10, 19])).toBe('legal')
    expect(strict(first, [refresh(1), reused, 10, 19])).toBe('legal')
    expect(lenient(first, [refresh(2), rotated(3), 10, 19])).toBe('legal')
    expect(lenient([access, null, 0, 9], [refresh(1), reissued(2), 10, 19])).toBe('illegal')
  })

  it('GET session reads: it neither rotates nor outlives an ending', () => {
    const view: Line = [{ kind: 'session', generation: 1, known: false }, done, 20, 29]
    expect(lenient([refresh(1), rotated(2), 0, 9], view)).toBe('legal')
    expect(strict([refresh(1), rotated(2), 0, 9], view)).toBe('illegal')
    expect(lenient(view, [refresh(1), rotated(2), 30, 39])).toBe('legal')
    expect(lenient([{ kind: 'logout' }, done, 0, 9], view)).toBe('illegal')
  })

  it('at its maximum age a session ends at the next refresh, not before', () => {
    expect(lenient([refresh(1), maxAge, 90_000, 90_001])).toBe('illegal')
    expect(lenient([refresh(1), maxAge, 100_001, 100_002])).toBe('legal')
    expect(lenient([refresh(1), rotated(2), 100_003, 100_004])).toBe('illegal')
    const over: Line = [refresh(1), maxAge, 100_001, 100_002]
    expect(lenient([access, done, 100_000, 100_001], over)).toBe('legal')
    expect(lenient(over, [access, done, 100_003, 100_004])).toBe('illegal')
  })

  it('knows every answer there may be', () => {
    expect(lenient([refresh(1), refused('refresh_token_invalid'), 0, 9])).toBe('illegal')
  })
})
