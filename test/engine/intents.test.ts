import { describe, expect, it } from 'vitest'
import {
  type IntentAccount,
  type IntentCondition,
  type IntentFacts,
  type IntentRules,
  type IntentState,
  judgeIntent,
  rulesOf,
} from '../../src/engine/intents.js'

const now = 1_000_000
const epochs = { sessionEpoch: 3, credentialEpoch: 5, deviceEpoch: 7 }
const intent: IntentFacts = { ...epochs, id: 'i1', email: 'ada@example.com', expiresAt: now + 1 }
const account: IntentAccount = {
  ...epochs,
  email: 'ada@example.com',
  enabled: true,
  lastIntentId: null,
  keptIntentId: null,
}
const isOn = {
  password: true,
  provider: true,
  loginMethod: true,
  totp: true,
  passkeys: true,
  passwordless: true,
}
const fine: IntentState = {
  account,
  isSessionOpen: true,
  isIdentityGood: true,
  lacksFactor: true,
  isOn,
}

/** An intent that hangs on this alone. */
const hangingOn = (...hangsOn: readonly IntentCondition[]): IntentRules => ({
  ...rulesOf('secondFactor'),
  hangsOn,
})

const changed = (more: Partial<IntentAccount>): IntentState => ({
  ...fine,
  account: { ...account, ...more },
})
const switchedOff = (name: keyof typeof isOn): IntentState => ({
  ...fine,
  isOn: { ...isOn, [name]: false },
})

const breaks: Readonly<Record<IntentCondition, readonly IntentState[]>> = {
  credentials: [changed({ credentialEpoch: 6 }), changed({ credentialEpoch: 4 })],
  sessions: [changed({ sessionEpoch: 4 }), changed({ sessionEpoch: 5, keptIntentId: 'i1' })],
  factors: [changed({ deviceEpoch: 8 })],
  address: [changed({ email: 'eve@example.com' })],
  session: [{ ...fine, isSessionOpen: false }],
  lacksFactor: [{ ...fine, lacksFactor: false }],
  identity: [{ ...fine, isIdentityGood: false }],
  password: [switchedOff('password')],
  provider: [switchedOff('provider')],
  loginMethod: [switchedOff('loginMethod')],
  totp: [switchedOff('totp')],
  passkeys: [switchedOff('passkeys')],
  passwordless: [switchedOff('passwordless')],
}
const conditions = Object.keys(breaks).filter((name): name is IntentCondition => name in breaks)
const isSwitch = (condition: IntentCondition) => condition in isOn

describe('whether an intent may still have its effect', () => {
  it.each(conditions)('hangs on %s where its kind says so, and only there', (condition) => {
    expect(judgeIntent(hangingOn(condition), intent, fine, now)).toBe('good')
    const others = conditions.filter((one) => one !== condition)
    for (const state of breaks[condition]) {
      const verdict = isSwitch(condition) ? 'switchedOff' : 'void'
      expect(judgeIntent(hangingOn(condition), intent, state, now)).toBe(verdict)
      expect(judgeIntent(hangingOn(...others), intent, state, now)).toBe('good')
    }
  })

  it.each<[name: string, state: IntentState]>([
    ['is gone', { ...fine, account: null }],
    ['is disabled', changed({ enabled: false })],
    ['became a service account', changed({ kind: 'service' })],
  ])('hangs on no kind for an account that %s', (_name, state) => {
    expect(judgeIntent(hangingOn(), intent, state, now)).toBe('void')
    const late = { ...intent, expiresAt: now }
    expect(judgeIntent(hangingOn(), late, state, now)).toBe('void')
  })

  it('ends at its deadline, not a millisecond later', () => {
    expect(judgeIntent(hangingOn(), intent, fine, now)).toBe('good')
    expect(judgeIntent(hangingOn(), intent, fine, now + 1)).toBe('expired')
  })

  it('says that a method is off to a holder alone', () => {
    const both = { ...changed({ credentialEpoch: 6 }), isOn: { ...isOn, totp: false } }
    expect(judgeIntent(hangingOn('credentials', 'totp'), intent, both, now)).toBe('void')
  })

  it('goes on where its own effect was written, and nothing changed since', () => {
    const written = { credentialEpoch: 6, deviceEpoch: 8, lastIntentId: 'i1' }
    const rules = hangingOn('credentials', 'factors')
    const judged = (more: Partial<IntentAccount>) =>
      judgeIntent(rules, intent, changed({ ...written, ...more }), now)
    expect(judged({})).toBe('interrupted')
    expect(judged({ lastIntentId: 'i2' })).toBe('void')
    expect(judged({ credentialEpoch: 7 })).toBe('void')
    expect(judged({ deviceEpoch: 9 })).toBe('void')
  })

  it('goes on however often factors changed, where it does not hang on them', () => {
    const written = { credentialEpoch: 6, deviceEpoch: 9, lastIntentId: 'i1' }
    const judged = (more: Partial<IntentAccount>) =>
      judgeIntent(hangingOn('credentials'), intent, changed({ ...written, ...more }), now)
    expect(judged({})).toBe('interrupted')
    expect(judged({ credentialEpoch: 7 })).toBe('void')
    expect(judged({ lastIntentId: 'i2' })).toBe('void')
  })

  it('goes on where its effect moved one of the epochs, or none that it knows of', () => {
    const judged = (facts: IntentFacts, more: Partial<IntentAccount>) => {
      const state = changed({ lastIntentId: 'i1', ...more })
      return judgeIntent(hangingOn('credentials', 'factors'), facts, state, now)
    }
    expect(judged(intent, { deviceEpoch: 8 })).toBe('interrupted')
    expect(judged(intent, { credentialEpoch: 6 })).toBe('interrupted')
    expect(judged({ id: 'i1', expiresAt: now + 1 }, { credentialEpoch: 99 })).toBe('interrupted')
    expect(judged({ ...intent, id: 'i2' }, { deviceEpoch: 8 })).toBe('void')
  })

  it('of no account hangs on none, and is void where it should', () => {
    const { account: _, ...nobody } = fine
    const judged = (...hangsOn: readonly IntentCondition[]) =>
      judgeIntent(hangingOn(...hangsOn), intent, nobody, now)
    expect(judged()).toBe('good')
    for (const condition of ['credentials', 'sessions', 'factors', 'address'] as const)
      expect(judged(condition)).toBe('void')
  })

  it('of each kind has its rules', () => {
    expect(rulesOf('resetPassword').hangsOn).toContain('credentials')
    expect(rulesOf('oauthLink').refusal).toBe('oauth_failed')
  })

  it('survives the end of all sessions that it asked for itself', () => {
    const spared = changed({ sessionEpoch: 4, keptIntentId: 'i1' })
    expect(judgeIntent(hangingOn('sessions'), intent, spared, now)).toBe('good')
    const other = changed({ sessionEpoch: 4, keptIntentId: 'i2' })
    expect(judgeIntent(hangingOn('sessions'), intent, other, now)).toBe('void')
  })
})
