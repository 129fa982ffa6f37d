import { describe, expect, it } from 'vitest'
import { openAnonymousIntent, openIntent } from '../../../src/domain/intents/intents.js'
import type { SurfaceContext } from '../../../src/domain/surface/surface-context.js'
import { type IntentCondition, type IntentKind, rulesOf } from '../../../src/engine/intents.js'
import { newUser, type User } from '../../../src/model/user.js'
import type { AuthSettings } from '../../../src/settings/settings.js'
import { type TestContext, testContext } from '../../support/test-context.js'

const names = { id: '01940000-0000-7000-8000-00000000000a', email: 'ada@example.org' }
const user = newUser(0, { ...names, emailAsTyped: names.email, name: 'Ada' })
const { id: userId, email, sessionEpoch, credentialEpoch, deviceEpoch } = user
const epochs = { sessionEpoch, credentialEpoch, deviceEpoch }
const on = {
  ...{ googleClientEnabled: true, googleClientId: 'an app', googleClientSecret: 'a secret' },
  webauthnMode: 'passwordless',
} as const

/** What each kind hangs on, beside an enabled account. */
const conditions: Readonly<Record<IntentKind, readonly IntentCondition[]>> = {
  verifyEmail: ['credentials', 'address'],
  register: [],
  confirmedLink: ['credentials'],
  changeEmail: ['credentials', 'sessions', 'factors'],
  resetPassword: ['credentials', 'address', 'password'],
  expiredPassword: ['credentials', 'sessions', 'factors', 'password'],
  secondFactor: ['credentials', 'sessions', 'factors', 'identity', 'loginMethod'],
  enrollment: ['credentials', 'sessions', 'lacksFactor', 'identity', 'loginMethod'],
  mailedCode: ['credentials', 'sessions', 'address'],
  oauthWeb: ['provider'],
  oauthApp: ['provider'],
  oauthLink: ['credentials', 'factors', 'session', 'provider'],
  appCode: ['credentials', 'sessions', 'identity', 'loginMethod'],
  passkeyLogin: ['passwordless'],
  passkeySecondFactor: ['credentials', 'factors'],
  passkeyRegistration: ['credentials', 'factors', 'passkeys'],
  passkeyStepUp: ['credentials', 'factors'],
  totpEnrollment: ['credentials', 'factors', 'totp'],
}
const anonymous: readonly IntentKind[] = ['register', 'oauthWeb', 'oauthApp', 'passkeyLogin']
const kinds = Object.keys(conditions) as readonly IntentKind[]
const pairs = kinds.flatMap((kind) =>
  conditions[kind].map((condition) => [kind, condition] as const),
)

const moved = (set: Partial<User>) => async (ctx: TestContext) => {
  await ctx.collections.users.update(userId, { enabled: true }, set)
  return ctx
}
const set = (changes: Partial<AuthSettings>) => async (ctx: TestContext) => ({
  ...ctx,
  settings: async () => ({ ...(await ctx.settings()), ...changes }),
})

/** What breaks each condition, and no other one. */
const breaks: Readonly<Record<IntentCondition, (ctx: TestContext) => Promise<SurfaceContext>>> = {
  credentials: moved({ credentialEpoch: 1 }),
  sessions: moved({ sessionEpoch: 1 }),
  factors: moved({ deviceEpoch: 1 }),
  address: moved({ email: 'eve@example.org' }),
  async lacksFactor(ctx) {
    await ctx.collections.totpFactors.insert({
      ...{ id: userId, userId, sealedSecret: '', keyId: '', confirmed: true, lastStep: 0 },
      ...{ removingBy: null, enrollmentId: null, createdAt: 0, boundTo: '', expiresAt: null },
      ...{ credentialEpoch, deviceEpoch },
    })
    return ctx
  },
  async session(ctx) {
    await ctx.collections.families.take('a session')
    return ctx
  },
  async identity(ctx) {
    await ctx.collections.oauthIdentities.take('an identity')
    return ctx
  },
  password: set({ passwordLoginClientEnabled: false }),
  provider: set({ googleClientEnabled: false }),
  loginMethod: set({ googleClientEnabled: false }),
  totp: set({ totpEnabled: false }),
  passkeys: set({ webauthnMode: 'off' }),
  passwordless: set({ webauthnMode: 'secondFactor' }),
}

async function context(): Promise<TestContext> {
  const ctx = await testContext({ settings: on })
  const { users, families, oauthIdentities } = ctx.collections
  const expiresAt = ctx.clock.now() + 60_000
  await users.insert(user)
  await families.insert({
    ...{ id: 'a session', userId, loginAt: ctx.clock.now(), sessionEpoch, generation: 1 },
    ...{ rotatedAt: 0, rotatedTo: '', noReissueUpTo: 0, rotatedBy: '', delivery: 'body' },
    ...{ shown: 0, device: null, byDevice: false },
    ...{ revokedAt: null, revokedReason: null, expiresAt },
  })
  await oauthIdentities.insert({
    ...{ id: 'an identity', userId, provider: 'google', issuer: '', subject: '', linkedAt: 0 },
    ...{ removingBy: null, expiresAt: null },
  })
  return ctx
}

async function outcomeOf(ctx: SurfaceContext, kind: IntentKind): Promise<string> {
  const isAnonymous = anonymous.includes(kind)
  const account = isAnonymous ? { userId: null, sessionEpoch: null } : { userId, ...epochs }
  const login = { method: 'google', identityId: 'an identity', oauthCodeId: null }
  const stored = {
    ...{ id: 'an intent', kind, ...account, boundTo: email, attempts: 0 },
    payload: { ...login, provider: 'google', sessionId: 'a session' },
    expiresAt: ctx.clock.now() + 60_000,
  }
  const open = isAnonymous ? openAnonymousIntent : openIntent
  try {
    await open(ctx, kind, stored as never)
    return 'good'
  } catch (error) {
    return String(Object(error).code)
  }
}

describe('an intent', () => {
  it.each(kinds)('%s is good while nothing changes', async (kind) => {
    expect(await outcomeOf(await context(), kind)).toBe('good')
  })

  it.each(pairs)('%s is refused once its %s is gone', async (kind, condition) => {
    const { refusal, switchedOff } = rulesOf(kind)
    const outcome = await outcomeOf(await breaks[condition](await context()), kind)
    expect([refusal, switchedOff]).toContain(outcome)
  })
})
