import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import {
  addIdentity,
  allIdentitiesOf,
  beginIdentity,
  findIdentity,
  identitiesOf,
  removeIdentity,
  renewIdentity,
  settleIdentity,
  takeAbandonedIdentity,
  takeBackIdentity,
} from '../../../src/domain/oauth/oauth-links.js'
import { AuthError } from '../../../src/errors/index.js'
import type { ProviderProfile } from '../../../src/identity-providers/provider-clients.js'
import type { ProviderId } from '../../../src/identity-providers/providers.js'
import { collectionsOf } from '../../../src/model/collections.js'
import type { OauthIdentity } from '../../../src/model/user.js'
import type { Collection } from '../../../src/ports/store.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { testContext } from '../../support/test-context.js'

const userId = 'ada'

const profileOf = (provider: ProviderId, subject = '1'): ProviderProfile => ({
  provider,
  issuer: `https://${provider}.example`,
  subject,
  email: null,
  emailVerified: false,
  hostedDomain: null,
  name: '',
})

/** Says which of several racers takes its next step, until all are done. */
class Schedule {
  readonly #waiting = new Map<number, () => void>()

  readonly #racers: number

  constructor(racers: number) {
    this.#racers = racers
  }

  async step(racer: number): Promise<void> {
    await new Promise<void>((go) => this.#waiting.set(racer, go))
  }

  /** The racers that could have gone at each step, and who did; a racer may crash at a step. */
  async play(
    tasks: readonly Promise<unknown>[],
    next: (able: readonly number[], at: number) => number,
  ): Promise<number> {
    const done = new Set<number>()
    for (const [racer, task] of tasks.entries()) void task.finally(() => done.add(racer))
    for (let at = 0; ; at += 1) {
      while (this.#waiting.size + done.size < this.#racers) await turn()
      const able = [...this.#waiting.keys()].sort()
      if (able.length === 0) return at
      const racer = next(able, at)
      const go = this.#waiting.get(racer)
      this.#waiting.delete(racer)
      go?.()
    }
  }
}

function stepped(
  inner: Collection<OauthIdentity>,
  schedule: Schedule,
  racer: number,
): Collection<OauthIdentity> {
  const after =
    <A extends unknown[], R>(call: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      await schedule.step(racer)
      return call(...given)
    }
  return {
    get: after((id) => inner.get(id)),
    find: after((equal, page) => inner.find(equal, page)),
    insert: after((doc) => inner.insert(doc)),
    update: after((id, guard, set) => inner.update(id, guard, set)),
    take: after((id, guard) => inner.take(id, guard)),
    due: after((before, limit) => inner.due(before, limit)),
    sweep: after((before, limit) => inner.sweep(before, limit)),
  }
}

const staysLast = async (others: readonly unknown[]) =>
  others.length === 0 ? new AuthError('last_login_method') : null

interface Race {
  /** What is left afterwards. */
  readonly left: number
  readonly outcomes: readonly string[]
  readonly choices: readonly number[]
  readonly able: readonly number[]
}

const shared = await testContext()

const contextOf = (now: number) => ({
  ...shared,
  clock: fakeClock(now),
  collections: collectionsOf(memory().store, 'operator', ''),
})

/** One race: each racer removes one provider's identity. `choices` are tried first, then the first. */
async function race(removed: readonly ProviderId[], choices: readonly number[]): Promise<Race> {
  const ctx = contextOf(0)
  for (const provider of new Set(removed)) await addIdentity(ctx, profileOf(provider), userId)
  const schedule = new Schedule(removed.length)
  const outcomes = removed.map(async (provider, racer) => {
    try {
      const oauthIdentities = stepped(ctx.collections.oauthIdentities, schedule, racer)
      const collections = { ...ctx.collections, oauthIdentities }
      await removeIdentity(
        { ...ctx, collections },
        userId,
        (one) => one.provider === provider,
        staysLast,
      )
      return 'removed'
    } catch (error) {
      return error instanceof AuthError ? error.code : String(error)
    }
  })
  const made: number[] = []
  const able: number[] = []
  await schedule.play(outcomes, (now, at) => {
    const choice = Math.min(choices[at] ?? 0, now.length - 1)
    made.push(choice)
    able.push(now.length)
    return now[choice] ?? 0
  })
  const left = await identitiesOf(ctx, userId)
  return { left: left.length, outcomes: await Promise.all(outcomes), choices: made, able }
}

/** Every interleaving: the last step that could have gone another way goes that way next. */
async function everyRace(removed: readonly ProviderId[]): Promise<readonly Race[]> {
  const races: Race[] = []
  let choices: readonly number[] | null = []
  while (choices !== null) {
    const one: Race = await race(removed, choices)
    races.push(one)
    const at = one.choices.findLastIndex((choice, step) => choice + 1 < (one.able[step] ?? 0))
    choices = at < 0 ? null : [...one.choices.slice(0, at), (one.choices[at] ?? 0) + 1]
  }
  return races
}

describe('the last two ways in, removed at once', () => {
  it('leave one in every interleaving', async () => {
    const races = await everyRace(['google', 'github'])
    expect(races.length).toBeGreaterThanOrEqual(70)
    expect(races.filter(({ left }) => left === 0)).toEqual([])
    for (const { left, outcomes } of races) {
      expect(outcomes.filter((outcome) => outcome === 'removed')).toHaveLength(2 - left)
    }
    // One after the other, one goes.
    expect(races.some(({ left }) => left === 1)).toBe(true)
  })

  it('leave one when one of them is removed twice as well, in a thousand interleavings', async () => {
    let seed = 1815
    const draw = (): number => {
      // Park and Miller: the same thousand every time.
      seed = (seed * 48_271) % 2_147_483_647
      return seed % 3
    }
    for (let round = 0; round < 1000; round += 1) {
      const choices = Array.from({ length: 64 }, draw)
      const { left } = await race(['google', 'google', 'github'], choices)
      expect([round, choices.slice(0, 20), left > 0]).toEqual([round, choices.slice(0, 20), true])
    }
  }, 60_000)
})

describe('an account at a provider', () => {
  it('belongs to one user, and a user has one of each provider', async () => {
    const ctx = contextOf(0)
    expect(await addIdentity(ctx, profileOf('google'), 'ada')).toMatchObject({ userId: 'ada' })
    expect(await addIdentity(ctx, profileOf('google'), 'eve')).toBeNull()
    expect(await addIdentity(ctx, profileOf('google', '2'), 'ada')).toBeNull()
    expect(await addIdentity(ctx, profileOf('github'), 'ada')).not.toBeNull()
    expect((await findIdentity(ctx, profileOf('google')))?.userId).toBe('ada')
  })

  it('is told from every other: no two parts run into each other', async () => {
    const ctx = contextOf(0)
    const one = { ...profileOf('google'), issuer: 'a","b', subject: 'c' }
    const two = { ...profileOf('google'), issuer: 'a', subject: 'b","c' }
    const three = { ...profileOf('google'), issuer: 'A","b', subject: 'c' }
    await addIdentity(ctx, one, 'ada')
    expect([await findIdentity(ctx, two), await findIdentity(ctx, three)]).toEqual([null, null])
  })
})

describe('an identity that a sign-up cut short left without a user', () => {
  it('is taken by nobody for a minute, nor while somebody completes it', async () => {
    const ctx = contextOf(Date.UTC(2026, 0, 1))
    const { clock } = ctx
    const left = await addIdentity(ctx, profileOf('google'), userId)
    if (left === null) throw new Error('taken')
    expect(await renewIdentity(ctx, left)).toEqual(left)
    await clock.advance(60_000 - 1)
    expect(await takeAbandonedIdentity(ctx, left)).toBe(false)
    const renewed = await renewIdentity(ctx, left)
    expect(renewed).toEqual({ ...left, linkedAt: clock.now() })
    expect(await renewIdentity(ctx, left)).toBeNull()
    await clock.advance(60_000 - 1)
    // Who looked before it was renewed takes nothing.
    expect(await takeAbandonedIdentity(ctx, left)).toBe(false)
    await clock.advance(1)
    expect(await takeAbandonedIdentity(ctx, left)).toBe(false)
    expect(await takeAbandonedIdentity(ctx, renewed ?? left)).toBe(true)
    expect(await findIdentity(ctx, profileOf('google'))).toBeNull()
  })
})

describe('an identity that is being linked', () => {
  async function begun() {
    const ctx = contextOf(Date.UTC(2026, 0, 1))
    const { clock } = ctx
    const one = await beginIdentity(ctx, profileOf('google'), userId)
    if (one === null) throw new Error('taken')
    const stands = async () => (await identitiesOf(ctx, userId)).length
    return { ctx, clock, collections: ctx.collections, one, stands }
  }

  it('opens the account once it is settled, which may be repeated while it is there', async () => {
    const { clock, ctx, one, stands } = await begun()
    expect([await stands(), await allIdentitiesOf(ctx, userId)]).toEqual([0, [one]])
    expect([await settleIdentity(ctx, one), await stands()]).toEqual([true, 1])
    expect(await settleIdentity(ctx, one)).toBe(true)
    await takeBackIdentity(ctx, one)
    expect(await settleIdentity(ctx, one)).toBe(false)
    await clock.advance(1)
    await addIdentity(ctx, profileOf('google'), userId)
    expect(await settleIdentity(ctx, one)).toBe(false)
  })

  it('is not taken as abandoned by a process whose clock is ahead, once it is settled', async () => {
    const { clock, ctx, one, stands } = await begun()
    await settleIdentity(ctx, one)
    await clock.advance(60_000)
    expect([await takeAbandonedIdentity(ctx, one), await stands()]).toEqual([false, 1])
  })

  it('is taken back by its own request, and not by one of before', async () => {
    const { clock, ctx, one, stands } = await begun()
    await takeBackIdentity(ctx, one)
    await clock.advance(1)
    const next = await beginIdentity(ctx, profileOf('google'), userId)
    if (next !== null) await settleIdentity(ctx, next)
    await takeBackIdentity(ctx, one)
    expect(await stands()).toBe(1)
  })

  it('is removed without a question, and stays where it is settled meanwhile and the last', async () => {
    const { collections, ctx, one, stands } = await begun()
    const oauthIdentities: Collection<OauthIdentity> = {
      ...collections.oauthIdentities,
      async take(id, guard) {
        await settleIdentity(ctx, one)
        return collections.oauthIdentities.take(id, guard)
      },
    }
    const late = { ...ctx, collections: { ...collections, oauthIdentities } }
    const removed = removeIdentity(late, userId, () => true, staysLast)
    await expect(removed).rejects.toMatchObject({ code: 'last_login_method' })
    expect(await stands()).toBe(1)
    await removeIdentity(
      ctx,
      userId,
      () => true,
      async () => null,
    )
    await beginIdentity(ctx, profileOf('google'), userId)
    await removeIdentity(ctx, userId, () => true, staysLast)
    expect(await allIdentitiesOf(ctx, userId)).toEqual([])
  })

  it('is gone a minute later, once somebody asks for all of the user', async () => {
    const { clock, ctx, one } = await begun()
    await clock.advance(60_000 - 1)
    expect(await allIdentitiesOf(ctx, userId)).toEqual([one])
    await clock.advance(1)
    expect(await allIdentitiesOf(ctx, userId)).toEqual([])
    expect(await findIdentity(ctx, profileOf('google'))).toBeNull()
  })

  it('is this request’s own where a driver sends the insert twice', async () => {
    const { ctx, collections, one } = await begun()
    await takeBackIdentity(ctx, one)
    const oauthIdentities: Collection<OauthIdentity> = {
      ...collections.oauthIdentities,
      async insert(doc) {
        await collections.oauthIdentities.insert(doc)
        return collections.oauthIdentities.insert(doc)
      },
    }
    const resent = { ...ctx, collections: { ...collections, oauthIdentities } }
    const found = await beginIdentity(resent, profileOf('google'), userId)
    expect(found !== null && (await settleIdentity(resent, found))).toBe(true)
    expect(await beginIdentity(resent, profileOf('google'), userId)).toBeNull()
  })
})
