import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, outcomeOf } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { signedInPerson } from '../../support/people/people.js'
import {
  comesTo,
  deviceCookieOf,
  deviceLogin,
  devicesIn,
  type Trusting,
  trusting,
  trustingPerson,
} from '../../support/people/trusted-device.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { sessionOf } from '../events/event-scenario.js'
import { settingsHost } from '../settings/settings-host.js'

eachSurface.describe('own devices', (surface) => {
  const base = `/v1/auth/${surface}/devices`
  const cookieName = surface === 'operator' ? '__Host-op_device' : '__Host-cl_device'
  const idOf = ({ deviceToken }: Pick<Trusting, 'deviceToken'>) => deviceToken.split('.')[0] ?? ''
  const listOf = async (host: ContractHost, bearer: string, cookie?: string) => {
    const given = { bearer, ...(cookie === undefined ? {} : { cookie }) }
    const reply = await host.send('GET', base, given)
    expect(reply.status, reply.text).toBe(200)
    return reply.json()['items']
  }

  it('trusts the one at hand, with a cookie that works from the next login on', async () => {
    const host = await openHost(trusting)
    const who = await trustingPerson(host, surface)
    const { trustedBearer: bearer } = who
    const reply = await host.send('POST', base, { bearer, body: { name: 'the laptop' } })
    expect(reply.status).toBe(201)
    expect(reply.json()).toEqual({
      deviceId: expect.any(String),
      name: 'the laptop',
      expiresAt: new Date(host.clock.now() + 30 * 86_400_000).toISOString(),
    })
    const [name, token = ''] = deviceCookieOf(reply, surface).split('=')
    expect([name, reply.setCookies.length]).toEqual([cookieName, 1])
    expect(comesTo(await deviceLogin(host, surface, who, token, 'login'))).toBe('authenticated')
  })

  it('trusts nothing where the session ends just before the device is stored', async () => {
    const faulty = faultyBackend(memory())
    const host = await openHost({ ...trusting, backend: faulty.backend })
    const who = await trustingPerson(host, surface)
    const { trustedBearer: bearer } = who
    const before = await devicesIn(host, surface, who.id)
    faulty.onCall(`${surface}_trusted_devices.insert`, async () => {
      await host.auth[surface].terminateSession(sessionOf(bearer))
    })
    const reply = await host.send('POST', base, { bearer, body: { name: 'the laptop of a thief' } })
    expect([outcomeOf(reply), reply.setCookies]).toEqual(['401 session_revoked', []])
    expect(await devicesIn(host, surface, who.id)).toEqual(before)
  })

  it('gives an app its token in the body, and no cookie', async () => {
    const host = await openHost(trusting)
    const who = await trustingPerson(host, surface)
    await host.clock.advance(1)
    const headers = { 'x-token-delivery': 'body' }
    const reply = await host.send('POST', base, { bearer: who.trustedBearer, headers })
    expect([reply.status, reply.setCookies]).toEqual([201, []])
    const token = textOf(reply.json(), 'deviceToken')
    const login = await deviceLogin(host, surface, who, token, 'mobile/login')
    expect(comesTo(login)).toBe('authenticated')
    // The session is of that device, as the list says without a cookie.
    const items = await listOf(host, textOf(login.json(), 'accessToken'))
    expect(items).toMatchObject([
      { deviceId: token.split('.')[0], current: true },
      { deviceId: idOf(who), current: false },
    ])
  })

  it('wants a second factor shown in this session', async () => {
    const host = await openHost(trusting)
    const plain = await signedInPerson(host, surface)
    const refused = await host.send('POST', base, { bearer: plain.bearer })
    expect(comesTo(refused)).toBe('403 mfa_enrollment_required')
    expect(refused.setCookies).toEqual([])
  })

  it('trusts nothing where the setting says no', async () => {
    const host = await settingsHost(trusting)
    const who = await trustingPerson(host, surface)
    const off = { trustedDeviceOperatorEnabled: 'false', trustedDeviceClientEnabled: 'false' }
    await host.set({ config: off })
    const reply = await host.send('POST', base, { bearer: who.trustedBearer })
    expect([comesTo(reply), reply.setCookies]).toEqual(['403 mfa_method_disabled', []])
    // What was trusted before can still be looked at and forgotten.
    const { trustedBearer: bearer } = who
    expect(await listOf(host, bearer)).toMatchObject([{ deviceId: idOf(who) }])
    const gone = await host.send('DELETE', `${base}/${idOf(who)}`, { bearer })
    expect(gone.status).toBe(204)
  })

  it('lists what is trusted, newest first, and never a secret', async () => {
    const host = await openHost(trusting)
    const who = await trustingPerson(host, surface)
    const { trustedBearer: bearer } = who
    await host.clock.advance(1)
    const second = await host.send('POST', base, { bearer, body: { name: 'phone' } })
    const secondId = textOf(second.json(), 'deviceId')
    const at = host.clock.now()
    const iso = (ms: number): string => new Date(ms).toISOString()
    await deviceLogin(host, surface, who, who.deviceToken, 'login')
    const month = 30 * 86_400_000
    expect(await listOf(host, bearer, `${cookieName}=${who.deviceToken}`)).toEqual([
      {
        deviceId: secondId,
        name: 'phone',
        createdAt: iso(at),
        lastUsedAt: null,
        expiresAt: iso(at + month),
        current: false,
      },
      {
        deviceId: idOf(who),
        name: '',
        createdAt: iso(at - 1),
        lastUsedAt: iso(at),
        expiresAt: iso(at - 1 + month),
        current: true,
      },
    ])
    const { bearer: elsewhere } = await signedInPerson(host, surface)
    expect(await listOf(host, elsewhere)).toEqual([])
  })

  it('forgets a device of the user, once, and none of another user', async () => {
    const host = await openHost(trusting)
    const who = await trustingPerson(host, surface)
    const stranger = await signedInPerson(host, surface)
    const remove = (bearer: string, id = idOf(who), cookie?: string) =>
      host.send('DELETE', `${base}/${id}`, { bearer, ...(cookie ? { cookie } : {}) })
    expect(comesTo(await remove(stranger.bearer))).toBe('404 device_not_found')
    for (const id of ['x', '%00', 'a'.repeat(5000), idOf(who).toUpperCase()]) {
      expect(comesTo(await remove(who.trustedBearer, id))).toBe('404 device_not_found')
    }
    expect(await devicesIn(host, surface, who.id)).toHaveLength(1)
    const own = `${cookieName}=${who.deviceToken}`
    const done = await remove(who.trustedBearer, idOf(who), own)
    expect(done.status).toBe(204)
    expect(done.setCookies).toEqual([expect.stringMatching(`^${cookieName}=; Max-Age=0; `)])
    expect(comesTo(await remove(who.trustedBearer))).toBe('404 device_not_found')
    expect(eventsOf(host, 'device.revoked')).toHaveLength(1)
  })

  it('forgets the oldest of more than twenty', async () => {
    const settings = { ...withoutLimits.settings, ...trusting.settings }
    const host = await openHost({ ...withoutLimits, ...trusting, settings })
    const who = await trustingPerson(host, surface)
    const { trustedBearer: bearer } = who
    for (let count = 0; count < 20; count += 1) {
      await host.clock.advance(1)
      expect((await host.send('POST', base, { bearer })).status).toBe(201)
    }
    const left = await devicesIn(host, surface, who.id)
    expect(left).toHaveLength(20)
    expect(left.map(({ id }) => id)).not.toContain(idOf(who))
    expect(comesTo(await deviceLogin(host, surface, who, who.deviceToken, 'login'))).toBe(
      'mfaRequired',
    )
  })
})

eachHost.describe('two cookies in one reply', (kind) => {
  it('reach the browser as two', async () => {
    const host = await openHost(trusting, kind)
    const who = await trustingPerson(host, 'client')
    expect(comesTo(await deviceLogin(host, 'client', who, who.deviceToken, 'login'))).toBe(
      'authenticated',
    )
  })
})
