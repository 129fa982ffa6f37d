import assert from 'node:assert/strict'
import type { BackupCodes } from '../../../src/model/factors.js'
import { textOf } from '../../support/hosts/http-client.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { provedOperator } from '../../support/people/administrator.js'
import {
  codeOf,
  type Enrolled,
  enrolled,
  finish,
  ticketOf,
} from '../../support/people/authenticator.js'
import {
  type Flow,
  guardedUnavailable,
  outcomeOf,
  proving,
  readStale,
  type Struck,
} from './flow.js'
import type { World } from './world.js'

const unavailable = guardedUnavailable

async function enrolledIn(world: World): Promise<Enrolled> {
  const who = await enrolled(world.host, world.surface)
  world.adopt(who.id)
  return who
}

/** A code that was not used yet, at every attempt. */
function codesOf({ backupCodes }: Enrolled): () => string {
  const left = [...backupCodes]
  return () => left.pop() ?? 'no code is left'
}

const proveIn = (world: World, bearer: string, next: () => string) =>
  world.send('POST', '/step-up', { bearer, body: { method: 'backupCode', code: next() } })

const statusOfLogin = async (world: World, { email, password }: Enrolled) =>
  (await world.send('POST', '/login', { body: { email, password } })).json()['status']

/**
 * What is spent is spent: when the write that spends it is sent twice, the second finds it used. Nobody
 * can tell that from somebody else's use of it, so another code, or another login, is asked for.
 */
const spentTwice = ({ call, fault }: Struck): readonly string[] => {
  if (fault !== 'twice') return []
  if (call.name.endsWith('backup_codes.update')) return ['401 invalid_mfa_code']
  return call.name.endsWith('challenges.take') ? ['401 mfa_ticket_invalid'] : []
}

/** A ticket made out to the account as it was before its factor ends with that change: start over. */
export const ofBefore = (struck: Struck): readonly string[] =>
  readStale(struck, '_users.find') || readStale(struck, '_users.get')
    ? ['401 mfa_ticket_invalid']
    : []

/** A factor as it was before it was confirmed is none, and a code of it is wrong: that rests on the port. */
const staleFactors: Flow['leavesOut'] = (struck) => readStale(struck, 'totp_factors.get')

const signsIn: Flow = {
  name: '/login/mfa with a backup code, after the password',
  options: withoutLimits,
  expects: '200',
  unavailable,
  mayAnswer: (struck) => [...spentTwice(struck), ...ofBefore(struck)],
  leavesOut: staleFactors,
  async prepare(world) {
    const who = await enrolledIn(world)
    const next = codesOf(who)
    const { email, password } = who
    return {
      async send() {
        const first = await world.send('POST', '/mobile/login', { body: { email, password } })
        if (first.status !== 200) return outcomeOf(first)
        const mfaToken = textOf(first.json(), 'mfaToken')
        const body = { mfaToken, method: 'backupCode', code: next() }
        return outcomeOf(await world.send('POST', '/login/mfa', { body }))
      },
      reached: async () => assert.notEqual(world.held.length, world.heldAtStart),
    }
  },
}

const wrongCode: Flow = {
  name: '/login/mfa with a wrong code',
  options: withoutLimits,
  expects: '401 invalid_mfa_code',
  unavailable,
  // Counted before it was checked, twice: the budget never gives a guess away.
  ends: () => ['401 mfa_ticket_invalid'],
  async prepare(world) {
    const who = await enrolledIn(world)
    const mfaToken = await ticketOf(world.host, world.surface, who)
    return {
      send: async () => outcomeOf(await finish(world.host, world.surface, mfaToken, '000000')),
      reached: async () => assert.equal(await statusOfLogin(world, who), 'mfaRequired'),
    }
  },
}

/** Of a factor of before. */
export const leftCodes = (userId: string): BackupCodes => ({
  ...{ id: userId, userId, expiresAt: null, createdAt: 0 },
  ...{ hashes: ['old'], usedMask: 0, setId: 'old' },
})

const begins: Flow = {
  name: '/mfa/totp, once more',
  options: withoutLimits,
  expects: '201',
  unavailable,
  async prepare(world) {
    const who = await world.person()
    const { bearer } = await world.signIn(who)
    const body = { currentPassword: who.password }
    const begin = () => world.send('POST', '/mfa/totp', { bearer, body })
    await begin()
    await world.stored.backupCodes.insert(leftCodes(who.id))
    let secret = ''
    return {
      async send() {
        const reply = await begin()
        if (reply.status === 201) secret = textOf(reply.json(), 'secret')
        return outcomeOf(reply)
      },
      async reached() {
        const code = codeOf(world.host, secret)
        const done = await world.send('POST', '/mfa/totp/confirm', { bearer, body: { code } })
        assert.equal(done.status, 200, done.text)
      },
    }
  },
}

const beginsWithoutPassword: Flow = {
  name: '/mfa/totp without a password',
  options: withoutLimits,
  expects: '201',
  unavailable,
  // As it was when it had a password.
  mayAnswer: (struck) => (readStale(struck, 'users.get') ? ['401 invalid_credentials'] : []),
  async prepare(world) {
    const who = await world.person()
    const { bearer } = await world.signIn(who)
    await world.stored.users.update(who.id, { enabled: true }, { passwordHash: null })
    return {
      send: async () => outcomeOf(await world.send('POST', '/mfa/totp', { bearer, body: {} })),
      reached: async () =>
        assert.equal((await world.stored.totpFactors.get(who.id))?.confirmed, false),
    }
  },
}

const enrollsOnTheWayIn: Flow = {
  name: '/mfa/totp/confirm on the way in',
  options: {
    ...withoutLimits,
    settings: {
      ...withoutLimits.settings,
      mfaPolicyOperator: 'required',
      mfaPolicyClient: 'required',
    },
  },
  expects: '200',
  unavailable,
  // The app is enrolled, and the login begins anew with it.
  ends: () => ['401 invalid_mfa_code', '401 mfa_ticket_invalid'],
  async prepare(world) {
    const who = await world.person()
    const { email, password } = who
    const login = async () =>
      (await world.send('POST', '/login', { body: { email, password } })).json()
    const mfaToken = textOf(await login(), 'mfaToken')
    const begun = await world.send('POST', '/mfa/totp', { body: { mfaToken } })
    const code = codeOf(world.host, textOf(begun.json(), 'secret'))
    return {
      send: async () =>
        outcomeOf(await world.send('POST', '/mfa/totp/confirm', { body: { mfaToken, code } })),
      reached: async () => assert.equal((await login())['status'], 'mfaRequired'),
    }
  },
}

const confirms: Flow = {
  name: '/mfa/totp/confirm',
  options: withoutLimits,
  expects: '200',
  unavailable,
  // The code is spent: the app is enrolled, and new backup codes are a request away.
  ends: () => ['401 invalid_mfa_code'],
  async prepare(world) {
    const who = await world.person()
    const { bearer } = await world.signIn(who)
    const body = { currentPassword: who.password }
    const begun = await world.send('POST', '/mfa/totp', { bearer, body })
    const code = codeOf(world.host, textOf(begun.json(), 'secret'))
    return {
      send: async () =>
        outcomeOf(await world.send('POST', '/mfa/totp/confirm', { bearer, body: { code } })),
      async reached() {
        const { email, password } = who
        const login = await world.send('POST', '/login', { body: { email, password } })
        assert.equal(login.json()['status'], 'mfaRequired')
      },
    }
  },
}

const stepsUp: Flow = {
  name: '/step-up with a backup code',
  options: withoutLimits,
  expects: '200',
  unavailable,
  mayAnswer: spentTwice,
  // A proof by somebody as they were before a factor changed is void from the start.
  leavesOut: (struck) => readStale(struck, 'totp_factors.get') || readStale(struck, 'users.get'),
  async prepare(world) {
    const who = await enrolledIn(world)
    const next = codesOf(who)
    const { bearer } = who
    return {
      async send() {
        const body = { method: 'backupCode', code: next() }
        return outcomeOf(await world.send('POST', '/step-up', { bearer, body }))
      },
      async reached() {
        const status = await world.send('GET', '/mfa', { bearer })
        assert.match(status.text, /"provedAt":"/)
      },
    }
  },
}

const regenerates: Flow = {
  name: '/mfa/backup-codes',
  options: withoutLimits,
  expects: '201',
  unavailable,
  // The codes are new, and with the change the proof that allowed it is void.
  ends: () => ['403 step_up_required'],
  leavesOut: staleFactors,
  async prepare(world) {
    const who = await enrolledIn(world)
    const { bearer } = who
    const next = codesOf(who)
    const prove = () => proveIn(world, bearer, next)
    await prove()
    const old = next()
    return {
      send: proving(() => world.send('POST', '/mfa/backup-codes', { bearer }), prove),
      async reached() {
        const mfaToken = await ticketOf(world.host, world.surface, who)
        const reply = await finish(world.host, world.surface, mfaToken, old, 'backupCode')
        assert.equal(reply.code, 'invalid_mfa_code', 'a code of the old set was accepted')
      },
    }
  },
}

const stepsUpAgain: Flow = {
  ...stepsUp,
  name: '/step-up once more',
  async prepare(world) {
    const who = await enrolledIn(world)
    const next = codesOf(who)
    const { bearer } = who
    const prove = () => {
      const body = { method: 'backupCode', code: next() }
      return world.send('POST', '/step-up', { bearer, body })
    }
    await prove()
    return {
      send: async () => outcomeOf(await prove()),
      async reached() {
        const status = await world.send('GET', '/mfa', { bearer })
        assert.match(status.text, /"provedAt":"/)
      },
    }
  },
}

const removes: Flow = {
  name: '/mfa/totp taken away',
  options: withoutLimits,
  expects: '204',
  unavailable,
  // The app is gone, and with the change the proof that let it go.
  ends: () => ['404 factor_not_found', '403 step_up_required', '403 mfa_enrollment_required'],
  async prepare(world) {
    const who = await enrolledIn(world)
    const { bearer } = who
    const next = codesOf(who)
    const prove = () => proveIn(world, bearer, next)
    await prove()
    return {
      send: proving(() => world.send('DELETE', '/mfa/totp', { bearer }), prove),
      reached: async () => assert.equal(await statusOfLogin(world, who), 'authenticated'),
    }
  },
}

const resets: Flow = {
  name: '/users/{userId}/mfa-reset, by an operator',
  options: { ...withoutLimits, authorizer: { check: async () => true } },
  expects: '204',
  unavailable,
  async prepare(world) {
    const who = await enrolledIn(world)
    const passkey = await world.stored.passkeys.insert({
      id: `key-of-${who.id}`,
      userId: who.id,
      expiresAt: null,
      slot: 0,
      publicKey: 'none',
      counter: 0,
      transports: [],
      name: '',
      backupEligible: false,
      backedUp: false,
      uvInitialized: true,
      removingBy: null,
      enrollmentId: null,
      deviceEpoch: 0,
      credentialEpoch: 0,
      createdAt: world.host.clock.now(),
      lastUsedAt: null,
      lastChallenge: '',
    })
    assert.ok(passkey)
    const { bearer } = await provedOperator(world.host)
    const path = `/v1/auth/operator/users/${who.id}/mfa-reset`
    const body = { surface: world.surface }
    return {
      send: async () => outcomeOf(await world.host.send('POST', path, { bearer, body })),
      async reached() {
        assert.equal(await statusOfLogin(world, who), 'authenticated')
        const me = await world.send('GET', '/me', { bearer: who.bearer })
        assert.equal(me.code, 'session_revoked')
      },
    }
  },
}

export const mfaFlows: readonly Flow[] = [
  signsIn,
  wrongCode,
  begins,
  beginsWithoutPassword,
  enrollsOnTheWayIn,
  confirms,
  stepsUp,
  stepsUpAgain,
  regenerates,
  removes,
  resets,
]
