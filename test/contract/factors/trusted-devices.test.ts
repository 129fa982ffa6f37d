import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import {
  eventsOf,
  mailedToken,
  openHost,
  storedIn,
  surfaces,
} from '../../support/hosts/open-host.js'
import { enrolled, finish, requireStepUp, ticketOf } from '../../support/people/authenticator.js'
import { otherPassword, type Person } from '../../support/people/people.js'
import {
  comesTo,
  deviceLogin,
  devicesIn,
  deviceTokenOf,
  doors,
  finishTrusting,
  type Trusting,
  trusting,
  trustingPerson,
} from '../../support/people/trusted-device.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { pass } from '../events/event-scenario.js'
import { type SettingsHost, settingsHost } from '../settings/settings-host.js'

const hour = 3_600_000
const day = 24 * hour
const other = (surface: Surface): Surface => (surface === 'operator' ? 'client' : 'operator')

type Lead<T> = (host: SettingsHost, surface: Surface, who: Trusting) => Promise<T>

interface Case {
  readonly what: string
  /** Leads up to the login. */
  readonly before?: Lead<unknown>
  /** As `before`; what the login is tried with in place of the person's own. */
  readonly trying?: Lead<Partial<Pick<Trusting, 'email' | 'password' | 'deviceToken'>>>
  readonly comesTo: string
}

const toggle = (surface: Surface, enabled: boolean) =>
  surface === 'operator'
    ? { trustedDeviceOperatorEnabled: `${enabled}` }
    : { trustedDeviceClientEnabled: `${enabled}` }

async function provedAgain(host: ContractHost, surface: Surface, who: Trusting): Promise<string> {
  const mfaToken = await ticketOf(host, surface, who)
  return textOf((await finish(host, surface, mfaToken, await who.nextCode())).json(), 'accessToken')
}

async function changePassword(
  host: ContractHost,
  surface: Surface,
  who: Person & { bearer: string },
) {
  const body = { currentPassword: who.password, newPassword: otherPassword }
  const reply = await host.send('POST', `/v1/auth/${surface}/me/password`, {
    bearer: who.bearer,
    body,
  })
  expect(reply.status, reply.text).toBe(204)
  return { password: otherPassword }
}

const cases: readonly Case[] = [
  {
    what: 'another user of the same device',
    trying: async (host, surface) => {
      const { email, password } = await trustingPerson(host, surface)
      return { email, password }
    },
    comesTo: 'mfaRequired',
  },
  {
    what: 'the last millisecond of trust',
    before: (host) => pass(host, 30 * day - 1),
    comesTo: 'authenticated',
  },
  {
    what: 'trust that is over',
    before: (host) => pass(host, 30 * day),
    comesTo: 'mfaRequired',
  },
  {
    what: 'trust that was revoked',
    before: async (host, surface, who) => {
      const id = who.deviceToken.split('.')[0]
      const path = `/v1/auth/${surface}/devices/${id}`
      const reply = await host.send('DELETE', path, { bearer: who.trustedBearer })
      expect(reply.status).toBe(204)
    },
    comesTo: 'mfaRequired',
  },
  { what: 'a changed password', trying: changePassword, comesTo: 'mfaRequired' },
  {
    what: 'a password that was reset',
    trying: async (host, surface, { email }) => {
      await host.send('POST', `/v1/auth/${surface}/password/forgot`, { body: { email } })
      const token = await mailedToken(host, 'resetPassword', email)
      const body = { token, newPassword: otherPassword }
      const reply = await host.send('POST', `/v1/auth/${surface}/password/reset`, { body })
      expect(reply.status, reply.text).toBe(204)
      return { password: otherPassword }
    },
    comesTo: 'mfaRequired',
  },
  {
    what: 'factors that changed',
    before: async (host, surface, who) => {
      const bearer = await provedAgain(host, surface, who)
      const reply = await host.send('POST', `/v1/auth/${surface}/mfa/backup-codes`, { bearer })
      expect(reply.status, reply.text).toBe(201)
    },
    comesTo: 'mfaRequired',
  },
  {
    what: 'an account that was disabled and enabled',
    before: async (host, surface, { id }) => {
      await host.auth[surface].users.update(id, { enabled: false })
      await host.auth[surface].users.update(id, { enabled: true })
    },
    comesTo: 'mfaRequired',
  },
  {
    what: 'all sessions ended by the host',
    before: async (host, surface, { id }) => host.auth[surface].terminateSessionsOf(id),
    comesTo: 'mfaRequired',
  },
  {
    what: 'a sign-out everywhere',
    before: async (host, surface, { trustedBearer: bearer }) => {
      const path = `/v1/auth/${surface}/logout`
      await host.send('POST', path, { bearer, body: { everywhere: true } })
    },
    comesTo: 'mfaRequired',
  },
  {
    what: 'a sign-out, which leaves the device alone',
    before: async (host, surface, { trustedBearer: bearer }) => {
      const reply = await host.send('POST', `/v1/auth/${surface}/logout`, { bearer })
      const start = surface === 'operator' ? '__Host-op_' : '__Host-cl_'
      expect(reply.setCookies.map((line) => line.split('=')[0])).toEqual([
        `${start}refresh`,
        `${start}signed_in`,
      ])
    },
    comesTo: 'authenticated',
  },
  {
    what: 'the setting switched off',
    before: async (host, surface) => setTrust(host, surface, false),
    comesTo: 'mfaRequired',
  },
  {
    what: 'the setting switched off and on',
    before: async (host, surface) => {
      await setTrust(host, surface, false)
      await setTrust(host, surface, true)
    },
    comesTo: 'authenticated',
  },
  {
    what: 'a setting that is shorter now',
    before: async (host) => {
      await pass(host, 2 * day)
      await host.set({ config: { trustedDeviceTTL: '1d' } })
    },
    comesTo: 'mfaRequired',
  },
  {
    what: 'a secret that is not the device’s',
    trying: async (_host, _surface, { deviceToken }) => {
      const last = deviceToken.endsWith('A') ? 'B' : 'A'
      return { deviceToken: deviceToken.slice(0, -1) + last }
    },
    comesTo: 'mfaRequired',
  },
  {
    what: 'the secret of another device of the same person',
    trying: async (host, surface, who) => {
      const mfaToken = await ticketOf(host, surface, who, who.door)
      const second = await finishTrusting(host, surface, mfaToken, await who.nextCode())
      const [id] = who.deviceToken.split('.')
      const token = JSON.stringify([second.text, second.setCookies])
      const secret = /[0-9a-f-]{36}\.([\w-]{43})/.exec(token)?.[1]
      return { deviceToken: `${id}.${secret}` }
    },
    comesTo: 'mfaRequired',
  },
  {
    what: 'text that is no token',
    trying: async () => ({ deviceToken: 'x' }),
    comesTo: 'mfaRequired',
  },
  {
    what: 'a grant of the future',
    before: async (host, surface, { id }) => {
      const { trustedDevices } = storedIn(host, surface)
      const [device] = await trustedDevices.find({ userId: id }, { limit: 1 })
      const createdAt = host.clock.now() + 1
      await trustedDevices.update(device?.id ?? '', { userId: id }, { createdAt })
    },
    comesTo: 'mfaRequired',
  },
  {
    what: 'a password too old, which a device alone does not replace',
    before: async (host) => {
      await host.set({ config: { passwordMaxAge: '1d' } })
      await pass(host, 2 * day)
    },
    comesTo: 'mfaRequired',
  },
]

const setTrust = (host: SettingsHost, surface: Surface, enabled: boolean) =>
  host.set({ config: toggle(surface, enabled) })

it('a grant of one surface is worth nothing on the other, for the same address', async () => {
  for (const door of doors) {
    const host = await openHost(trusting)
    const people = {
      operator: await trustingPerson(host, 'operator', door),
      client: await trustingPerson(host, 'client', door),
    }
    const { email } = people.operator
    await storedIn(host, 'client').users.update(people.client.id, { kind: '' }, { email })
    for (const surface of surfaces) {
      const { password, deviceToken } = people[surface]
      const login = async (token: string) =>
        comesTo(await deviceLogin(host, surface, { email, password }, token, door))
      expect(await login(people[other(surface)].deviceToken)).toBe('mfaRequired')
      expect(await login(deviceToken)).toBe('authenticated')
    }
  }
})

eachSurface.describe('a login from a trusted device', (surface) => {
  describe.each(doors)('at /%s', (door) => {
    it.each(cases.map((one) => [one.what, one.comesTo, one] as const))(
      '%s: %s',
      async (_what, expected, { before, trying }) => {
        const host = await settingsHost(trusting)
        const who = await trustingPerson(host, surface, door)
        await before?.(host, surface, who)
        const shown = { ...who, ...(await trying?.(host, surface, who)) }
        const reply = await deviceLogin(host, surface, shown, shown.deviceToken, door)
        expect(comesTo(reply)).toBe(expected)
      },
    )

    it('takes the place of the second factor alone: the password is asked for as ever', async () => {
      const host = await openHost(trusting)
      const { email, password, deviceToken } = await trustingPerson(host, surface, door)
      const login = async (given: object) =>
        comesTo(await deviceLogin(host, surface, { email, ...given }, deviceToken, door))
      expect(await login({ password: otherPassword })).toBe('401 invalid_credentials')
      expect(await login({})).toBe('400 invalid_request')
      expect(await login({ password: '' })).toBe('400 invalid_request')
      expect(await login({ password })).toBe('authenticated')
      const without = await deviceLogin(host, surface, { email, password }, 'none', door)
      expect(comesTo(without)).toBe('mfaRequired')
    })

    it('is a login by one factor: it says so, and proves nothing', async () => {
      const host = await openHost(trusting)
      const who = await trustingPerson(host, surface, door)
      const reply = await deviceLogin(host, surface, who, who.deviceToken, door)
      const bearer = textOf(reply.json(), 'accessToken')
      const claims = decodeJwt(bearer)
      expect(claims['amr']).toEqual(['pwd'])
      const deviceId = who.deviceToken.split('.')[0]
      const stored = await storedIn(host, surface).sessions.get(String(claims['sid']))
      expect(stored).toMatchObject({ loginMethod: 'password', mfaMethod: null, deviceId })
      expect(eventsOf(host, 'login.succeeded').at(-1)).toMatchObject({ deviceId })
      const status = await host.send('GET', `/v1/auth/${surface}/mfa`, { bearer })
      expect(status.json()['stepUp']).toEqual({ provedAt: null })
      await expect(requireStepUp(host, surface, bearer)).rejects.toMatchObject({
        code: 'step_up_required',
      })
      // The login it was trusted with did prove one.
      await requireStepUp(host, surface, who.trustedBearer)
      const own = await host.send('POST', `/v1/auth/${surface}/devices`, { bearer })
      expect(comesTo(own)).toBe('403 step_up_required')
    })

    it('two logins from it at once are two logins', async () => {
      const host = await openHost(trusting)
      const who = await trustingPerson(host, surface, door)
      const login = () => deviceLogin(host, surface, who, who.deviceToken, door)
      const replies = await Promise.all([login(), login()])
      expect(replies.map(comesTo)).toEqual(['authenticated', 'authenticated'])
    })

    it('a device is trusted where the setting says so, and no code is spent otherwise', async () => {
      const host = await openHost({
        settings: { trustedDeviceOperatorEnabled: false, trustedDeviceClientEnabled: false },
      })
      const who = await enrolled(host, surface)
      const mfaToken = await ticketOf(host, surface, who, door)
      const code = await who.nextCode()
      const refused = await finishTrusting(host, surface, mfaToken, code)
      expect(comesTo(refused)).toBe('403 mfa_method_disabled')
      const done = await finishTrusting(host, surface, mfaToken, code, { trustDevice: false })
      expect(comesTo(done)).toBe('authenticated')
      expect(done.setCookies.join()).not.toContain('_device')
      expect(done.json()['deviceToken']).toBeUndefined()
      expect(await devicesIn(host, surface, who.id)).toEqual([])
    })

    it('a login that is not finished leaves nothing to skip with', async () => {
      const host = await openHost(trusting)
      const who = await enrolled(host, surface)
      const mfaToken = await ticketOf(host, surface, who, door)
      const wrong = await finishTrusting(host, surface, mfaToken, '000000')
      expect([comesTo(wrong), wrong.setCookies]).toEqual(['401 invalid_mfa_code', []])
      expect(await devicesIn(host, surface, who.id)).toEqual([])
    })
  })

  it('its cookie lasts as long as the trust, beside that of the session', async () => {
    const host = await openHost(trusting)
    const who = await enrolled(host, surface)
    const mfaToken = await ticketOf(host, surface, who)
    const reply = await finishTrusting(host, surface, mfaToken, await who.nextCode())
    const short = surface === 'operator' ? 'op' : 'cl'
    expect(reply.setCookies).toEqual([
      expect.stringMatching(new RegExp(`^__Host-${short}_refresh=[\\w.-]+; Max-Age=604800; `)),
      expect.stringMatching(
        new RegExp(
          `^__Host-${short}_device=[0-9a-f-]{36}\\.[\\w-]{43}; Max-Age=2592000; Path=/; HttpOnly; SameSite=Lax; Secure$`,
        ),
      ),
      expect.stringMatching(new RegExp(`^__Host-${short}_recognition=`)),
      `__Host-${short}_signed_in=1; Max-Age=604800; Path=/; SameSite=Lax; Secure`,
    ])
    expect(reply.text).not.toContain(deviceTokenOf(reply, surface, 'login'))
  })

  it('keeps only the hash of its secret', async () => {
    const host = await openHost(trusting)
    const who = await trustingPerson(host, surface)
    const [id = '', secret = ''] = who.deviceToken.split('.')
    const [stored, ...more] = await devicesIn(host, surface, who.id)
    expect([stored?.id, more]).toEqual([id, []])
    expect(JSON.stringify(stored)).not.toContain(secret)
  })

  it('notes its use once an hour', async () => {
    const host = await openHost(trusting)
    const who = await trustingPerson(host, surface)
    const usedAt = async () => {
      const reply = await deviceLogin(host, surface, who, who.deviceToken, 'login')
      expect(comesTo(reply)).toBe('authenticated')
      return (await devicesIn(host, surface, who.id))[0]?.lastUsedAt
    }
    const first = host.clock.now()
    expect(await usedAt()).toBe(first)
    await pass(host, hour - 1)
    expect(await usedAt()).toBe(first)
    await pass(host, 1)
    expect(await usedAt()).toBe(first + hour)
  })

  it('a login under way does not outlive the trust it rests on', async () => {
    const store = faultyBackend(memory())
    const host = await openHost({ ...trusting, backend: store.backend })
    const who = await trustingPerson(host, surface)
    await pass(host, 1)
    // The password is right and the device known; then a factor is taken away from the account.
    store.onCall(`${surface}_sessions.insert`, async () => {
      const { users } = storedIn(host, surface)
      const user = await users.get(who.id)
      await users.update(who.id, { enabled: true }, { deviceEpoch: (user?.deviceEpoch ?? 0) + 1 })
    })
    const reply = await deviceLogin(host, surface, who, who.deviceToken, 'login')
    expect(comesTo(reply)).toBe('401 invalid_credentials')
    const [newest] = await storedIn(host, surface).sessions.find(
      { userId: who.id },
      { limit: 1, newestFirst: true },
    )
    expect(newest?.active).toBe(false)
  })

  it('a grant revoked while a login looks at it lets nobody in', async () => {
    const store = faultyBackend(memory())
    const host = await openHost({ ...trusting, backend: store.backend })
    const who = await trustingPerson(host, surface)
    store.onCall(`${surface}_trusted_devices.update`, async () => {
      const id = who.deviceToken.split('.')[0] ?? ''
      expect(await storedIn(host, surface).trustedDevices.take(id)).not.toBeNull()
    })
    const reply = await deviceLogin(host, surface, who, who.deviceToken, 'login')
    expect(comesTo(reply)).toBe('mfaRequired')
  })

  it('a device that could not be kept fails no login', async () => {
    const store = faultyBackend(memory())
    const host = await openHost({ ...trusting, backend: store.backend })
    const who = await enrolled(host, surface)
    const mfaToken = await ticketOf(host, surface, who)
    const code = await who.nextCode()
    store.failNext(`${surface}_trusted_devices.insert`, 'before')
    const reply = await finishTrusting(host, surface, mfaToken, code)
    expect(comesTo(reply)).toBe('authenticated')
    expect(reply.setCookies.join()).not.toContain('_device')
    expect(host.logger.lines.map(({ message }) => message)).toContain(
      'a login left no trusted device',
    )
  })

  it('where the policy requires a factor, a device replaces none that is missing', async () => {
    const host = await settingsHost(trusting)
    const who = await trustingPerson(host, surface)
    const policy = surface === 'operator' ? 'mfaPolicyOperator' : 'mfaPolicyClient'
    await host.set({ config: { [policy]: 'required' } })
    const login = () => deviceLogin(host, surface, who, who.deviceToken, 'login')
    expect(comesTo(await login())).toBe('authenticated')
    await storedIn(host, surface).totpFactors.take(who.id)
    expect(comesTo(await login())).toBe('mfaEnrollmentRequired')
  })
})
