import { describe, expect, it } from 'vitest'
import { keyedHash, sha256 } from '../../../src/crypto/secrets.js'
import { intentOf, issueIntent } from '../../../src/domain/intents/intents.js'
import { findConfirmed, openLoginTicket } from '../../../src/domain/intents/login-intents.js'
import { findOauthFlow, redeemOauthCode } from '../../../src/domain/intents/oauth-flows.js'
import {
  spendChallenge,
  spendPasswordlessChallenge,
} from '../../../src/domain/intents/passkey-challenges.js'
import { loginWithCode } from '../../../src/domain/login/mailed-code.js'
import {
  type Challenge,
  intentForms,
  linkKinds,
  type StoredKind,
} from '../../../src/model/intents.js'
import { newUser } from '../../../src/model/user.js'
import { type TestContext, testContext } from '../../support/test-context.js'

const names = { id: '01940000-0000-7000-8000-00000000000a', email: 'ada@example.org' }
const user = newUser(0, { ...names, emailAsTyped: names.email, name: 'Ada' })
const secret = 's'.repeat(43)
/** What the browser or the app keeps. */
const key = 'k'.repeat(43)
const browserKeys = [{ mode: 'query', flow: 'f'.repeat(16), key }] as const
const source = { ip: null, userAgent: null }

const login = {
  ...{ method: 'password', amr: ['pwd'], delivery: 'cookie' as const },
  ...{ identityId: null, oauthCodeId: null, budget: null },
}
const flow = {
  ...{ provider: 'google', redirectUri: 'https://app.example.com/in' },
  ...{ termsVersion: null, sealedSecrets: '', goodUntil: Number.MAX_SAFE_INTEGER },
}
const payloads = {
  secondFactor: login,
  enrollment: login,
  oauthWeb: flow,
  oauthApp: { ...flow, codeChallenge: sha256(key), appState: null },
  oauthLink: { ...flow, sessionId: 'a session' },
  appCode: { method: 'google', identityId: 'an identity', goodUntil: Number.MAX_SAFE_INTEGER },
  passkeyLogin: { challenge: 'c' },
  passkeySecondFactor: { challenge: 'c' },
  passkeyRegistration: { challenge: 'c' },
  passkeyStepUp: { challenge: 'c' },
  confirmedLink: {},
  mailedCode: { codeHash: keyedHash(secret, '12345678'), budget: null },
} as const
type ChallengeKind = keyof typeof payloads
const linkToken = `${Buffer.from(`register:${user.id}`).toString('base64url')}.${secret}`
const secretOf = (kind: ChallengeKind) =>
  kind === 'confirmedLink' ? `confirmed ${sha256(secret)} ${key}` : secret
const kinds = Object.keys(payloads) as readonly ChallengeKind[]
const nobodys: readonly ChallengeKind[] = ['oauthWeb', 'oauthApp', 'passkeyLogin']
const unbound: readonly ChallengeKind[] = ['oauthApp', 'passkeyLogin', 'confirmedLink']

/** What comes back with the secret, and with all that an intent of any kind is bound to. */
const openers: Readonly<Record<string, (ctx: TestContext) => Promise<unknown>>> = {
  secondFactor: (ctx) => openLoginTicket(ctx, { mfaToken: secret, browserKeys }, 'secondFactor'),
  enrollment: (ctx) => openLoginTicket(ctx, { mfaToken: secret, browserKeys }, 'enrollment'),
  flow: (ctx) => findOauthFlow(ctx, 'google', secret, key).then((found) => found.take()),
  appCode: (ctx) => redeemOauthCode(ctx, secret, key, source),
  passkeyLogin: (ctx) => spendPasswordlessChallenge(ctx, secret),
  passkeySecondFactor: (ctx) => spendOf(ctx, 'passkeySecondFactor'),
  passkeyRegistration: (ctx) => spendOf(ctx, 'passkeyRegistration'),
  passkeyStepUp: (ctx) => spendOf(ctx, 'passkeyStepUp'),
  confirmedLink: (ctx) => findConfirmed(ctx, linkToken, key),
  mailedCode: (ctx) => loginWithCode(ctx, { keys: [secret], ...code }, source),
}
const recognition = { cookie: null, body: null }
const code = { code: '12345678', delivery: 'cookie', recognition } as const
type UsersCeremony = Parameters<typeof spendChallenge>[2]['kind']
const spendOf = (ctx: TestContext, kind: UsersCeremony) =>
  spendChallenge(ctx, secret, { kind, user, boundTo: sha256(key) })

const boundOf = (kind: ChallengeKind) => {
  if (unbound.includes(kind)) return null
  return kind === 'mailedCode' ? names.email : sha256(key)
}

const openerOf = (kind: ChallengeKind) => (kind.startsWith('oauth') ? 'flow' : kind)

async function contextWith(kind: ChallengeKind, change: Partial<Challenge> = {}) {
  const ctx = await testContext({ settings: { webauthnMode: 'passwordless' } })
  await ctx.collections.users.insert(user)
  await issueIntent(ctx, kind, secretOf(kind), {
    user: nobodys.includes(kind) ? null : user,
    boundTo: boundOf(kind),
    payload: payloads[kind],
    lifeMs: 60_000,
  } as never)
  const id = sha256(secretOf(kind))
  if (Object.keys(change).length > 0) {
    await ctx.collections.challenges.update(id, { kind }, change)
  }
  const stored = () => ctx.collections.challenges.get(id)
  return { ctx, stored, before: await stored() }
}

async function outcomeOf(opening: Promise<unknown>): Promise<string> {
  try {
    return (await opening) === null ? 'refused' : 'opened'
  } catch (error) {
    return String(Object(error).code)
  }
}

describe('an intent', () => {
  it.each(kinds)('%s is opened by what it was issued for, and by nothing else', async (kind) => {
    for (const [name, open] of Object.entries(openers)) {
      const { ctx, stored, before } = await contextWith(kind)
      // A code that was shown before ends what came of it, and counts.
      for (const attempts of [0, 1]) {
        await ctx.collections.challenges.update(sha256(secretOf(kind)), { kind }, { attempts })
        const outcome = await outcomeOf(open(ctx))
        const isSame = JSON.stringify(await stored()) === JSON.stringify({ ...before, attempts })
        const isOpened = outcome === 'opened' || !isSame
        expect([name, attempts, isOpened]).toEqual([name, attempts, name === openerOf(kind)])
        if (isOpened) break
      }
    }
  })

  it.each(kinds)('%s that is malformed is an outage, and is not admitted', async (kind) => {
    for (const change of [{ payload: null }, { payload: 'a text' }, { boundTo: 'x' }] as const) {
      // Whatever is bound is bound to some text.
      if ('boundTo' in change && !unbound.includes(kind)) continue
      const { ctx, stored } = await contextWith(kind, change)
      const found = await stored()
      expect(() => intentOf(ctx, kind, found)).toThrow(
        expect.objectContaining({ code: 'service_unavailable' }),
      )
      const outcome = await outcomeOf(openers[openerOf(kind)]?.(ctx) ?? Promise.reject())
      expect(['service_unavailable', 'refused']).toContain(outcome)
    }
  })

  it.each(linkKinds)('%s that is malformed is an outage', async (kind) => {
    const ctx = await testContext()
    const boundTo = kind === 'expiredPassword' ? null : names.email
    const payload = kind === 'changeEmail' ? { email: names.email } : {}
    await issueIntent(ctx, kind, secret, { user, boundTo, payload, lifeMs: 60_000 } as never)
    const { intents } = ctx.collections
    const id = `${kind}:${user.id}`
    const found = await intents.get(id)
    expect(intentOf(ctx, kind, found)).toMatchObject({ kind, boundTo, payload })
    const wrong = await intents.update(id, { kind }, { payload: null })
    expect(() => intentOf(ctx, kind, wrong)).toThrow(
      expect.objectContaining({ code: 'service_unavailable' }),
    )
    const [line] = ctx.logger.lines.filter(({ level }) => level === 'error')
    expect(line?.fields).toEqual({ kind })
  })

  it('of each kind was tried here', () => {
    const all: readonly StoredKind[] = [...kinds, ...linkKinds]
    const { totpEnrollment: _, ...forms } = intentForms
    expect(all.toSorted()).toEqual(Object.keys(forms).toSorted())
  })
})
