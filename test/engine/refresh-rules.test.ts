import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import {
  capReached,
  type Delivery,
  type FamilyState,
  idleDeadline,
  judgeRefresh,
  lateRotationGuard,
  type Presented,
  type RefreshPolicy,
  rotationGuard,
} from '../../src/engine/refresh-rules.js'
import { surfaceCollections } from '../../src/model/collections.js'
import { specOf } from '../support/stores/spec-of.js'

const grace = 10_000
const policy: RefreshPolicy = { graceMs: grace, absoluteTtlMs: 1_000_000 }
const now = 500_000

const family: FamilyState<'logout' | 'max_age'> = Object.freeze({
  loginAt: 0,
  sessionEpoch: 3,
  generation: 5,
  rotatedAt: now - 1000,
  rotatedTo: 'newest',
  noReissueUpTo: 0,
  shown: 4,
  device: 'phone',
  byDevice: true,
  delivery: 'cookie',
  expiresAt: now + 1000,
  revokedAt: null,
  revokedReason: null,
})

const presented: Presented = Object.freeze({
  generation: 5,
  nextJti: 'mine',
  requiredEpoch: 3,
  delivery: 'cookie',
  devices: [],
})

const outcome = (
  row: Partial<typeof family> | null,
  token: Partial<Presented> = {},
  at = now,
  rules = policy,
): string =>
  judgeRefresh(row === null ? null : { ...family, ...row }, { ...presented, ...token }, rules, at)
    .outcome

describe('what a refresh token is worth', () => {
  it('current, unknown, revoked with its reason', () => {
    expect(outcome({})).toBe('current')
    expect(outcome(null)).toBe('unknown')
    const revoked = { ...family, revokedAt: 1, revokedReason: 'max_age' as const }
    expect(judgeRefresh(revoked, presented, policy, now)).toEqual({
      outcome: 'revoked',
      reason: 'max_age',
    })
  })

  it('a row rotated by this very request is a win whose answer was lost', () => {
    expect(outcome({ generation: 6, rotatedTo: 'mine' })).toBe('alreadyRotated')
    expect(outcome({ generation: 6, rotatedTo: 'mine' }, { nextJti: null })).toBe('reissue')
  })

  it('a token ahead of its row means the store was rolled back, and is no replay', () => {
    expect(outcome({}, { generation: 6 })).toBe('rolledBack')
  })

  it('one behind: re-issued strictly inside the window, whatever wrote it', () => {
    const one = { generation: 4 }
    expect(outcome({ rotatedAt: now - grace + 1 }, one)).toBe('reissue')
    expect(outcome({ rotatedAt: now - grace }, one)).toBe('replay')
    expect(outcome({ rotatedAt: now + 3000 }, one)).toBe('reissue')
  })

  it('without a window one behind is replay, also when the writer’s clock is ahead', () => {
    const strict = { ...policy, graceMs: 0 }
    for (const rotatedAt of [now - 1, now, now + 3000]) {
      expect(outcome({ rotatedAt }, { generation: 4 }, now, strict)).toBe('replay')
    }
  })

  describe('after the window, the newest token that was presented', () => {
    const lost = { rotatedAt: now - grace, generation: 5, shown: 4 }
    const own = { generation: 4, devices: ['another account', 'phone'] }

    it('is rotated once more for its own device', () => {
      expect(outcome(lost, own)).toBe('lateRotation')
      expect(outcome({ ...lost, rotatedAt: 0 }, own)).toBe('lateRotation')
      expect(outcome({ ...lost, generation: 9 }, own)).toBe('lateRotation')
      expect(outcome({ ...lost, rotatedAt: now - grace + 1 }, own)).toBe('reissue')
      expect(outcome({ ...lost, generation: 9, rotatedAt: now - grace + 1 }, own)).toBe('reissue')
    })

    it('is replay for everyone else', () => {
      expect(outcome(lost, { ...own, devices: [] })).toBe('replay')
      expect(outcome(lost, { ...own, devices: ['another account'] })).toBe('replay')
      expect(outcome({ ...lost, byDevice: false }, own)).toBe('replay')
      expect(outcome({ ...lost, device: null }, own)).toBe('replay')
    })

    it('is replay once a newer one was presented, and so is what was handed out and never presented', () => {
      expect(outcome({ ...lost, shown: 5 }, own)).toBe('replay')
      expect(outcome({ ...lost, generation: 7 }, { ...own, generation: 6 })).toBe('replay')
      expect(outcome({ ...lost, generation: 7 }, { ...own, generation: 5 })).toBe('replay')
    })

    it('is replay after a password change, and without a window', () => {
      expect(outcome({ ...lost, noReissueUpTo: 4 }, own)).toBe('replay')
      expect(outcome({ ...lost, noReissueUpTo: 3 }, own)).toBe('lateRotation')
      expect(outcome(lost, own, now, { ...policy, graceMs: 0 })).toBe('replay')
    })

    it('is refused for all that refuses the newest', () => {
      expect(outcome({ ...lost, expiresAt: now }, own)).toBe('expired')
      expect(outcome({ ...lost, sessionEpoch: 2 }, own)).toBe('outdated')
      expect(outcome(lost, own, now, { ...policy, absoluteTtlMs: 1 })).toBe('maxAge')
      expect(outcome(lost, { ...own, delivery: 'body' })).toBe('wrongDelivery')
    })
  })

  it('two behind is replay inside the window', () => {
    expect(outcome({ rotatedAt: now }, { generation: 3 })).toBe('replay')
  })

  it('one behind and barred is replay inside the window; what came after the bar is not', () => {
    expect(outcome({ noReissueUpTo: 4 }, { generation: 4 })).toBe('replay')
    expect(outcome({ noReissueUpTo: 3 }, { generation: 4 })).toBe('reissue')
    expect(outcome({ noReissueUpTo: 5 })).toBe('current')
    const own = { generation: 6, rotatedTo: 'mine', noReissueUpTo: 5 }
    expect(outcome(own)).toBe('alreadyRotated')
  })

  it('a token shown in another way than it was handed out is refused, after all else', () => {
    const body = { delivery: 'body' } as const
    expect(outcome({}, body)).toBe('wrongDelivery')
    expect(outcome({}, { ...body, generation: 4 })).toBe('wrongDelivery')
    expect(outcome({ delivery: 'body' }, body)).toBe('current')
    expect(outcome({ delivery: 'body' })).toBe('wrongDelivery')
    // At a logout both are as good.
    expect(outcome({}, { delivery: null })).toBe('current')
    // Misuse is misuse wherever it is shown.
    expect(outcome({}, { ...body, generation: 3 })).toBe('replay')
    expect(outcome({ expiresAt: now }, body)).toBe('expired')
  })

  it('expired at the deadline exactly, not before', () => {
    expect(outcome({ expiresAt: now + 1 })).toBe('current')
    expect(outcome({ expiresAt: now })).toBe('expired')
  })

  it('over the cap one millisecond after it, and a re-issue is no way around', () => {
    const cap = { ...policy, absoluteTtlMs: 1000 }
    expect(outcome({ loginAt: now - 1000 }, {}, now, cap)).toBe('current')
    expect(outcome({ loginAt: now - 1001 }, {}, now, cap)).toBe('maxAge')
    expect(outcome({ loginAt: now - 1001 }, { generation: 4 }, now, cap)).toBe('maxAge')
    const uncapped = { ...policy, absoluteTtlMs: null }
    expect(outcome({ loginAt: 0 }, {}, Number.MAX_SAFE_INTEGER - 1, uncapped)).toBe('expired')
  })

  it('another epoch is outdated unless this session was spared', () => {
    expect(outcome({ sessionEpoch: 2 })).toBe('outdated')
    expect(outcome({ sessionEpoch: 4 })).toBe('outdated')
    expect(outcome({ sessionEpoch: 2 }, { requiredEpoch: null })).toBe('current')
  })

  it.each([
    ['revoked before all', { revokedAt: 1, generation: 9, expiresAt: 0 }, 'revoked'],
    ['replay before idle and cap', { generation: 9, expiresAt: 0, loginAt: -9e9 }, 'replay'],
    ['idle before the cap', { expiresAt: 0, loginAt: -9e9 }, 'expired'],
    ['idle before the epoch', { expiresAt: 0, sessionEpoch: 9 }, 'expired'],
  ])('the order is fixed: %s', (_name, row, expected) => {
    expect(outcome(row)).toBe(expected)
  })
})

interface Step {
  readonly wait: number
  readonly holder: number
}

/** The whole rule in one sentence each: the model the engine is held to. */
function modelled(row: typeof family, generation: number, at: number): string {
  if (row.revokedAt !== null) return 'revoked'
  if (generation === row.generation) return 'current'
  return generation === row.generation - 1 && at - row.rotatedAt < grace ? 'reissue' : 'replay'
}

/** What the service makes of a decision. */
function applied(row: typeof family, verdict: string, at: number): typeof family {
  if (verdict === 'current') {
    return { ...row, generation: row.generation + 1, rotatedAt: at, rotatedTo: 'x' }
  }
  return verdict === 'reissue' ? row : { ...row, revokedAt: row.revokedAt ?? at }
}

function play(sequence: readonly Step[]): void {
  let row: typeof family = { ...family, expiresAt: Number.MAX_SAFE_INTEGER }
  const held = [row.generation, row.generation, row.generation]
  let at = now
  for (const { wait, holder } of sequence) {
    at += wait
    const generation = held[holder] ?? 0
    const token = { ...presented, generation, nextJti: `${at}` }
    const verdict = judgeRefresh(row, token, { graceMs: grace, absoluteTtlMs: null }, at).outcome
    expect(verdict).toBe(modelled(row, generation, at))
    row = applied(row, verdict, at)
    if (row.revokedAt === null) held[holder] = row.generation
  }
}

describe('the window never lets a family live on in two places', () => {
  const steps = fc.array(
    fc.record({ wait: fc.nat({ max: 2 * grace }), holder: fc.nat({ max: 2 }) }),
    { minLength: 1, maxLength: 60 },
  )

  it('three holders of one token: whoever is left behind ends it for all', () => {
    fc.assert(fc.property(steps, play), { numRuns: 2000 })
  })
})

describe('the guard of the write that rotates', () => {
  const cap = 1000
  const mostly = <T>(usual: T, ...others: readonly T[]) =>
    fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, fc.constantFrom(...others))
  const rows = fc.record({
    loginAt: mostly(now - cap, now - cap - 1, now - cap + 1),
    sessionEpoch: mostly(3, 2, 4),
    generation: mostly(5, 4, 6, 7),
    rotatedAt: mostly(now - 1, now - grace, now - grace + 1),
    expiresAt: mostly(now + 1, now, now - 1),
    revokedAt: mostly(null, now - 1),
    delivery: mostly<Delivery>('cookie', 'body'),
  })
  const requests = fc.record({
    requiredEpoch: mostly<number | null>(3, null),
    delivery: mostly<Delivery | null>('cookie', 'body', null),
    // Only the write that moves the generation on names its own `jti` in the row.
    isOwnWrite: fc.boolean(),
    graceMs: mostly(grace, 0),
    absoluteTtlMs: mostly<number | null>(cap, null),
  })

  it('holds on a stored family exactly when the token is current', async () => {
    const property = fc.asyncProperty(rows, requests, async (facts, request) => {
      const { requiredEpoch, delivery, isOwnWrite, ...rules } = request
      const rotatedTo = isOwnWrite && facts.generation === 6 ? 'mine' : 'newest'
      const row = { ...family, ...facts, rotatedTo }
      const families = memory().store.collection(specOf(surfaceCollections.families, 'client'))
      await families.insert({ ...row, id: 'session', userId: 'ada', rotatedBy: 'digest' })
      const token = { ...presented, requiredEpoch, delivery }
      const guard = rotationGuard(token, rules, now)
      const rotated = await families.update('session', guard, { rotatedTo: 'mine' })
      expect(rotated !== null).toBe(outcome(row, token, now, rules) === 'current')
    })
    await fc.assert(property, { numRuns: 2000 })
  })

  it('of a late rotation holds exactly when the row, as it is by then, calls for one', async () => {
    const later = fc.record({
      generation: mostly(5, 6),
      shown: mostly(4, 5),
      noReissueUpTo: mostly(0, 3, 4, 5),
      byDevice: mostly(true, false),
      sessionEpoch: mostly(3, 4),
      expiresAt: mostly(now + 1, now),
      revokedAt: mostly<number | null>(null, now),
      loginAt: mostly(now - cap, now - cap - 1),
      delivery: mostly<Delivery>('cookie', 'body'),
    })
    const token = { ...presented, generation: 4, devices: ['phone'] }
    const rules = { graceMs: grace, absoluteTtlMs: cap }
    const lost = { ...family, rotatedAt: now - grace, loginAt: now - cap }
    const property = fc.asyncProperty(later, async (facts) => {
      const families = memory().store.collection(specOf(surfaceCollections.families, 'client'))
      const row = { ...lost, ...facts }
      await families.insert({ ...row, id: 'session', userId: 'ada', rotatedBy: 'digest' })
      const guard = lateRotationGuard(lost, token, rules, now)
      const rotated = await families.update('session', guard, { rotatedTo: 'mine' })
      // What was rotated since is judged afresh.
      const isCalledFor = row.generation === 5 && outcome(row, token, now, rules) === 'lateRotation'
      expect(rotated !== null).toBe(isCalledFor)
    })
    await fc.assert(property, { numRuns: 1000 })
  })

  it.each([
    [now + 1, true],
    [now, false],
    [now - 1, false],
  ])('of a family that is idle from %i on lets the write through: %s', async (expiresAt, isLet) => {
    const families = memory().store.collection(specOf(surfaceCollections.families, 'client'))
    const row = { ...family, id: 'session', userId: 'ada', rotatedBy: 'digest', expiresAt }
    await families.insert(row)
    const { generation } = family
    const guard = rotationGuard({ ...presented, generation }, { absoluteTtlMs: null }, now)
    const rotated = await families.update('session', guard, { generation: generation + 1 })
    expect(rotated !== null).toBe(isLet)
  })
})

describe('the idle deadline', () => {
  it('is a whole second: now, floored, plus the window', () => {
    expect(idleDeadline(1_000_999, 7_000)).toBe(1_007_000)
    expect(idleDeadline(1_000_000, 7_999)).toBe(1_007_000)
  })
})

it('a session stands at exactly its cap, and a millisecond later no more', () => {
  expect(capReached(1000, 500, 1500)).toBe(false)
  expect(capReached(1000, 500, 1501)).toBe(true)
  expect(capReached(1000, null, 1e12)).toBe(false)
})
