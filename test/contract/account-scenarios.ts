import { AuthError } from '../../src/errors.js'
import { pass, refused, type Scenario, type Scene, sessionOf, told } from './event-scenario.js'
import { mailedToken, storedUser } from './open-host.js'
import { goodPassword, otherPassword, person, signedInPerson } from './people.js'

const email = 'ada@example.org'
const admin = { actorId: 'ops-7', ip: '192.0.2.7', userAgent: 'back office' } as const

const register = ({ post }: Scene) => post('/register', { body: { email, password: goodPassword } })

async function registered(scene: Scene): Promise<string> {
  await register(scene)
  return (await storedUser(scene.host, scene.surface, email)).id
}

const registration: readonly Scenario[] = [
  {
    of: 'register',
    name: 'a new account',
    outcome: '201',
    tells: () => [told('account.registered', 'success')],
    prepare: async (scene) => ({ perform: () => register(scene) }),
  },
  {
    of: 'register',
    name: 'a new account, signed in at once',
    outcome: '201',
    options: { settings: { emailVerificationRequired: false } },
    tells: () => [told('account.registered', 'success'), told('login.succeeded', 'success')],
    prepare: async (scene) => ({ perform: () => register(scene) }),
  },
  {
    of: 'register',
    name: 'an address that has an account',
    outcome: '201',
    tells: () => [told('account.registrationRepeated', 'failure')],
    prepare: async (scene) => {
      await register(scene)
      return { perform: () => register(scene) }
    },
  },
  {
    of: 'verifyEmail',
    name: 'the mailed token',
    outcome: '200',
    tells: ({ id }) => [told('email.verified', 'success', { userId: id })],
    prepare: async (scene) => {
      const id = await registered(scene)
      const token = await mailedToken(scene.host, 'verifyEmail', email)
      return { subject: { id }, perform: () => scene.post('/email/verify', { body: { token } }) }
    },
  },
  {
    of: 'verifyEmail',
    name: 'a token that is none',
    outcome: '400 invalid_token',
    tells: () => [refused('verifyEmail', 'invalid_token', { userId: null }, 'failure')],
    prepare: async ({ post }) => ({
      perform: () => post('/email/verify', { body: { token: 'no.token' } }),
    }),
  },
  {
    of: 'resendEmailVerification',
    name: 'for an account that waits',
    outcome: '202',
    tells: ({ id }) => [told('email.verificationRequested', 'success', { userId: id })],
    prepare: async (scene) => ({
      subject: { id: await registered(scene) },
      perform: () => scene.post('/email/verify/resend', { body: { email } }),
    }),
  },
  {
    of: 'resendEmailVerification',
    name: 'for nobody',
    outcome: '202',
    tells: () => [told('email.verificationRequested', 'success', { userId: null })],
    prepare: async ({ post }) => ({
      perform: () => post('/email/verify/resend', { body: { email } }),
    }),
  },
]

const passwords: readonly Scenario[] = [
  {
    of: 'forgotPassword',
    name: 'for an account',
    outcome: '202',
    tells: ({ id }) => [told('password.resetRequested', 'success', { userId: id })],
    prepare: async ({ host, surface, post }) => {
      const who = await person(host, surface)
      const body = { email: who.email }
      return { subject: who, perform: () => post('/password/forgot', { body }) }
    },
  },
  {
    of: 'forgotPassword',
    name: 'for nobody',
    outcome: '202',
    tells: () => [told('password.resetRequested', 'success', { userId: null })],
    prepare: async ({ post }) => ({
      perform: () => post('/password/forgot', { body: { email } }),
    }),
  },
  {
    of: 'forgotPassword',
    name: 'more often than its limit, told once a window',
    outcome: '429 rate_limited',
    tells: () => [refused('forgotPassword', 'rate_limited')],
    prepare: async ({ host, post }) => {
      const ask = () => {
        const headers = { 'x-forwarded-for': '198.51.100.9' }
        return post('/password/forgot', { body: { email: 'no@example.org' }, headers })
      }
      for (let count = 0; count < 3; count += 1) await ask()
      await ask()
      await pass(host, 60 * 60_000)
      for (let count = 0; count < 3; count += 1) await ask()
      return {
        async perform() {
          // Its three askings of this window told of themselves before.
          await ask()
          return ask()
        },
      }
    },
  },
  {
    of: 'resetPassword',
    name: 'the mailed token, which proves the address and ends the sessions',
    outcome: '204',
    tells: ({ id }) => [
      told('email.verified', 'success', { userId: id }),
      told('password.changed', 'success', { userId: id, by: 'reset' }),
    ],
    prepare: async (scene) => {
      const id = await registered(scene)
      await scene.post('/password/forgot', { body: { email } })
      const token = await mailedToken(scene.host, 'resetPassword', email)
      const body = { token, newPassword: otherPassword }
      return { subject: { id }, perform: () => scene.post('/password/reset', { body }) }
    },
  },
  {
    of: 'resetPassword',
    name: 'with a session to end',
    outcome: '204',
    tells: ({ id }) => [
      told('password.changed', 'success', { userId: id, by: 'reset' }),
      told('session.terminated', 'success', {
        userId: id,
        actorId: id,
        reason: 'password_change',
      }),
    ],
    prepare: async ({ host, surface, post }) => {
      const who = await signedInPerson(host, surface)
      await post('/password/forgot', { body: { email: who.email } })
      const token = await mailedToken(host, 'resetPassword', who.email)
      const body = { token, newPassword: otherPassword }
      return { subject: who, perform: () => post('/password/reset', { body }) }
    },
  },
  {
    of: 'resetPassword',
    name: 'a token that is none',
    outcome: '400 invalid_token',
    tells: () => [refused('resetPassword', 'invalid_token', {}, 'failure')],
    prepare: async ({ post }) => ({
      perform: () =>
        post('/password/reset', { body: { token: 'no.token', newPassword: otherPassword } }),
    }),
  },
]

const hostFunctions: readonly Scenario[] = [
  {
    of: 'users.create',
    name: 'on behalf of an operator',
    outcome: 'made',
    tells: ({ id }) => [told('account.created', 'success', { ...admin, targetId: id })],
    prepare: async ({ host, surface }) => {
      const subject = { id: '' }
      return {
        subject,
        async perform() {
          subject.id = (await host.auth[surface].users.create({ email }, admin)).id
          return 'made'
        },
      }
    },
  },
  {
    of: 'users.create',
    name: 'SP-49 of an address that is taken',
    outcome: 'email_taken',
    tells: () => [
      told('account.createFailed', 'failure', { actorId: null, reason: 'email_taken' }),
    ],
    prepare: async ({ host, surface }) => {
      await host.auth[surface].users.create({ email })
      return { perform: () => codeOf(host.auth[surface].users.create({ email })) }
    },
  },
  {
    of: 'users.update',
    name: 'SP-49 with what was before and after, and every session ended',
    outcome: 'done',
    tells: ({ id, sessionId }) => [
      told('account.updated', 'success', {
        ...admin,
        targetId: id,
        fields: ['name', 'enabled', 'systemRole', 'memberships'],
        before: { enabled: true, systemRole: 'guest', memberships: [] },
        after: { enabled: false, systemRole: 'editor', memberships: [{ tenantId: 't1' }] },
      }),
      told('session.terminated', 'success', { ...admin, userId: id, sessionId, reason: 'admin' }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await signedInPerson(host, surface)
      const changes = {
        name: 'Grace',
        enabled: false,
        systemRole: 'editor',
        memberships: [{ tenantId: 't1' }],
      }
      return {
        subject: { id: who.id, sessionId: sessionOf(who.refreshToken) },
        perform: () => codeOf(host.auth[surface].users.update(who.id, changes, admin)),
      }
    },
  },
  {
    of: 'users.update',
    name: 'SP-49 of nobody',
    outcome: 'done',
    tells: () => [
      told('account.updateFailed', 'failure', { targetId: 'nobody', reason: 'not_found' }),
    ],
    prepare: async ({ host, surface }) => ({
      perform: () => codeOf(host.auth[surface].users.update('nobody', { enabled: false })),
    }),
  },
  {
    of: 'users.update',
    name: 'SP-49 by a change that is none',
    outcome: 'invalid_request',
    tells: ({ id }) => [
      told('account.updateFailed', 'failure', {
        ...admin,
        targetId: id,
        reason: 'invalid_request',
      }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await person(host, surface)
      const changes = { name: 'NUL \0' }
      return {
        subject: who,
        perform: () => codeOf(host.auth[surface].users.update(who.id, changes, admin)),
      }
    },
  },
  {
    of: 'terminateSession',
    name: 'on behalf of an operator',
    outcome: 'done',
    tells: ({ id, sessionId }) => [
      told('session.terminated', 'success', { ...admin, userId: id, sessionId, reason: 'admin' }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await signedInPerson(host, surface)
      const sessionId = sessionOf(who.refreshToken)
      return {
        subject: { id: who.id, sessionId },
        perform: () => codeOf(host.auth[surface].terminateSession(sessionId, admin)),
      }
    },
  },
  {
    of: 'terminateSessionsOf',
    name: 'on behalf of an operator',
    outcome: 'done',
    tells: ({ id, sessionId }) => [
      told('session.allTerminated', 'success', { ...admin, targetId: id }),
      told('session.terminated', 'success', { ...admin, userId: id, sessionId, reason: 'admin' }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await signedInPerson(host, surface)
      return {
        subject: { id: who.id, sessionId: sessionOf(who.refreshToken) },
        perform: () => codeOf(host.auth[surface].terminateSessionsOf(who.id, admin)),
      }
    },
  },
]

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'done'
  } catch (error) {
    return error instanceof AuthError ? error.code : String(error)
  }
}

/** Making, proving, changing and administering accounts. */
export const accountScenarios: readonly Scenario[] = [
  ...registration,
  ...passwords,
  ...hostFunctions,
]
