import { describe, expect, it } from 'vitest'
import { removePasskeyFactor, removeTotpFactor } from '../../../src/domain/factors/own-factors.js'
import {
  type Attempt,
  contextWith,
  leftIn,
  type Played,
  passkey,
  passkeyRemoved,
  playAll,
  totpRemoved,
  user,
  userId,
} from './removals-in-turns.js'

const removeA: Attempt = (ctx) => removePasskeyFactor(ctx, user, 'a', passkeyRemoved)
const removeB: Attempt = (ctx) => removePasskeyFactor(ctx, user, 'b', passkeyRemoved)
const removeApp: Attempt = (ctx) => removeTotpFactor(ctx, user, totpRemoved)
/** A login with the passkey, as far as the store sees it. */
const useA: Attempt = ({ collections: { passkeys } }) =>
  passkeys.update('a', { counter: 0, userId }, { removingBy: null, lastUsedAt: 1 })

const keepsOne = ({ left, removed }: Played): void => {
  expect(left).toBeGreaterThan(0)
  expect(removed).toBeLessThan(2)
}

describe('where the policy requires a factor, removals at once', () => {
  it.each([
    ['of the last two passkeys', ['a', 'b'], [removeA, removeB]],
    ['of the last passkey and the app', ['a', 'app'], [removeA, removeApp]],
    ['of the only passkey, twice', ['a'], [removeA, removeA]],
  ] as const)('%s never leave none, in every order', async (_what, factors, attempts) => {
    const orders = await playAll({ factors }, attempts, { crash: null }, keepsOne)
    expect(orders).toBeGreaterThan(10)
  })

  it('beside a use of one of them never leave none, in every order', async () => {
    const start = { factors: ['a', 'b'] } as const
    const all = [removeA, removeB, useA]
    const orders = await playAll(start, all, { crash: null }, keepsOne)
    expect(orders).toBeGreaterThan(100)
  })

  it('one of which dies anywhere never leave none, and a further one completes', async () => {
    for (const died of [0, 1]) {
      for (let after = 0; after < 5; after += 1) {
        const crash = [died, after] as const
        const start = { factors: ['a', 'b'] } as const
        await playAll(start, [removeA, removeB], { crash }, async (played) => {
          keepsOne(played)
          const { ctx } = played
          const again = async (id: string) =>
            removePasskeyFactor(ctx, user, id, passkeyRemoved).catch((error: unknown) =>
              Reflect.get(Object(error), 'code'),
            )
          const outcomes = [await again('a'), await again('b'), await again('a'), await again('b')]
          // Whatever the dead one left behind, one can be removed, and one stays.
          expect(await leftIn(ctx)).toBe(1)
          expect(outcomes).toContain('last_factor_required')
        })
      }
    }
  })

  it('takes one while another stays, and is told so of one that is not there', async () => {
    const ctx = await contextWith(['a', 'b', 'app'])
    const remove = (id: string) => removePasskeyFactor(ctx, user, id, passkeyRemoved)
    const stranger = { ...user, id: '01940000-0000-7000-8000-00000000000b' }
    expect(await remove('c')).toBe(false)
    expect(await removePasskeyFactor(ctx, stranger, 'a', passkeyRemoved)).toBe(false)
    expect(await remove('a')).toBe(true)
    expect(await removeTotpFactor(ctx, user, totpRemoved)).toBe(true)
    expect(await removeTotpFactor(ctx, user, totpRemoved)).toBe(false)
    await expect(remove('b')).rejects.toMatchObject({
      code: 'last_factor_required',
    })
    expect((await ctx.collections.passkeys.get('b'))?.removingBy).toBeNull()
  })

  it('counts no factor that the settings do not allow', async () => {
    const rig = await contextWith(['a', 'app'])
    const settings = async () => ({ ...(await rig.settings()), totpEnabled: false })
    const ctx = { ...rig, settings }
    await expect(removePasskeyFactor(ctx, user, 'a', passkeyRemoved)).rejects.toMatchObject({
      code: 'last_factor_required',
    })
  })
})

describe('where a passkey stands for both factors, and the user has no other way in', () => {
  const passkeysOnly = { webauthnMode: 'passwordless' } as const
  const lastWayIn = { code: 'last_login_method' }

  it('two removals at once never leave none, in every order', async () => {
    const start = { factors: ['a', 'b'], settings: passkeysOnly } as const
    expect(await playAll(start, [removeA, removeB], { crash: null }, keepsOne)).toBeGreaterThan(10)
  })

  it('the last one stays, an app beside it or not, and can be used', async () => {
    const ctx = await contextWith(['a', 'app'], passkeysOnly)
    await expect(removePasskeyFactor(ctx, user, 'a', passkeyRemoved)).rejects.toMatchObject(
      lastWayIn,
    )
    expect((await ctx.collections.passkeys.get('a'))?.removingBy).toBeNull()
    expect(await removeTotpFactor(ctx, user, totpRemoved)).toBe(true)
    await expect(removePasskeyFactor(ctx, user, 'a', passkeyRemoved)).rejects.toMatchObject(
      lastWayIn,
    )
  })

  it('one that never verified the person is no way in: it goes, and lets no other go', async () => {
    const ctx = await contextWith(['a'], passkeysOnly)
    await ctx.collections.passkeys.insert({ ...passkey('b'), uvInitialized: false })
    await expect(removePasskeyFactor(ctx, user, 'a', passkeyRemoved)).rejects.toMatchObject(
      lastWayIn,
    )
    expect(await removePasskeyFactor(ctx, user, 'b', passkeyRemoved)).toBe(true)
  })

  it('it goes where the password or an account at a provider stays', async () => {
    for (const way of ['password', 'identity'] as const) {
      const ctx = await contextWith(['a'], {
        ...passkeysOnly,
        ...{ githubClientEnabled: true, githubClientId: 'id', githubClientSecret: 'secret' },
        passwordLoginClientEnabled: way === 'password',
      })
      const { users, oauthIdentities } = ctx.collections
      await users.update(userId, { passwordHash: null }, { passwordHash: 'hash' })
      const identity = { id: 'i', userId, provider: 'github', issuer: 'x', subject: '1' }
      const unlinking = { removingBy: 'gone', linkedAt: 0, expiresAt: null }
      if (way === 'identity') await oauthIdentities.insert({ ...identity, ...unlinking })
      if (way === 'identity') {
        // It is being unlinked.
        await expect(removePasskeyFactor(ctx, user, 'a', passkeyRemoved)).rejects.toMatchObject(
          lastWayIn,
        )
        await oauthIdentities.update('i', { removingBy: 'gone' }, { removingBy: null })
      }
      expect(await removePasskeyFactor(ctx, user, 'a', passkeyRemoved)).toBe(true)
    }
  })
})

/** A use, and the epoch of what it grants: that is read before the factor is shown. */
const grantA =
  (granted: number[]): Attempt =>
  async ({ collections: { users, passkeys } }) => {
    const seen = await users.get(userId)
    const used = await passkeys.update('a', { counter: 0, userId }, { removingBy: null })
    if (used !== null && seen !== null) granted.push(seen.deviceEpoch)
  }

describe('what a factor granted until it was removed', () => {
  it('is void once the factor is gone, in every order', async () => {
    const granted: number[] = []
    const attempts = [removeA, grantA(granted)]
    const start = { factors: ['a'], settings: {} } as const
    const orders = await playAll(
      start,
      attempts,
      { crash: null, withUsers: true },
      async (played) => {
        const { deviceEpoch = 0 } = (await played.ctx.collections.users.get(userId)) ?? {}
        expect(played.left).toBe(0)
        for (const epoch of granted.splice(0)) expect(epoch).toBeLessThan(deviceEpoch)
      },
    )
    expect(orders).toBeGreaterThan(10)
  })

  it('is void wherever the removal dies after the factor is gone, and another completes it', async () => {
    let gone = 0
    for (let after = 0; after < 6; after += 1) {
      const granted: number[] = []
      const how = { crash: [0, after], withUsers: true } as const
      const start = { factors: ['a'], settings: {} } as const
      await playAll(start, [removeA, grantA(granted)], how, async ({ ctx, left }) => {
        const epochs = granted.splice(0)
        const { users } = ctx.collections
        if (left > 0) expect(await removePasskeyFactor(ctx, user, 'a', passkeyRemoved)).toBe(true)
        else gone += 1
        const { deviceEpoch = 0 } = (await users.get(userId)) ?? {}
        expect(await leftIn(ctx)).toBe(0)
        for (const epoch of epochs) expect(epoch).toBeLessThan(deviceEpoch)
      })
    }
    expect(gone).toBeGreaterThan(0)
  })
})
