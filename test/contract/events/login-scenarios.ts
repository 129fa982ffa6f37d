import { expect } from 'vitest'
import { goodPassword, person } from '../../support/people/people.js'
import { askForCode, mailedCodeFor, showCode, wrongCodeFor } from '../login/mailed-code-steps.js'
import { pass, refused, type Scenario, type Scene, signedIn, told } from './event-scenario.js'

const second = 1000
const wrong = 'not the password at all'

/** Every way a login can go, through either door. */
export const loginScenarios = (['login', 'mobileLogin'] as const).flatMap(
  (of): readonly Scenario[] => {
    const path = of === 'login' ? '/login' : '/mobile/login'
    const attempt = ({ post }: Scene, email: string, password: string) =>
      post(path, { body: { email, password } })
    const method = 'password'
    return [
      {
        of,
        name: 'the right password',
        outcome: '200',
        tells: ({ id }) => [
          told('login.succeeded', 'success', { userId: id, method, mfaMethod: null, amr: ['pwd'] }),
        ],
        prepare: async (scene) => {
          const who = await person(scene.host, scene.surface)
          return { subject: who, perform: () => attempt(scene, who.email, goodPassword) }
        },
      },
      {
        of,
        name: 'the right password from a device not seen before',
        outcome: '200',
        tells: ({ id }) => [
          told('login.succeeded', 'success', { userId: id, method }),
          told('login.newDevice', 'success', { userId: id, signals: ['newDevice'] }),
        ],
        prepare: async (scene) => {
          const who = await person(scene.host, scene.surface)
          const body = { email: who.email, password: goodPassword }
          const headers = { 'user-agent': 'Another/1', 'x-forwarded-for': '198.51.100.7' }
          await scene.post(path, { body, headers })
          const at = { headers: { 'x-forwarded-for': '198.51.100.8' } }
          return { subject: who, perform: () => scene.post(path, { body, ...at }) }
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
          told('login.failed', null, { userId: null, method, reason: 'invalid_credentials' }),
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
        name: 'the guess that uses the budget of an address without an account up',
        outcome: '401 invalid_credentials',
        options: { settings: { lockoutThreshold: 3 } },
        tells: () => [
          told('login.lockedOut', null, { userId: null }),
          told('login.failed', null, { userId: null }),
        ],
        prepare: async (scene) => {
          for (let count = 1; count < 3; count += 1) await attempt(scene, 'no@example.org', wrong)
          return { perform: () => attempt(scene, 'no@example.org', wrong) }
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
  },
)

const method = 'email_code'

export const codeScenarios: readonly Scenario[] = [
  {
    of: 'loginCode',
    name: 'a mailed code asked for',
    outcome: '202',
    tells: () => [],
    prepare: async ({ host, surface }) => {
      const who = await person(host, surface)
      return { subject: who, perform: () => askForCode(host, surface, who.email) }
    },
  },
  {
    of: 'loginCodeVerify',
    name: 'the mailed code',
    outcome: '200',
    tells: ({ id }) => [
      told('login.succeeded', 'success', { userId: id, method, mfaMethod: null, amr: ['otp'] }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await person(host, surface)
      const { code, cookie } = await mailedCodeFor(host, surface, who.email)
      return { subject: who, perform: () => showCode(host, surface, code, { cookie }) }
    },
  },
  {
    of: 'loginCodeVerify',
    name: 'a wrong code',
    outcome: '401 invalid_credentials',
    tells: ({ id }) => [
      told('login.failed', 'failure', { userId: id, method, reason: 'invalid_credentials' }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await person(host, surface)
      const asked = await mailedCodeFor(host, surface, who.email)
      const guess = wrongCodeFor(asked.code)
      return { subject: who, perform: () => showCode(host, surface, guess, asked) }
    },
  },
]
