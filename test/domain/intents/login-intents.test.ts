import { describe, expect, it } from 'vitest'
import { sha256 } from '../../../src/crypto/secrets.js'
import {
  attemptLoginTicket,
  issueLoginTicket,
  openLoginTicket,
  spendLoginTicket,
} from '../../../src/domain/intents/login-intents.js'
import type { BrowserKeys, ResponseMode } from '../../../src/domain/intents/oauth-flows.js'
import { newUser } from '../../../src/model/user.js'
import { factorRig } from '../factors/factor-rig.js'

const userId = '01940000-0000-7000-8000-00000000000a'
const epochs = { sessionEpoch: 0, credentialEpoch: 0, deviceEpoch: 0 }
const terms = {
  user: { id: userId, ...epochs },
  boundTo: null,
  payload: {
    method: 'password',
    amr: ['pwd'],
    delivery: 'cookie' as const,
    identityId: null,
    oauthCodeId: null,
    budget: null,
  },
}
const browserKeys: BrowserKeys = []
const unknown = { mfaToken: 'x'.repeat(43) }
const invalid = { code: 'mfa_ticket_invalid' }

async function contextOf() {
  const { ctx } = factorRig()
  const named = {
    id: userId,
    email: 'ada@example.org',
    emailAsTyped: 'ada@example.org',
    name: 'Ada',
  }
  await ctx.collections.users.insert(newUser(0, named))
  return ctx
}

describe('a half-finished login', () => {
  it('is held by a token of 256 random bits that is stored as a digest, for five minutes', async () => {
    const ctx = await contextOf()
    const { clock, collections } = ctx
    const { mfaToken, expiresIn } = await issueLoginTicket(ctx, 'secondFactor', terms)
    expect([mfaToken.length, expiresIn]).toEqual([43, 300])
    const open = () => openLoginTicket(ctx, { mfaToken, browserKeys }, 'secondFactor')
    expect(await collections.challenges.get(sha256(mfaToken))).toMatchObject({
      ...{ kind: 'secondFactor', userId, boundTo: null, ...epochs, payload: terms.payload },
    })
    expect(await collections.challenges.get(mfaToken)).toBeNull()
    await clock.advance(300_000 - 1)
    expect((await open()).user.id).toBe(userId)
    await clock.advance(1)
    await expect(open()).rejects.toMatchObject(invalid)
  })

  it('is good for its kind and no other', async () => {
    const ctx = await contextOf()
    const { mfaToken } = await issueLoginTicket(ctx, 'secondFactor', terms)
    const other = openLoginTicket(ctx, { mfaToken, browserKeys }, 'enrollment')
    await expect(other).rejects.toMatchObject(invalid)
    const none = openLoginTicket(ctx, { ...unknown, browserKeys }, 'secondFactor')
    await expect(none).rejects.toMatchObject(invalid)
  })

  it('of a browser is good with its key, by a link or by a form, and with no other', async () => {
    const ctx = await contextOf()
    const key = 'k'.repeat(43)
    const { mfaToken } = await issueLoginTicket(ctx, 'secondFactor', {
      ...terms,
      boundTo: sha256(key),
    })
    const keyOf = (mode: ResponseMode, shown: string | null) =>
      shown === null ? [] : [{ mode, flow: `${mode}-of-a-flow`.slice(0, 16), key: shown }]
    const read = (query: string | null, form: string | null) =>
      openLoginTicket(
        ctx,
        { mfaToken, browserKeys: [...keyOf('query', query), ...keyOf('form_post', form)] },
        'secondFactor',
      )
    for (const other of [null, '', 'o'.repeat(43), sha256(key)]) {
      await expect(read(other, null)).rejects.toMatchObject(invalid)
      await expect(read(null, other)).rejects.toMatchObject(invalid)
      await read(key, other)
      await read(other, key)
    }
  })

  it('counts guesses before they are checked: 200 at once are at most five', async () => {
    const ctx = await contextOf()
    const { mfaToken } = await issueLoginTicket(ctx, 'secondFactor', terms)
    const shown = { mfaToken, browserKeys }
    let checks = 0
    const guess = () =>
      attemptLoginTicket(ctx, shown, 'secondFactor', async () => {
        checks += 1
        return false
      })
    await Promise.allSettled(Array.from({ length: 200 }, guess))
    expect(checks).toBe(5)
  })

  it('hands back a guess that could not be checked', async () => {
    const ctx = await contextOf()
    const { collections } = ctx
    const { mfaToken } = await issueLoginTicket(ctx, 'secondFactor', terms)
    const broken = attemptLoginTicket(ctx, { mfaToken, browserKeys }, 'secondFactor', async () => {
      throw new Error('no answer')
    })
    await expect(broken).rejects.toThrow('no answer')
    expect(await collections.challenges.get(sha256(mfaToken))).toMatchObject({ attempts: 0 })
  })

  it('of a void ticket nothing is checked, so that no code is spent', async () => {
    const ctx = await contextOf()
    const { collections } = ctx
    const { mfaToken } = await issueLoginTicket(ctx, 'secondFactor', terms)
    await collections.users.update(userId, { deviceEpoch: 0 }, { deviceEpoch: 1 })
    let checks = 0
    const attempt = attemptLoginTicket(ctx, { mfaToken, browserKeys }, 'secondFactor', async () => {
      checks += 1
      return true
    })
    await expect(attempt).rejects.toMatchObject(invalid)
    expect(checks).toBe(0)
  })

  it('of sixteen who spend it at once, one does', async () => {
    const ctx = await contextOf()
    for (let round = 0; round < 25; round += 1) {
      const { mfaToken } = await issueLoginTicket(ctx, 'secondFactor', terms)
      const opened = await openLoginTicket(ctx, { mfaToken, browserKeys }, 'secondFactor')
      const all = await Promise.allSettled(
        Array.from({ length: 16 }, () => spendLoginTicket(ctx, opened)),
      )
      expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    }
  })
})
