import { expect } from 'vitest'
import { refreshCookieOf } from '../support/http-client.js'
import { pass, refused, type Scenario, type Scene, sessionOf, told } from './event-scenario.js'
import { storedIn } from './open-host.js'
import { goodPassword, otherPassword, person, signedInPerson } from './people.js'

const second = 1000
const wrong = 'not the password at all'

const signedIn = async ({ host, surface }: Scene) => {
  const who = await signedInPerson(host, surface)
  return { ...who, sessionId: sessionOf(who.refreshToken) }
}

/** Every way a login can go, through either door. */
const logins = (['login', 'mobileLogin'] as const).flatMap((of): readonly Scenario[] => {
  const path = of === 'login' ? '/login' : '/mobile/login'
  const attempt = ({ post }: Scene, email: string, password: string) =>
    post(path, { body: { email, password } })
  const method = 'password'
  return [
    {
      of,
      name: 'the right password',
      outcome: '200',
      tells: ({ id }) => [told('login.succeeded', 'success', { userId: id, method })],
      prepare: async (scene) => {
        const who = await person(scene.host, scene.surface)
        return { subject: who, perform: () => attempt(scene, who.email, goodPassword) }
      },
    },
    {
      of,
      name: 'a wrong password',
      outcome: '401 invalid_credentials',
      tells: ({ id }) => [
        told('login.failed', 'failure', { userId: id, method, reason: 'invalid_credentials' }),
      ],
      prepare: async (scene) => {
        const who = await person(scene.host, scene.surface)
        return { subject: who, perform: () => attempt(scene, who.email, wrong) }
      },
    },
    {
      of,
      name: 'an unknown address',
      outcome: '401 invalid_credentials',
      tells: () => [
        told('login.failed', 'failure', { userId: null, method, reason: 'invalid_credentials' }),
      ],
      prepare: async (scene) => ({ perform: () => attempt(scene, 'no@example.org', wrong) }),
    },
    {
      of,
      name: 'an address not verified',
      outcome: '403 email_not_verified',
      tells: ({ id }) => [
        told('login.failed', 'failure', { userId: id, method, reason: 'email_not_verified' }),
      ],
      prepare: async (scene) => {
        const email = 'new@example.org'
        const account = { email, password: goodPassword }
        const subject = await scene.host.auth[scene.surface].users.create(account)
        return { subject, perform: () => attempt(scene, email, goodPassword) }
      },
    },
    {
      of,
      name: 'a password too old',
      outcome: '200',
      options: { settings: { passwordMaxAge: '30d' } },
      tells: ({ id }) => [
        told('login.failed', 'failure', { userId: id, method, reason: 'password_expired' }),
      ],
      prepare: async (scene) => {
        const who = await person(scene.host, scene.surface)
        await pass(scene.host, 31 * 24 * 3600 * second)
        return { subject: who, perform: () => attempt(scene, who.email, goodPassword) }
      },
    },
    {
      of,
      name: 'the guess that uses the budget up',
      outcome: '401 invalid_credentials',
      options: { settings: { lockoutThreshold: 3, lockoutDuration: '15m' } },
      tells: ({ id }) => [
        told('login.lockedOut', 'failure', { userId: id, until: expect.any(Number) }),
        told('login.failed', 'failure', { userId: id }),
      ],
      prepare: async (scene) => {
        const who = await person(scene.host, scene.surface)
        for (let count = 1; count < 3; count += 1) await attempt(scene, who.email, wrong)
        return { subject: who, perform: () => attempt(scene, who.email, wrong) }
      },
    },
    {
      of,
      name: 'a session too many',
      outcome: '200',
      options: { settings: { maxConcurrentSessions: 1 } },
      tells: ({ id, sessionId }) => [
        told('session.terminated', 'success', {
          userId: id,
          sessionId,
          reason: 'limit',
          actorId: null,
        }),
        told('login.succeeded', 'success', { userId: id }),
      ],
      prepare: async (scene) => {
        const who = await signedIn(scene)
        await pass(scene.host, second)
        return { subject: who, perform: () => attempt(scene, who.email, goodPassword) }
      },
    },
    {
      of,
      name: 'more often than one address may, told once a window',
      outcome: '429 rate_limited',
      options: { settings: { loginRateOperator: 2, loginRateClient: 2 } },
      tells: () => [refused(of, 'rate_limited', { ip: '198.51.100.9' })],
      prepare: async ({ post }) => {
        const headers = { 'x-forwarded-for': '198.51.100.9' }
        const body = { email: 'no@example.org', password: wrong }
        const ask = () => post(path, { body, headers })
        await ask()
        await ask()
        return {
          async perform() {
            await ask()
            return ask()
          },
        }
      },
    },
  ]
})

/** Every way a refresh can go, through either door. */
const refreshes = (['refresh', 'refreshCookie'] as const).flatMap((of): readonly Scenario[] => {
  const present = ({ post }: Scene, cookie: string) =>
    of === 'refresh'
      ? post('/refresh', { body: { refreshToken: cookie.slice(cookie.indexOf('=') + 1) } })
      : post('/refresh-cookie', { cookie })
  const strict = { settings: { refreshReuseGrace: '0s' } }
  return [
    {
      of,
      name: 'an ordinary one, which leaves no record',
      outcome: '200',
      tells: ({ id, sessionId }) => [
        told('refresh.rotated', null, { userId: id, sessionId, generation: 2 }),
      ],
      prepare: async (scene) => {
        const who = await signedIn(scene)
        return { subject: who, perform: () => present(scene, who.cookie) }
      },
    },
    {
      of,
      name: 'a second tab',
      outcome: '200',
      tells: ({ id, sessionId }) => [
        told('refresh.reissued', 'success', { userId: id, sessionId, generation: 2 }),
      ],
      prepare: async (scene) => {
        const who = await signedIn(scene)
        await present(scene, who.cookie)
        return { subject: who, perform: () => present(scene, who.cookie) }
      },
    },
    {
      of,
      name: 'a replay',
      outcome: '401 refresh_token_reused',
      options: strict,
      tells: ({ id, sessionId }) => [
        told('session.terminated', 'success', { sessionId, reason: 'replay', actorId: null }),
        told('refresh.replayDetected', 'failure', {
          userId: id,
          sessionId,
          presentedGeneration: 1,
          currentGeneration: 2,
        }),
      ],
      prepare: async (scene) => {
        const who = await signedIn(scene)
        await present(scene, who.cookie)
        return { subject: who, perform: () => present(scene, who.cookie) }
      },
    },
    {
      of,
      name: 'a store that was rolled back',
      outcome: '401 refresh_token_invalid',
      tells: ({ id, sessionId }) => [
        told('session.terminated', 'success', { sessionId, reason: 'admin', actorId: null }),
        told('refresh.storeRolledBack', 'failure', {
          userId: id,
          sessionId,
          presentedGeneration: 2,
          currentGeneration: 1,
        }),
        refused(of, 'refresh_token_invalid'),
      ],
      prepare: async (scene) => {
        const who = await signedIn(scene)
        const next = await scene.post('/refresh-cookie', { cookie: who.cookie })
        const { families } = storedIn(scene.host, scene.surface)
        await families.update(who.sessionId, { revokedAt: null }, { generation: 1 })
        const cookie = refreshCookieOf(next, scene.surface)
        return { subject: who, perform: () => present(scene, cookie) }
      },
    },
    {
      of,
      name: 'a session that was ended',
      outcome: '401 session_revoked',
      tells: () => [refused(of, 'session_revoked')],
      prepare: async (scene) => {
        const who = await signedIn(scene)
        await scene.post('/logout', { bearer: who.bearer })
        return { perform: () => present(scene, who.cookie) }
      },
    },
    {
      of,
      name: 'a session past its cap',
      outcome: '401 session_max_age_reached',
      options: { settings: { sessionAbsoluteTTL: '1h' } },
      tells: ({ id, sessionId }) => [
        told('session.terminated', 'success', {
          userId: id,
          sessionId,
          reason: 'max_age',
          actorId: null,
        }),
        refused(of, 'session_max_age_reached'),
      ],
      prepare: async (scene) => {
        const who = await signedIn(scene)
        await pass(scene.host, 2 * 3600 * second)
        return { subject: who, perform: () => present(scene, who.cookie) }
      },
    },
  ]
})

const logouts: readonly Scenario[] = [
  {
    of: 'logout',
    name: 'this session',
    outcome: '204',
    tells: ({ id, sessionId }) => [
      told('session.terminated', 'success', {
        userId: id,
        actorId: id,
        sessionId,
        reason: 'logout',
      }),
    ],
    prepare: async (scene) => {
      const who = await signedIn(scene)
      return { subject: who, perform: () => scene.post('/logout', { bearer: who.bearer }) }
    },
  },
  {
    of: 'logout',
    name: 'everywhere',
    outcome: '204',
    tells: ({ id }) => [
      told('session.terminated', 'success', { userId: id, actorId: id }),
      told('session.terminated', 'success', { userId: id, actorId: id }),
    ],
    prepare: async (scene) => {
      const who = await signedIn(scene)
      const { email, password } = who
      await scene.post('/login', { body: { email, password } })
      const given = { bearer: who.bearer, body: { everywhere: true } }
      return { subject: who, perform: () => scene.post('/logout', given) }
    },
  },
  {
    of: 'logout',
    name: 'from a foreign page',
    outcome: '403 csrf_rejected',
    tells: () => [refused('logout', 'csrf_rejected')],
    prepare: async (scene) => {
      const { cookie } = await signedIn(scene)
      const headers = { origin: 'https://evil.example' }
      return { perform: () => scene.post('/logout', { cookie, headers }) }
    },
  },
]

const selfService: readonly Scenario[] = [
  {
    of: 'updateMe',
    name: 'another name, which is not repeated',
    outcome: '200',
    tells: ({ id }) => [
      told('account.updated', 'success', {
        actorId: id,
        targetId: id,
        fields: ['name'],
        before: {},
        after: {},
      }),
    ],
    prepare: async ({ host, surface, ...scene }) => {
      const who = await signedIn({ host, surface, ...scene })
      const given = { bearer: who.bearer, body: { name: 'Grace' } }
      return { subject: who, perform: () => host.send('PATCH', `/v1/auth/${surface}/me`, given) }
    },
  },
  {
    of: 'updateMe',
    name: 'SP-49 what the authorizer does not allow',
    outcome: '403 permission_denied',
    options: { authorizer: { check: async () => false } },
    tells: ({ id }) => [refused('updateMe', 'permission_denied', { userId: id }, 'failure')],
    prepare: async ({ host, surface, ...scene }) => {
      const who = await signedIn({ host, surface, ...scene })
      const given = { bearer: who.bearer, body: { name: 'Grace' } }
      return { subject: who, perform: () => host.send('PATCH', `/v1/auth/${surface}/me`, given) }
    },
  },
  {
    of: 'updateMe',
    name: 'a token of the other surface',
    outcome: '401 audience_mismatch',
    tells: () => [refused('updateMe', 'audience_mismatch', { userId: null })],
    prepare: async ({ host, surface }) => {
      const other = await signedInPerson(host, surface === 'operator' ? 'client' : 'operator')
      const given = { bearer: other.bearer, body: { name: 'Grace' } }
      return { perform: () => host.send('PATCH', `/v1/auth/${surface}/me`, given) }
    },
  },
  {
    of: 'changePassword',
    name: 'which ends the other sessions',
    outcome: '204',
    tells: ({ id }) => [
      told('password.changed', 'success', { userId: id, by: 'change' }),
      told('session.terminated', 'success', {
        userId: id,
        actorId: id,
        reason: 'password_change',
      }),
    ],
    prepare: async (scene) => {
      const who = await signedIn(scene)
      const { bearer, email, password: currentPassword } = who
      await scene.post('/login', { body: { email, password: currentPassword } })
      const body = { currentPassword, newPassword: otherPassword }
      return { subject: who, perform: () => scene.post('/me/password', { bearer, body }) }
    },
  },
  {
    of: 'changePassword',
    name: 'a wrong current password',
    outcome: '401 invalid_credentials',
    tells: ({ id, sessionId }) => [
      told('password.changeFailed', 'failure', { userId: id, sessionId }),
    ],
    prepare: async (scene) => {
      const who = await signedIn(scene)
      const body = { currentPassword: wrong, newPassword: otherPassword }
      const { bearer } = who
      return { subject: who, perform: () => scene.post('/me/password', { bearer, body }) }
    },
  },
]

const lastGuess: Scenario = {
  of: 'changePassword',
  name: 'the guess that uses the budget up',
  outcome: '401 invalid_credentials',
  options: { settings: { lockoutThreshold: 3 } },
  tells: ({ id, sessionId }) => [
    told('login.lockedOut', 'failure', { userId: id, until: expect.any(Number) }),
    told('password.changeFailed', 'failure', { userId: id, sessionId }),
  ],
  prepare: async (scene) => {
    const who = await signedIn(scene)
    const body = { currentPassword: wrong, newPassword: otherPassword }
    const guess = () => scene.post('/me/password', { bearer: who.bearer, body })
    await guess()
    await guess()
    return { subject: who, perform: guess }
  },
}

/** Beginning, prolonging, using and ending sessions. */
export const sessionScenarios: readonly Scenario[] = [
  ...logins,
  ...refreshes,
  ...logouts,
  ...selfService,
  lastGuess,
]
