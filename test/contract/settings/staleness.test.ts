import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { moduleCollectionsOf } from '../../../src/model/configuration.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import {
  goodPassword,
  otherPassword,
  type Person,
  person,
  signIn,
  signInApp,
} from '../../support/people/people.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { type SettingsHost, settingsHost } from './settings-host.js'

const second = 1000

/** Another process over the same database, whose clock agrees. */
function replicaOf(host: ContractHost, options: HostOptions = {}): Promise<ContractHost> {
  return openHost({ ...withoutLimits, ...options, backend: host.backend, clock: host.clock })
}

async function loginOutcome(host: ContractHost, who: Person): Promise<string> {
  const { email, password } = who
  return outcomeOf(await host.send('POST', '/v1/auth/client/login', { body: { email, password } }))
}

const withoutPasswords = {
  passwordLoginClientEnabled: 'false',
  googleClientEnabled: 'true',
  googleClientId: 'id',
  googleClientSecret: 'planted-google',
}

describe('a change made by another replica', () => {
  it('a login method that was switched off is off everywhere after 30 s, not sooner', async () => {
    const host = await settingsHost()
    const who = await person(host, 'client')
    await host.clock.advance(30 * second)
    const replica = await replicaOf(host)
    await host.clock.advance(10 * second)
    await host.set({ config: withoutPasswords })
    expect(await loginOutcome(host, who)).toBe('403 password_login_disabled')
    // Readings meanwhile do not extend it.
    for (const wait of [0, 10 * second, 9 * second, second - 1]) {
      await host.clock.advance(wait)
      expect(await loginOutcome(replica, who)).toBe('200')
    }
    await host.clock.advance(1)
    expect(await loginOutcome(replica, who)).toBe('403 password_login_disabled')
  })

  it('an environment that became active is in force there after 30 s', async () => {
    const host = await settingsHost()
    await host.patch({ config: { registrationClientEnabled: 'false' } }, 'sandbox')
    const replica = await replicaOf(host)
    expect((await host.activate('sandbox')).status).toBe(200)
    const register = async (at: ContractHost, email: string) => {
      const body = { email, password: goodPassword }
      return outcomeOf(await at.send('POST', '/v1/auth/client/register', { body }))
    }
    expect(await register(host, 'a@example.org')).toBe('403 registration_disabled')
    expect(await register(replica, 'b@example.org')).toBe('201')
    await host.clock.advance(30 * second)
    expect(await register(replica, 'c@example.org')).toBe('403 registration_disabled')
  })
})

describe('first values', () => {
  it('what createAuth was given never overrides what is stored', async () => {
    const host = await settingsHost({ settings: { passwordMinLength: 20 } })
    const register = async (at: ContractHost, email: string) => {
      const body = { email, password: 'nineteen characters' }
      return outcomeOf(await at.send('POST', '/v1/auth/client/register', { body }))
    }
    expect(await register(host, 'a@example.org')).toBe('422 password_policy')
    await host.set({ config: { passwordMinLength: '19' } })
    const replica = await replicaOf(host, { settings: { passwordMinLength: 64 } })
    expect(await register(replica, 'b@example.org')).toBe('201')
    await host.set({ config: { passwordMinLength: '' } })
    const later = await replicaOf(host, { settings: { passwordMinLength: 64 } })
    expect(await register(later, 'c@example.org')).toBe('201')
  })
})

eachSurface.describe('while the settings cannot be read', (surface) => {
  const enforcement = '503 session_enforcement_unavailable'
  const unavailable = '503 service_unavailable'

  async function outage() {
    const store = faultyBackend(memory())
    const host = await openHost({ ...withoutLimits, backend: store.backend })
    const who = await person(host, surface)
    const session = await signIn(host, surface, who)
    const { bearer, cookie, refreshToken } = session
    const { email, password } = who
    const post = (path: string, body: object, rest: object = {}) =>
      host.send('POST', `/v1/auth/${surface}${path}`, { body, ...rest })
    const doors: Readonly<Record<string, readonly [() => Promise<string>, string]>> = {
      login: [async () => outcomeOf(await post('/login', { email, password })), unavailable],
      mobile: [
        async () => outcomeOf(await post('/mobile/login', { email, password })),
        unavailable,
      ],
      register: [
        async () => outcomeOf(await post('/register', { email: 'new@example.org', password })),
        unavailable,
      ],
      forgot: [async () => outcomeOf(await post('/password/forgot', { email })), unavailable],
      resend: [async () => outcomeOf(await post('/email/verify/resend', { email })), unavailable],
      reset: [
        async () =>
          outcomeOf(
            await post('/password/reset', { token: 'x'.repeat(43), newPassword: password }),
          ),
        unavailable,
      ],
      change: [
        async () => {
          const body = { currentPassword: password, newPassword: otherPassword }
          return outcomeOf(await post('/me/password', body, { bearer }))
        },
        unavailable,
      ],
      refresh: [async () => outcomeOf(await post('/refresh', { refreshToken })), enforcement],
      'refresh-cookie': [
        async () => {
          const path = `/v1/auth/${surface}/refresh-cookie`
          return outcomeOf(await host.send('POST', path, { cookie }))
        },
        enforcement,
      ],
      session: [
        async () => outcomeOf(await host.send('GET', `/v1/auth/${surface}/session`, { cookie })),
        enforcement,
      ],
    }
    return { store, host, who, session, doors, post }
  }

  it('everything that needs them is 503, and nothing has happened', async () => {
    const { store, host, who, doors } = await outage()
    await host.clock.advance(30 * second - 1)
    store.failNext('operator_modules.get', 'before', Infinity)
    // They are known still.
    expect(await loginOutcome(host, who)).toBe(
      surface === 'client' ? '200' : '401 invalid_credentials',
    )
    await host.clock.advance(1)
    await host.auth.close()
    host.mailer.clear()
    const events = host.events.length
    for (const [name, [knock, outcome]] of Object.entries(doors)) {
      const before = store.calls.length
      expect([name, await knock()]).toEqual([name, outcome])
      await host.auth.close()
      const made = new Set(store.calls.slice(before))
      expect([name, [...made]]).toEqual([name, ['operator_modules.get']])
    }
    expect(host.events.slice(events).filter(({ type }) => type !== 'request.refused')).toEqual([])
    expect(host.mailer.sent).toEqual([])
  })

  it('the next request after it is answered, by the token nothing was done with', async () => {
    const { store, host, who, post } = await outage()
    const { refreshToken } = await signInApp(host, surface, who)
    await host.clock.advance(30 * second)
    store.failNext('operator_module_environments.get', 'before', Infinity)
    const refused = await post('/refresh', { refreshToken })
    expectProblem(refused, 503, 'session_enforcement_unavailable')
    expect(refused.setCookies).toEqual([])
    store.heal()
    const answered = await post('/refresh', { refreshToken })
    expect([answered.status, answered.headers.get('x-refresh-outcome')]).toEqual([200, 'rotated'])
  })

  it('a cap that was set is never forgotten for its default', async () => {
    const store = faultyBackend(memory())
    const settings = { sessionAbsoluteTTL: '1h' }
    const host = await openHost({ ...withoutLimits, backend: store.backend, settings })
    const { refreshToken } = await signInApp(host, surface, await person(host, surface))
    await host.clock.advance(3_600 * second + 1)
    store.failNext('operator_modules.get', 'before', 2)
    const ask = async () => {
      const body = { refreshToken }
      return outcomeOf(await host.send('POST', `/v1/auth/${surface}/refresh`, { body }))
    }
    expect([await ask(), await ask(), await ask()]).toEqual([
      enforcement,
      enforcement,
      '401 session_max_age_reached',
    ])
  })
})

describe('what is stored and cannot be used', () => {
  async function damage(host: SettingsHost, values: Readonly<Record<string, string>>) {
    const { environments } = moduleCollectionsOf(host.backend.store, '')
    const seen = await environments.get('auth/production')
    if (seen === null) throw new Error('no settings')
    const next = { values: { ...seen.values, ...values }, revision: seen.revision + 1 }
    await environments.update(seen.id, { revision: seen.revision }, next)
    await host.clock.advance(30 * second)
  }

  it('is told once a revision, and the nearest value is in force', async () => {
    const host = await settingsHost()
    const who = await person(host, 'client')
    const told = () =>
      host.logger.lines.filter(({ message }) => message.includes('"lockoutThreshold"')).length
    for (const revision of [1, 2]) {
      await damage(host, { lockoutThreshold: '1' })
      for (let minute = 0; minute < 3; minute += 1) {
        expect(await loginOutcome(host, who)).toBe('200')
        await host.clock.advance(60 * second)
      }
      expect(told()).toBe(revision)
    }
  })

  it('a secret that does not decrypt stands in the way of nothing else, and is told', async () => {
    const host = await settingsHost()
    await host.set({
      recordLists: [{ field: 'securityWebhooks', create: ['siem'], remove: [] }],
      config: {
        'securityWebhooks.siem.url': 'https://siem.example/in',
        'securityWebhooks.siem.signingSecret': 'planted-whsec-5c1f-of-32-characters-or-more',
        'securityWebhooks.siem.events': 'all',
      },
    })
    await damage(host, { 'securityWebhooks.siem.signingSecret': 'gcm.test.AAAA' })
    expect(await loginOutcome(host, await person(host, 'client'))).toBe('200')
    await host.auth.close()
    // Neither unsigned nor signed with something else.
    expect(host.endpoints.received).toEqual([])
    const key = '"securityWebhooks.siem.signingSecret" cannot be decrypted'
    expect(host.logger.lines.filter(({ message }) => message.includes(key))).toHaveLength(1)
  })
})
