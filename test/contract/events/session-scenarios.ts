import { expect } from 'vitest'
import { refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { storedIn } from '../../support/hosts/open-host.js'
import { otherPassword, signedInApp, signedInPerson, signIn } from '../../support/people/people.js'
import { pass, refused, type Scenario, type Scene, signedIn, told } from './event-scenario.js'

const second = 1000
const wrong = 'not the password at all'

/** Every way a refresh can go, through either door. */
const refreshes = (['refresh', 'refreshCookie'] as const).flatMap((of): readonly Scenario[] => {
  const present = (
    { post }: Scene,
    cookie: string,
    headers: Readonly<Record<string, string>> = {},
  ) =>
    of === 'refresh'
      ? post('/refresh', { headers, body: { refreshToken: cookie.slice(cookie.indexOf('=') + 1) } })
      : post('/refresh-cookie', { headers, cookie })
  const by = of === 'refresh' ? signedInApp : signedInPerson
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
        const who = await signedIn(scene, by)
        return { subject: who, perform: () => present(scene, who.cookie) }
      },
    },
    {
      of,
      name: 'a second tab',
      outcome: '200',
      tells: ({ id, sessionId }) => [
        told('refresh.reissued', 'success', {
          userId: id,
          sessionId,
          generation: 2,
          otherClient: false,
          late: false,
        }),
      ],
      prepare: async (scene) => {
        const who = await signedIn(scene, by)
        await present(scene, who.cookie)
        return { subject: who, perform: () => present(scene, who.cookie) }
      },
    },
    {
      of,
      name: 'another client that follows with a copy',
      outcome: '200',
      tells: ({ id, sessionId }) => [
        told('refresh.reissued', 'success', {
          userId: id,
          sessionId,
          generation: 2,
          otherClient: true,
          late: false,
        }),
      ],
      prepare: async (scene) => {
        const who = await signedIn(scene, by)
        await present(scene, who.cookie, { 'user-agent': 'Browser/1.0 (Laptop)' })
        return { subject: who, perform: () => present(scene, who.cookie) }
      },
    },
    {
      of,
      name: 'from another place, which voids its proof',
      outcome: '200',
      options: { sessionRiskScorer: { assess: async () => ({ outcome: 'stepUp' }) } },
      tells: ({ id, sessionId }) => [
        told('refresh.unusual', 'failure', {
          userId: id,
          sessionId,
          changed: ['network'],
          outcome: 'stepUp',
          assessed: true,
        }),
        told('refresh.rotated', null, { userId: id, sessionId, generation: 2 }),
      ],
      prepare: async (scene) => {
        const who = await signedIn(scene, by)
        const elsewhere = { 'x-forwarded-for': '203.0.113.9' }
        return { subject: who, perform: () => present(scene, who.cookie, elsewhere) }
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
        const who = await signedIn(scene, by)
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
        const who = await signedIn(scene, by)
        const next = await present(scene, who.cookie)
        const { families } = storedIn(scene.host, scene.surface)
        await families.update(who.sessionId, { revokedAt: null }, { generation: 1 })
        const cookie =
          of === 'refresh'
            ? `=${textOf(next.json(), 'refreshToken')}`
            : refreshCookieOf(next, scene.surface)
        return { subject: who, perform: () => present(scene, cookie) }
      },
    },
    {
      of,
      name: 'a session that was ended',
      outcome: '401 session_revoked',
      tells: () => [refused(of, 'session_revoked')],
      prepare: async (scene) => {
        const who = await signedIn(scene, by)
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
        const who = await signedIn(scene, by)
        await pass(scene.host, 2 * 3600 * second)
        return { subject: who, perform: () => present(scene, who.cookie) }
      },
    },
  ]
})

const pageLoad: Scenario = {
  of: 'getSession',
  name: 'the first page within an hour',
  outcome: '200',
  tells: ({ id, sessionId }) => [told('session.viewed', null, { userId: id, sessionId })],
  prepare: async ({ host, surface }) => {
    const who = await signedIn({ host, surface })
    const { cookie } = who
    return {
      subject: who,
      perform: () => host.send('GET', `/v1/auth/${surface}/session`, { cookie }),
    }
  },
}

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
    name: 'what an ending cut short left undone, told by that one',
    outcome: '204',
    tells: () => [],
    prepare: async (scene) => {
      const { bearer, sessionId } = await signedIn(scene)
      const { families, sessions } = storedIn(scene.host, scene.surface)
      const set = { revokedAt: scene.host.clock.now(), revokedReason: 'admin' } as const
      await families.update(sessionId, { revokedAt: null }, set)
      return {
        async perform() {
          const reply = await scene.post('/logout', { bearer })
          expect((await sessions.get(sessionId))?.active).toBe(false)
          return reply
        },
      }
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
    of: 'terminateSession',
    name: 'another one of your own',
    outcome: '204',
    surfaces: ['operator'],
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
      const { bearer } = await signIn(scene.host, scene.surface, who)
      const path = `/v1/auth/operator/sessions/${who.sessionId}`
      return { subject: who, perform: () => scene.host.send('DELETE', path, { bearer }) }
    },
  },
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
    name: 'what the authorizer does not allow',
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
  name: 'the guess that uses up those of the session',
  outcome: '401 invalid_credentials',
  options: { settings: { lockoutThreshold: 3 } },
  tells: ({ id, sessionId }) => [
    told('session.terminated', 'success', {
      ...{ userId: id, sessionId, reason: 'guesses', actorId: null },
    }),
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

/** Prolonging, using and ending sessions. */
export const sessionScenarios: readonly Scenario[] = [
  ...refreshes,
  pageLoad,
  ...logouts,
  ...selfService,
  lastGuess,
]
