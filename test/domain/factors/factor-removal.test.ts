import { describe, expect, it } from 'vitest'
import { createFactorRemoval } from '../../../src/domain/factors/factor-removal.js'
import type { Collections } from '../../../src/model/collections.js'
import { newUser } from '../../../src/model/new-user.js'
import type { Passkey } from '../../../src/model/passkey.js'
import { factorRig } from './factor-rig.js'

const userId = '01940000-0000-7000-8000-00000000000a'

const passkey = (id: string): Passkey => ({
  id,
  expiresAt: null,
  userId,
  publicKey: 'key',
  counter: 0,
  transports: [],
  name: id,
  backupEligible: false,
  backedUp: false,
  uvInitialized: true,
  removingBy: null,
  createdAt: 0,
  lastUsedAt: null,
  lastChallenge: '',
})

/** One attempt among several; its calls of the store happen when the schedule says so. */
type Attempt = (
  removal: ReturnType<typeof createFactorRemoval>,
  stored: Collections,
) => Promise<unknown>

const removeA: Attempt = (removal) => removal.removePasskey(userId, 'a')
const removeB: Attempt = (removal) => removal.removePasskey(userId, 'b')
const removeApp: Attempt = (removal) => removal.removeTotp(userId)
/** A login with the passkey, as far as the store sees it. */
const useA: Attempt = (_, { passkeys }) =>
  passkeys.update('a', { counter: 0, userId }, { removingBy: null, lastUsedAt: 1 })

interface Way {
  /** Which of those that wait goes on, step by step; then always the first. */
  readonly choices: readonly number[]
  /** The attempt that ends, and after how many of its calls: its process died. */
  readonly crash: readonly [attempt: number, calls: number] | null
}

interface Start {
  readonly factors: readonly ('a' | 'b' | 'app')[]
  readonly settings?: Parameters<typeof factorRig>[0]
}

interface Played {
  readonly left: number
  readonly removed: number
  /** How many could have gone on at each step. */
  readonly widths: readonly number[]
  readonly rig: ReturnType<typeof factorRig>
}

const factorRequired = { mfaPolicyClient: 'required' } as const

async function rigWith(
  factors: readonly ('a' | 'b' | 'app')[],
  settings: Parameters<typeof factorRig>[0] = factorRequired,
) {
  const rig = factorRig(settings)
  const { passkeys, totpFactors } = rig.collections
  for (const factor of factors) {
    if (factor !== 'app') await passkeys.insert(passkey(factor))
    else {
      await totpFactors.insert({
        id: userId,
        expiresAt: null,
        userId,
        sealedSecret: 'sealed',
        confirmed: true,
        lastStep: 0,
        removingBy: null,
        createdAt: 0,
        boundTo: '',
        credentialEpoch: 0,
        deviceEpoch: 0,
      })
    }
  }
  return rig
}

async function leftIn({ collections }: Pick<Played, 'rig'>['rig']): Promise<number> {
  const all = await collections.passkeys.find({ userId }, { limit: 10 })
  return all.length + ((await collections.totpFactors.get(userId)) === null ? 0 : 1)
}

/** The same collections, each call of which waits for its turn. */
function inTurns<T extends object>(collection: T, turn: () => Promise<void>): T {
  return new Proxy(collection, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return async (...given: unknown[]) => {
        await turn()
        return member.apply(target, given)
      }
    },
  })
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

async function play(
  { factors, settings }: Start,
  attempts: readonly Attempt[],
  { choices, crash }: Way,
): Promise<Played> {
  const rig = await rigWith(factors, settings)
  const waiting = new Map<number, () => void>()
  const calls = attempts.map(() => 0)
  let removed = 0
  for (const [index, attempt] of attempts.entries()) {
    const turn = () =>
      new Promise<void>((resolve) => {
        const dies = crash?.[0] === index && calls[index] === crash[1]
        if (!dies) waiting.set(index, resolve)
      })
    const collections = {
      ...rig.collections,
      passkeys: inTurns(rig.collections.passkeys, turn),
      totpFactors: inTurns(rig.collections.totpFactors, turn),
    }
    const done = (result: unknown): void => {
      if (result === true) removed += 1
    }
    void attempt(createFactorRemoval({ ...rig, collections }), collections).then(done, () => {})
  }
  const widths: number[] = []
  for (;;) {
    await settled()
    const ready = [...waiting].sort(([one], [other]) => one - other)
    if (ready.length === 0) break
    const chosen = ready[choices[widths.length] ?? 0]
    if (chosen === undefined) throw new Error('there is no such choice')
    widths.push(ready.length)
    const [index, go] = chosen
    waiting.delete(index)
    calls[index] = (calls[index] ?? 0) + 1
    go()
  }
  return { left: await leftIn(rig), removed, widths, rig }
}

/** The next schedule in order; null after the last. */
function following(
  choices: readonly number[],
  widths: readonly number[],
): readonly number[] | null {
  const all = widths.map((_, step) => choices[step] ?? 0)
  for (let step = all.length - 1; step >= 0; step -= 1) {
    const next = (all[step] ?? 0) + 1
    if (next < (widths[step] ?? 0)) return [...all.slice(0, step), next]
  }
  return null
}

/** Every order in which the attempts' calls can meet the store. */
async function playAll(
  start: Start,
  attempts: readonly Attempt[],
  crash: Way['crash'],
  check: (played: Played) => void | Promise<void>,
): Promise<number> {
  let choices: readonly number[] | null = []
  let count = 0
  while (choices !== null) {
    const played: Played = await play(start, attempts, { choices, crash })
    await check(played)
    count += 1
    choices = following(choices, played.widths)
  }
  return count
}

const keepsOne = ({ left, removed }: Played): void => {
  expect(left).toBeGreaterThan(0)
  expect(removed).toBeLessThan(2)
}

describe('36 where the policy requires a factor, removals at once', () => {
  it.each([
    ['of the last two passkeys', ['a', 'b'], [removeA, removeB]],
    ['of the last passkey and the app', ['a', 'app'], [removeA, removeApp]],
    ['of the only passkey, twice', ['a'], [removeA, removeA]],
  ] as const)('%s never leave none, in every order', async (_what, factors, attempts) => {
    const orders = await playAll({ factors }, attempts, null, keepsOne)
    expect(orders).toBeGreaterThan(10)
  })

  it('beside a use of one of them never leave none, in every order', async () => {
    const orders = await playAll({ factors: ['a', 'b'] }, [removeA, removeB, useA], null, keepsOne)
    expect(orders).toBeGreaterThan(100)
  })

  it('one of which dies anywhere never leave none, and a further one completes', async () => {
    for (const died of [0, 1]) {
      for (let after = 0; after < 5; after += 1) {
        await playAll(
          { factors: ['a', 'b'] },
          [removeA, removeB],
          [died, after],
          async (played) => {
            keepsOne(played)
            const removal = createFactorRemoval(played.rig)
            const again = async (id: string) =>
              removal
                .removePasskey(userId, id)
                .catch((error: unknown) => Reflect.get(Object(error), 'code'))
            const outcomes = [
              await again('a'),
              await again('b'),
              await again('a'),
              await again('b'),
            ]
            // Whatever the dead one left behind, one can be removed, and one stays.
            expect(await leftIn(played.rig)).toBe(1)
            expect(outcomes).toContain('last_factor_required')
          },
        )
      }
    }
  })

  it('takes one while another stays, and is told so of one that is not there', async () => {
    const rig = await rigWith(['a', 'b', 'app'])
    const removal = createFactorRemoval(rig)
    expect(await removal.removePasskey(userId, 'c')).toBe(false)
    expect(await removal.removePasskey('somebody else', 'a')).toBe(false)
    expect(await removal.removePasskey(userId, 'a')).toBe(true)
    expect(await removal.removeTotp(userId)).toBe(true)
    expect(await removal.removeTotp(userId)).toBe(false)
    await expect(removal.removePasskey(userId, 'b')).rejects.toMatchObject({
      code: 'last_factor_required',
    })
    expect((await rig.collections.passkeys.get('b'))?.removingBy).toBeNull()
  })

  it('counts no factor that the settings do not allow', async () => {
    const rig = await rigWith(['a', 'app'])
    const settings = async () => ({ ...(await rig.settings()), totpEnabled: false })
    const removal = createFactorRemoval({ ...rig, settings })
    await expect(removal.removePasskey(userId, 'a')).rejects.toMatchObject({
      code: 'last_factor_required',
    })
  })
})

describe('S-25 where a passkey stands for both factors, and the user has no other way in', () => {
  const passkeysOnly = { webauthnMode: 'passwordless' } as const
  const lastWayIn = { code: 'last_login_method' }

  it('two removals at once never leave none, in every order', async () => {
    const start = { factors: ['a', 'b'], settings: passkeysOnly } as const
    expect(await playAll(start, [removeA, removeB], null, keepsOne)).toBeGreaterThan(10)
  })

  it('the last one stays, an app beside it or not, and can be used', async () => {
    const rig = await rigWith(['a', 'app'], passkeysOnly)
    const removal = createFactorRemoval(rig)
    await expect(removal.removePasskey(userId, 'a')).rejects.toMatchObject(lastWayIn)
    expect((await rig.collections.passkeys.get('a'))?.removingBy).toBeNull()
    expect(await removal.removeTotp(userId)).toBe(true)
    await expect(removal.removePasskey(userId, 'a')).rejects.toMatchObject(lastWayIn)
  })

  it('one that never verified the person is no way in: it goes, and lets no other go', async () => {
    const rig = await rigWith(['a'], passkeysOnly)
    await rig.collections.passkeys.insert({ ...passkey('b'), uvInitialized: false })
    const removal = createFactorRemoval(rig)
    await expect(removal.removePasskey(userId, 'a')).rejects.toMatchObject(lastWayIn)
    expect(await removal.removePasskey(userId, 'b')).toBe(true)
  })

  it('it goes where the password or an account at a provider stays', async () => {
    for (const way of ['password', 'identity'] as const) {
      const rig = await rigWith(['a'], {
        ...passkeysOnly,
        ...{ githubClientEnabled: true, githubClientId: 'id', githubClientSecret: 'secret' },
        passwordLoginClientEnabled: way === 'password',
      })
      const { users, oauthIdentities } = rig.collections
      const passwordHash = 'hash'
      const [email, name] = ['ada@example.org', '']
      await users.insert(newUser(0, { id: userId, email, emailAsTyped: email, name, passwordHash }))
      const identity = { id: 'i', userId, provider: 'github', issuer: 'x', subject: '1' }
      const unlinking = { removingBy: 'gone', linkedAt: 0, expiresAt: null }
      if (way === 'identity') await oauthIdentities.insert({ ...identity, ...unlinking })
      const removal = createFactorRemoval(rig)
      if (way === 'identity') {
        // It is being unlinked.
        await expect(removal.removePasskey(userId, 'a')).rejects.toMatchObject(lastWayIn)
        await oauthIdentities.update('i', { removingBy: 'gone' }, { removingBy: null })
      }
      expect(await removal.removePasskey(userId, 'a')).toBe(true)
    }
  })
})
