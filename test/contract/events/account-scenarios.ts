import { mailedToken, storedIn } from '../../support/hosts/open-host.js'
import { goodPassword, otherPassword, person, signedInPerson } from '../../support/people/people.js'
import { pass, refused, type Scenario, type Scene, signedIn, told } from './event-scenario.js'

const email = 'ada@example.org'

const register = ({ post }: Scene) => post('/register', { body: { email, password: goodPassword } })

/** An account whose address nobody confirmed. */
async function made({ host, surface }: Scene): Promise<string> {
  const { id } = await host.auth[surface].users.create({ email, password: goodPassword })
  return id
}

/** The id of the user to be. */
async function registered(scene: Scene): Promise<string> {
  await register(scene)
  const { pendingRegistrations } = storedIn(scene.host, scene.surface)
  const [waiting] = await pendingRegistrations.find({ email }, { limit: 1 })
  return waiting?.id ?? ''
}

const registration: readonly Scenario[] = [
  {
    of: 'register',
    name: 'an address to be confirmed',
    outcome: '201',
    tells: () => [told('account.registrationRequested', null)],
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
    tells: () => [
      told('account.registrationRequested', null),
      told('account.registrationRepeated', 'failure'),
    ],
    prepare: async (scene) => {
      await made(scene)
      return { perform: () => register(scene) }
    },
  },
  {
    of: 'verifyEmail',
    name: 'the mailed token',
    outcome: '200',
    tells: ({ id }) => [told('email.verified', 'success', { userId: id })],
    prepare: async (scene) => {
      const id = await made(scene)
      await scene.post('/email/verify/resend', { body: { email } })
      const token = await mailedToken(scene.host, 'verifyEmail', email)
      const body = { token, newPassword: goodPassword }
      return { subject: { id }, perform: () => scene.post('/email/verify', { body }) }
    },
  },
  {
    of: 'verifyEmail',
    name: 'the mailed token of a registration',
    outcome: '200',
    tells: () => [told('account.registered', 'success'), told('email.verified', 'success')],
    prepare: async (scene) => {
      await register(scene)
      const token = await mailedToken(scene.host, 'verifyEmail', email)
      const body = { token, newPassword: goodPassword }
      return { perform: () => scene.post('/email/verify', { body }) }
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
      subject: { id: await made(scene) },
      perform: () => scene.post('/email/verify/resend', { body: { email } }),
    }),
  },
  {
    of: 'resendEmailVerification',
    name: 'for a registration that waits',
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
      told('account.ownerProved', 'success', { userId: id, by: 'reset' }),
      told('password.changed', 'success', { userId: id, by: 'reset' }),
    ],
    prepare: async (scene) => {
      const id = await made(scene)
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
    name: 'a token voided by a change',
    outcome: '400 invalid_token',
    tells: () => [refused('resetPassword', 'invalid_token', {}, 'failure')],
    prepare: async (scene) => {
      const who = await signedIn(scene)
      await scene.post('/password/forgot', { body: { email: who.email } })
      const token = await mailedToken(scene.host, 'resetPassword', who.email)
      const change = { currentPassword: who.password, newPassword: otherPassword }
      await scene.post('/me/password', { bearer: who.bearer, body: change })
      const body = { token, newPassword: 'not what it is now' }
      return { subject: who, perform: () => scene.post('/password/reset', { body }) }
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

const changes: readonly Scenario[] = [
  {
    of: 'requestEmailChange',
    name: 'another address, which is not repeated',
    outcome: '202',
    tells: ({ id }) => [told('email.changeRequested', 'success', { userId: id })],
    prepare: async (scene) => {
      const who = await signedIn(scene)
      const { bearer, password: currentPassword } = who
      const given = { bearer, body: { newEmail: email, currentPassword } }
      return { subject: who, perform: () => scene.post('/me/email', given) }
    },
  },
  {
    of: 'requestEmailChange',
    name: 'with a wrong password',
    outcome: '401 invalid_credentials',
    tells: ({ id, sessionId }) => [
      told('password.changeFailed', 'failure', { userId: id, sessionId }),
    ],
    prepare: async (scene) => {
      const who = await signedIn(scene)
      const given = { bearer: who.bearer, body: { newEmail: email, currentPassword: 'no' } }
      return { subject: who, perform: () => scene.post('/me/email', given) }
    },
  },
  {
    of: 'verifyEmail',
    name: 'the token mailed to another address',
    outcome: '200',
    tells: ({ id }) => [told('email.changed', 'success', { userId: id })],
    prepare: async (scene) => {
      const who = await signedIn(scene)
      const { bearer, password: currentPassword } = who
      await scene.post('/me/email', { bearer, body: { newEmail: email, currentPassword } })
      const token = await mailedToken(scene.host, 'changeEmail', email)
      return {
        subject: who,
        perform: () => scene.post('/email/verify', { bearer, body: { token } }),
      }
    },
  },
  {
    of: 'deleteMe',
    name: 'by its owner, whose session ends',
    outcome: '204',
    options: { settings: { accountDeletionMode: 'both' } },
    tells: ({ id, sessionId }) => [
      told('session.terminated', 'success', {
        userId: id,
        actorId: id,
        sessionId,
        reason: 'logout',
      }),
      told('account.deleted', 'success', { actorId: id, targetId: id }),
    ],
    prepare: async (scene) => {
      const { host, surface } = scene
      const who = await signedIn(scene)
      const given = { bearer: who.bearer, body: { currentPassword: who.password } }
      return { subject: who, perform: () => host.send('DELETE', `/v1/auth/${surface}/me`, given) }
    },
  },
  {
    of: 'deleteMe',
    name: 'where that is switched off',
    outcome: '403 account_deletion_disabled',
    options: { settings: { accountDeletionMode: 'off' } },
    tells: ({ id }) => [refused('deleteMe', 'account_deletion_disabled', { userId: id })],
    prepare: async (scene) => {
      const { host, surface } = scene
      const who = await signedIn(scene)
      const { bearer } = who
      const path = `/v1/auth/${surface}/me`
      return { subject: who, perform: () => host.send('DELETE', path, { bearer }) }
    },
  },
]

/** What an administrator has mailed to somebody on this surface. */
const mailings = (
  [
    ['sendUserPasswordReset', 'password-reset', 'password.resetRequested'],
    ['resendUserEmailVerification', 'email-verification', 'email.verificationRequested'],
  ] as const
).map(
  ([of, path, type]): Scenario => ({
    of,
    name: 'by an administrator',
    outcome: '202',
    options: { authorizer: { check: async () => true } },
    tells: ({ id, sessionId: actorId }) => [told(type, 'success', { userId: id, actorId })],
    prepare: async ({ host, surface }) => {
      const admin = await signedInPerson(host, 'operator')
      const who = await host.auth[surface].users.create({ email })
      const { bearer } = admin
      return {
        // In place of a session: who asked.
        subject: { id: who.id, sessionId: admin.id },
        perform: () =>
          host.send('POST', `/v1/auth/operator/users/${who.id}/${path}`, {
            bearer,
            body: { surface },
          }),
      }
    },
  }),
)

/** Registering, proving an address, and lost passwords. */
export const accountScenarios: readonly Scenario[] = [
  ...registration,
  ...passwords,
  ...changes,
  ...mailings,
]
