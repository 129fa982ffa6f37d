import { pass, refused, type Scenario, type Scene, signedIn, told } from './event-scenario.js'
import { mailedToken, storedUser } from './open-host.js'
import { goodPassword, otherPassword, person, signedInPerson } from './people.js'

const email = 'ada@example.org'

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
    name: 'a token voided by a change, and the guess that uses the budget up',
    outcome: '400 invalid_token',
    options: { settings: { lockoutThreshold: 3 } },
    tells: ({ id }) => [
      told('login.lockedOut', 'failure', { userId: id }),
      refused('resetPassword', 'invalid_token', {}, 'failure'),
    ],
    prepare: async (scene) => {
      const who = await signedIn(scene)
      await scene.post('/password/forgot', { body: { email: who.email } })
      const token = await mailedToken(scene.host, 'resetPassword', who.email)
      const change = { currentPassword: who.password, newPassword: otherPassword }
      await scene.post('/me/password', { bearer: who.bearer, body: change })
      const guess = () =>
        scene.post('/password/reset', { body: { token, newPassword: 'not what it is now' } })
      await guess()
      await guess()
      return { subject: who, perform: guess }
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

/** Registering, proving an address, and lost passwords. */
export const accountScenarios: readonly Scenario[] = [...registration, ...passwords]
