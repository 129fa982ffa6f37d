import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import {
  createRateLimiter,
  defaultRateLimits,
  deferredLimits,
  fallbackCounter,
  handedBackLimits,
  limitedSuccess,
  type RateLimiter,
  type RateLimitName,
  type RateLimits,
  type SessionLimitName,
} from '../../../src/domain/limits/rate-limiter.js'
import type { Surface } from '../../../src/ports/surface.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, surfaces } from '../../support/hosts/open-host.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'
import { otherPassword, person, signedInPerson } from '../../support/people/people.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

const minute = 60_000
const always = Number.POSITIVE_INFINITY

function limitsOf(
  given: { surface?: Surface; overrides?: Partial<RateLimits>; exact?: boolean } = {},
) {
  const { surface = 'client', overrides = {}, exact = false } = given
  const faulty = faultyBackend(memory())
  const clock = fakeClock()
  const logger = recordingLogger()
  const { counter } = faulty.backend
  return {
    limits: createRateLimiter({ surface, counter, clock, logger, overrides, exact }),
    faulty,
    clock,
    logger,
  }
}

/** How many of `count` hits are let through. */
async function passed(count: number, hit: () => Promise<unknown>): Promise<number> {
  let allowed = 0
  for (let n = 0; n < count; n += 1) {
    await hit().then(
      () => {
        allowed += 1
      },
      (error) => expect(error).toMatchObject({ code: 'rate_limited', status: 429 }),
    )
  }
  return allowed
}

describe('rate limits', () => {
  eachSurface.it('are these unless the host says otherwise', (surface) => {
    expect(defaultRateLimits(surface)).toEqual({
      registerPerIp: { limit: surface === 'operator' ? 5 : 10, windowMs: 10 * minute },
      recoveryPerIp: { limit: 5, windowMs: 15 * minute },
      recoveryPerAddress: { limit: 3, windowMs: 60 * minute },
      refreshPerIp: { limit: 600, windowMs: minute },
      refreshFamily: { limit: 60, windowMs: minute },
      oauthPerIp: { limit: 30, windowMs: minute },
      confirmPerIp: { limit: 60, windowMs: 15 * minute },
      mfaPerIp: { limit: 300, windowMs: 5 * minute },
      mfaPerTicket: { limit: 10, windowMs: 5 * minute },
      mfaPerUser: { limit: 10, windowMs: 5 * minute },
      passwordChangePerUser: { limit: 5, windowMs: 60 * minute },
      addressChangePerUser: { limit: 5, windowMs: 60 * minute },
      grantPerIp: { limit: 60, windowMs: minute },
      jwksPerIp: { limit: 300, windowMs: minute },
      optionsPerIp: { limit: 300, windowMs: minute },
      logoutPerIp: { limit: 60, windowMs: minute },
      selfPerSession: { limit: 120, windowMs: minute },
      changePerSession: { limit: 20, windowMs: 15 * minute },
      endingPerSession: { limit: 60, windowMs: minute },
      mfaPerSession: { limit: 10, windowMs: 5 * minute },
      adminPerSession: { limit: 60, windowMs: minute },
    })
  })

  it('let the limit through and say how long to wait for more', async () => {
    const { limits, clock } = limitsOf()
    expect(await passed(5, () => limits.check('recoveryPerAddress', 'ada'))).toBe(3)
    await clock.advance(minute + 1)
    const refused = limits.check('recoveryPerAddress', 'ada')
    await expect(refused).rejects.toMatchObject({ retryAfter: 59 * 60 })
    await clock.advance(59 * minute - 2)
    const last = limits.check('recoveryPerAddress', 'ada')
    await expect(last).rejects.toMatchObject({ retryAfter: 1 })
    await clock.advance(1)
    expect(await passed(5, () => limits.check('recoveryPerAddress', 'ada'))).toBe(3)
  })

  it.each(['self', 'change', 'ending', 'mfa', 'admin'] as const)(
    'of the class %s, all sessions of a user together have five times those of one',
    async (limitClass) => {
      const name = `${limitClass}PerSession` as const
      const { limits } = limitsOf({ overrides: { [name]: { limit: 2, windowMs: minute } } })
      const ofSession = (sessionId: string, userId = 'ada') =>
        passed(3, () => limits.checkSession(name, { sessionId, userId }))
      for (const sessionId of ['a', 'b', 'c', 'd', 'e']) expect(await ofSession(sessionId)).toBe(2)
      expect(await ofSession('f')).toBe(0)
      expect(await ofSession('g', 'eve')).toBe(2)
    },
  )

  it("take the host's numbers for the names it gives", async () => {
    const { limits } = limitsOf({ overrides: { recoveryPerIp: { limit: 2, windowMs: minute } } })
    expect(await passed(9, () => limits.check('recoveryPerIp', 'x'))).toBe(2)
    expect(await passed(9, () => limits.check('recoveryPerAddress', 'x'))).toBe(3)
  })

  it('keep names, subjects and surfaces apart', async () => {
    const { counter } = memory()
    const clock = fakeClock()
    const logger = recordingLogger()
    const [operator, client] = surfaces.map((surface) =>
      createRateLimiter({ surface, counter, clock, logger, overrides: {} }),
    )
    const three = { limit: 3, windowMs: minute }
    const hits = [
      () => operator?.checkWith('a', 'x', three) ?? Promise.reject(),
      () => client?.checkWith('a', 'x', three) ?? Promise.reject(),
      () => operator?.checkWith('b', 'x', three) ?? Promise.reject(),
      () => operator?.checkWith('a', 'y', three) ?? Promise.reject(),
    ]
    for (const hit of hits) expect(await passed(4, hit)).toBe(3)
  })

  it('keep no address in their keys, however long the subject', async () => {
    const keys: string[] = []
    const inner = memory().counter
    const counter = {
      ...inner,
      hit: (...args: Parameters<typeof inner.hit>) => {
        keys.push(args[0])
        return inner.hit(...args)
      },
    }
    const deps = { clock: fakeClock(), logger: recordingLogger(), overrides: {} }
    const limits = createRateLimiter({ surface: 'client', counter, ...deps })
    await limits.check('recoveryPerAddress', 'ada@example.org')
    await limits.check('recoveryPerAddress', `${'x'.repeat(10_000)}@example.org`)
    expect(keys.join()).not.toContain('example')
    expect(keys.every((key) => key.length < 100)).toBe(true)
    expect(new Set(keys).size).toBe(2)
  })

  it('hand back as much as is asked, or everything', async () => {
    const { limits } = limitsOf()
    const hit = () => limits.checkWith('guess', 'ada', { limit: 3, windowMs: minute })
    expect(await passed(4, hit)).toBe(3)
    await limits.forgive('guess', 'ada', 1)
    expect(await passed(4, hit)).toBe(1)
    await limits.forgive('guess', 'ada')
    expect(await passed(4, hit)).toBe(3)
  })
})

describe('rate limits that a process counts first', () => {
  const names = Object.keys(defaultRateLimits('client')) as RateLimitName[]
  const isOfSession = (name: RateLimitName): name is SessionLimitName => name.endsWith('PerSession')
  const hitOf = (limits: RateLimiter, name: RateLimitName): Promise<void> =>
    isOfSession(name)
      ? limits.checkSession(name, { sessionId: 'session', userId: 'user' })
      : limits.check(name, 'subject')
  const deferred = names.filter((name) => deferredLimits.some((one) => one === name))

  it('are these, and no other', async () => {
    const { limits, faulty } = limitsOf()
    const uncounted: string[] = []
    for (const name of names) {
      const before = faulty.calls.length
      await hitOf(limits, name)
      if (faulty.calls.length === before) uncounted.push(name)
    }
    expect(uncounted.sort()).toEqual(
      [
        ...['refreshPerIp', 'refreshFamily', 'grantPerIp', 'jwksPerIp'],
        ...['optionsPerIp', 'selfPerSession', 'adminPerSession'],
      ].sort(),
    )
  })

  it('are none that is ever handed back', () => {
    const { limits } = limitsOf()
    for (const name of handedBackLimits) expect(deferredLimits).not.toContain(name)
    // @ts-expect-error: what this process counts first has nothing to hand back
    expect(() => limits.forgive('selfPerSession', 'ada')).not.toThrow()
    // @ts-expect-error: nor is it counted for an attempt that may be handed back
    expect(() => limitedSuccess(limits, 'selfPerSession', 'ada', async () => {})).not.toThrow()
    // @ts-expect-error: nor under another limit
    expect(() => limits.checkWith('selfPerSession', 'ada', { limit: 1, windowMs: 1 })).not.toThrow()
  })

  it.each(deferred)('%s: as many pass in one process as its limit says', async (name) => {
    const { limits, clock } = limitsOf()
    const { limit, windowMs } = defaultRateLimits('client')[name]
    expect(await passed(limit + 5, () => hitOf(limits, name))).toBe(limit)
    await clock.advance(windowMs)
    expect(await passed(limit + 5, () => hitOf(limits, name))).toBe(limit)
  })

  it('are counted one by one where the host wants them exact', async () => {
    const { limits, faulty } = limitsOf({ exact: true })
    for (const name of deferred) await hitOf(limits, name)
    expect(new Set(faulty.calls)).toEqual(new Set(['counter.hit']))
    expect(faulty.calls).toHaveLength(deferred.length + 2)
  })

  it('… and by a counter that cannot add', async () => {
    const { hit, forgive, sweep } = memory().counter
    const backend = faultyBackend({ ...memory(), counter: { hit, forgive, sweep } })
    const { counter } = backend.backend
    const deps = { clock: fakeClock(), logger: recordingLogger(), overrides: {} }
    const limits = createRateLimiter({ surface: 'client', counter, ...deps })
    for (const name of deferred) await hitOf(limits, name)
    expect(backend.calls).toHaveLength(deferred.length + 2)
  })

  it('let processes together pass the limit and an allowance for each', async () => {
    const { counter } = memory()
    const deps = { clock: fakeClock(), logger: recordingLogger(), overrides: {} }
    const replicas = surfaces.flatMap(() => [
      createRateLimiter({ surface: 'client', counter, ...deps }),
      createRateLimiter({ surface: 'client', counter, ...deps }),
    ])
    let all = 0
    for (const limits of replicas) all += await passed(130, () => hitOf(limits, 'selfPerSession'))
    // The first uses up the limit, each other one lets its two through before it asks.
    expect(all).toBe(120 + 3 * 2)
  })

  it.each(
    deferred.flatMap((name) => (['before', 'after'] as const).map((mode) => ({ name, mode }))),
  )('$name keeps its number while reports fail $mode they are counted', async ({ name, mode }) => {
    const { limits, faulty, clock } = limitsOf()
    const { limit, windowMs } = defaultRateLimits('client')[name]
    faulty.failNext('counter.add', mode, always)
    expect(await passed(limit + 5, () => hitOf(limits, name))).toBe(limit)
    faulty.heal()
    expect(await passed(5, () => hitOf(limits, name))).toBe(0)
    await clock.advance(windowMs)
    expect(await passed(limit + 5, () => hitOf(limits, name))).toBe(limit)
  })
})

describe('rate limits while the counter cannot be reached', () => {
  it.each(['before', 'after'] as const)('are counted in this process: failing %s', async (mode) => {
    const { limits, faulty, clock, logger } = limitsOf()
    faulty.failNext('counter.hit', mode, always)
    const hit = () => limits.check('recoveryPerAddress', 'ada')
    expect(await passed(9, hit)).toBe(3)
    expect(await passed(9, () => limits.check('recoveryPerAddress', 'bob'))).toBe(3)
    await clock.advance(60 * minute)
    expect(await passed(9, hit)).toBe(3)
    expect(logger.lines.every(({ level }) => level === 'warn')).toBe(true)
    expect(logger.lines.length).toBeGreaterThan(0)
  })

  it('are handed back there as well, and a failing hand-back fails nothing', async () => {
    const { limits, faulty } = limitsOf()
    faulty.failNext('counter.hit', 'before', always)
    faulty.failNext('counter.forgive', 'before', always)
    const hit = () => limits.checkWith('guess', 'ada', { limit: 3, windowMs: minute })
    expect(await passed(4, hit)).toBe(3)
    await limits.forgive('guess', 'ada', 2)
    expect(await passed(4, hit)).toBe(2)
    await limits.forgive('guess', 'ada')
    expect(await passed(4, hit)).toBe(3)
  })

  it('are shared again as soon as it can', async () => {
    const { limits, faulty } = limitsOf()
    const hit = () => limits.check('recoveryPerAddress', 'ada')
    expect(await passed(2, hit)).toBe(2)
    faulty.failNext('counter.hit', 'before', 9)
    expect(await passed(9, hit)).toBe(3)
    expect(await passed(9, hit)).toBe(1)
  })

  it('are kept for so many subjects at most: the oldest window makes room', async () => {
    const counter = fallbackCounter(3)
    const hit = async (key: string) => (await counter.hit(key, minute, 1, 0)).allowed
    for (const key of ['a', 'b', 'c']) expect(await hit(key)).toBe(true)
    // Refused, and by that the last to make room.
    expect(await hit('a')).toBe(false)
    expect(await hit('d')).toBe(true)
    expect([await hit('a'), await hit('c'), await hit('d')]).toEqual([false, false, false])
    expect(await hit('b')).toBe(true)
  })

  eachSurface.it('guard every door, and no request fails for it', async (surface) => {
    const faulty = faultyBackend(memory())
    const settings = { lockoutThreshold: 3, loginRateOperator: 4, loginRateClient: 4 }
    const host = await openHost({ backend: faulty.backend, settings })
    const who = await signedInPerson(host, surface)
    const owner = await person(host, surface)
    for (const call of ['hit', 'add', 'forgive'])
      faulty.failNext(`counter.${call}`, 'before', always)
    const limited = '429 rate_limited'
    const guess = (email: string, password: string, from?: string) =>
      host.send('POST', `/v1/auth/${surface}/login`, {
        body: { email, password },
        headers: from === undefined ? {} : { 'x-forwarded-for': from },
      })
    const guesses: string[] = []
    for (let n = 0; n < 4; n += 1) guesses.push(outcomeOf(await guess(owner.email, otherPassword)))
    const wrong = '401 invalid_credentials'
    expect(guesses).toEqual([wrong, wrong, wrong, limited])
    const rate: string[] = []
    for (let n = 0; n < 5; n += 1) {
      rate.push(outcomeOf(await guess(`n${n}@example.org`, otherPassword, '203.0.113.5')))
    }
    expect(rate).toEqual([wrong, wrong, wrong, wrong, limited])
    const forgot: string[] = []
    for (let n = 0; n < 4; n += 1) {
      const path = `/v1/auth/${surface}/password/forgot`
      forgot.push(outcomeOf(await host.send('POST', path, { body: { email: who.email } })))
    }
    expect(forgot).toEqual(['202', '202', '202', limited])
    expect(outcomeOf(await guess(who.email, who.password))).toBe('200')
    for (let time = 0; time < 5; time += 1) {
      const me = await host.send('GET', `/v1/auth/${surface}/me`, { bearer: who.bearer })
      expect(outcomeOf(me)).toBe('200')
    }
    expect(faulty.calls).toContain('counter.add')
  })
})
