import { generateSync } from 'otplib'
import { describe, expect, it } from 'vitest'
import { createMobileClient, type TokenStorage } from '../../src/client/mobile.js'
import {
  alarms,
  baseUrl,
  credentials,
  due,
  keptOf,
  rotations,
  signedIn,
  simulatedDevice,
  usedTooEarly,
} from './simulated-device.js'

const minute = 60_000

const codeAt = (secret: string, ms: number) =>
  generateSync({ secret, epoch: Math.floor(ms / 1000) })

describe('a session of an app', () => {
  it('begins with a login, whose tokens are written before they are used', async () => {
    const device = await simulatedDevice()
    const { client, steps } = device.launch()
    await device.during(client.call('POST /mobile/login', credentials))
    expect(client.get()).toMatchObject({ status: 'signedIn', user: { email: credentials.email } })
    expect(steps()).toContain('after write')
    const [, refreshToken] = [...device.pairs][0] ?? []
    expect(keptOf(device)).toMatchObject({ v: 1, refreshToken })
    expect(device.stored()).not.toContain([...device.pairs.keys()][0])
    expect(await device.during(client.call('GET /me'))).toMatchObject({ email: credentials.email })
    expect(device.odd).toEqual([])
  })

  it('goes on in the next process, by one rotation and GET /me', async () => {
    const device = await simulatedDevice()
    await signedIn(device)
    const { client } = device.launch()
    expect(client.get()).toEqual({ status: 'loading' })
    const states = await device.during(Promise.all([client.restore(), client.restore()]))
    expect(states[0]).toMatchObject({ status: 'signedIn', user: { email: credentials.email } })
    expect(Object.keys(Object(states[0]).user).sort()).toEqual(
      ['email', 'emailVerified', 'id', 'name'].sort(),
    )
    expect([rotations(device), device.refreshes.length, device.used.length]).toEqual([1, 1, 1])
    await device.during(client.restore())
    expect(device.refreshes).toHaveLength(1)
  })

  it('is none where nothing is in storage, without a request', async () => {
    const device = await simulatedDevice()
    const { client, steps } = device.launch()
    expect(await client.restore()).toEqual({ status: 'signedOut', reason: null })
    expect(steps().filter((step) => step.includes('fetch'))).toEqual([])
  })

  it('is renewed by one rotation for all calls, which write before they send', async () => {
    const { device, client } = await due()
    const calls = [client.call('GET /me'), client.call('GET /mfa'), client.authFetch('/orders')]
    await device.during(Promise.all(calls))
    expect([rotations(device), device.refreshes.length]).toEqual([1, 1])
    expect(device.used).toHaveLength(3)
    expect(usedTooEarly(device)).toEqual([])
  })

  it('goes on for five weeks without a cap, used once a day', async () => {
    const device = await simulatedDevice({ sessionAbsoluteTTL: '' })
    const { client } = await signedIn(device)
    for (let day = 0; day < 35; day += 1) {
      await device.clock.advance(24 * 60 * minute)
      await device.during(client.authFetch('/orders'))
    }
    expect(client.get().status).toBe('signedIn')
    expect(rotations(device)).toBe(35)
    expect(usedTooEarly(device)).toEqual([])
  })

  it('is signed out with its reason, and its token is no longer in storage', async () => {
    const { device, client } = await due()
    const { user } = Object(client.get())
    await device.auth.client.terminateSessionsOf(user.id)
    await expect(device.during(client.call('GET /me'))).rejects.toMatchObject({
      code: 'session_revoked',
    })
    expect(client.get()).toEqual({ status: 'signedOut', reason: 'session_revoked' })
    await device.advance(20)
    expect(keptOf(device)).not.toHaveProperty('refreshToken')
    expect(keptOf(device)).toHaveProperty('recognitionId')
  })

  it('ends with a sign-out, and another user may follow', async () => {
    const device = await simulatedDevice()
    const { client } = await signedIn(device)
    await device.during(client.call('POST /logout'))
    expect(client.get()).toEqual({ status: 'signedOut', reason: null })
    expect(keptOf(device)).not.toHaveProperty('refreshToken')
    const bob = { ...credentials, email: 'bob@example.org' }
    await device.during(client.call('POST /mobile/login', bob))
    const next = device.launch()
    await device.during(next.client.restore())
    expect(next.client.get()).toMatchObject({ user: { email: bob.email } })
  })

  it('is asked about after the account changed or was deleted', async () => {
    const device = await simulatedDevice()
    const { client } = await signedIn(device)
    await device.during(client.call('PATCH /me', { name: 'Ada L' }))
    expect(client.get()).toMatchObject({ user: { name: 'Ada L' } })
    await device.auth.client.users.delete(Object(client.get()).user.id)
    await expect(device.during(client.call('GET /me'))).rejects.toMatchObject({ status: 401 })
    expect(client.get()).toEqual({ status: 'signedOut', reason: 'session_revoked' })
  })

  it('refreshes right after a change of the password, before any other rotation', async () => {
    const device = await simulatedDevice()
    const { client } = await signedIn(device)
    const input = { currentPassword: credentials.password, newPassword: 'a wholly other phrase' }
    const change = client.call('POST /me/password', input)
    const others = [client.call('GET /me'), client.restore()]
    await device.during(Promise.all([change, ...others]))
    await device.advance(57_000)
    await device.during(client.call('GET /me'))
    expect(rotations(device)).toBe(2)
    expect([client.get().status, alarms(device)]).toEqual(['signedIn', []])
    expect(usedTooEarly(device)).toEqual([])
  })
})

describe('what an app keeps beside its token', () => {
  it('is the recognition id: sent at logins and refreshes, and not lost at a sign-out', async () => {
    const device = await simulatedDevice()
    const { client } = await signedIn(device)
    const { recognitionId } = keptOf(device)
    expect(recognitionId).toEqual(expect.any(String))
    await device.during(client.call('POST /logout'))
    expect(keptOf(device).recognitionId).toBe(recognitionId)
    await device.during(client.call('POST /mobile/login', credentials))
    // The server gives the same one again to a device that it knows.
    expect(keptOf(device).recognitionId).toBe(recognitionId)
    await device.during(device.launch().client.restore())
    expect(device.refreshes.at(-1)?.recognitionId).toBe(recognitionId)
    const known = device.events.filter(({ type }) => type === 'login.newDevice')
    expect(known).toEqual([])
  })

  it('is a registration key, until the account is there', async () => {
    const device = await simulatedDevice()
    const { client } = device.launch()
    const input = { email: 'cleo@example.org', password: credentials.password }
    const reply = await device.during(client.call('POST /register', input))
    expect(reply).toMatchObject({ status: 'verificationRequired' })
    const { registrationKey } = keptOf(device)
    expect(registrationKey).toEqual(expect.any(String))
    const login = device.during(client.call('POST /mobile/login', input))
    await expect(login).rejects.toMatchObject({ code: 'email_not_verified' })
    await device.during(client.call('POST /mobile/login', credentials))
    expect(keptOf(device)).not.toHaveProperty('registrationKey')
  })

  it('is the key of a mailed code, until the person is signed in', async () => {
    const device = await simulatedDevice()
    const { client } = device.launch()
    const { email } = credentials
    await device.during(client.call('POST /login/code', { email }))
    expect(keptOf(device)).toHaveProperty('codeKey')
    const { code } = device.mailer.last('loginCode', email).data
    await device.during(client.call('POST /login/code/verify', { code }))
    expect(client.get()).toMatchObject({ status: 'signedIn', user: { email } })
    expect(keptOf(device)).not.toHaveProperty('codeKey')
  })

  it('is the token of a trusted device, which spares the second factor', async () => {
    const device = await simulatedDevice()
    const { client } = await signedIn(device)
    const currentPassword = credentials.password
    const { secret } = await device.during(client.call('POST /mfa/totp', { currentPassword }))
    const code = () => codeAt(secret, device.clock.now())
    await device.during(client.call('POST /mfa/totp/confirm', { code: code() }))
    await device.during(client.call('POST /logout'))
    await device.advance(30_000)
    const login = await device.during(client.call('POST /mobile/login', credentials))
    if (login.status !== 'mfaRequired') throw new Error(login.status)
    const { mfaToken } = login
    const proof = { mfaToken, method: 'totp', code: code(), trustDevice: true } as const
    await device.during(client.call('POST /login/mfa', proof))
    expect(client.get().status).toBe('signedIn')
    expect(keptOf(device).deviceToken).toEqual(expect.any(String))
    await device.during(client.call('POST /logout'))
    const known = await device.during(client.call('POST /mobile/login', credentials))
    expect(known.status).toBe('authenticated')
  })
})

describe('the options of a client for apps', () => {
  it.each([
    [{ storage: undefined }, 'option "storage" must have read() and write()'],
    [{ storage: { read: () => null } }, 'option "storage" must have read() and write()'],
    [{ baseUrl: '/v1' }, 'option "baseUrl" must be like https://api.example.com'],
    [{ baseUrl: undefined }, 'option "baseUrl" must be like https://api.example.com'],
    [{ baseUrl: 'http://api.example.com' }, 'must be like https://api.example.com'],
    [{ baseUrl: 'http://localhost:3000' }, 'allowInsecureLoopback allows http://localhost'],
    [{ baseUrl: 'http://localhost', allowInsecureLoopback: 'yes' }, 'must be like https://'],
    [{ origins: ['api.example.com'] }, 'option "origins" must be like https://api.example.com'],
  ])('%o are refused by name', (options, message) => {
    const storage: TokenStorage = { read: async () => null, write: async () => {} }
    const given = { surface: 'client', baseUrl, storage, ...options } as never
    expect(() => createMobileClient(given)).toThrow(message)
  })

  it.each([
    'http://api.example.com',
    'http://localhost.example.com',
    'http://localhost:80@example.com',
    'http://127.0.0.1.example.com:3000/',
    'http://10.0.2.20:3000',
    'ftp://localhost',
  ])('%s is refused also where allowInsecureLoopback is true', (at) => {
    const storage: TokenStorage = { read: async () => null, write: async () => {} }
    const options = {
      surface: 'client',
      baseUrl: at,
      storage,
      allowInsecureLoopback: true,
    } as const
    expect(() => createMobileClient(options)).toThrow('must be like https://api.example.com')
  })

  it.each([
    'http://localhost:3000',
    'http://127.0.0.1',
    'http://[::1]:3000/prefix',
    'http://10.0.2.2:3000',
    'https://api.example.com',
    'HTTPS://api.example.com',
  ])('%s is allowed where allowInsecureLoopback is true', (at) => {
    const storage: TokenStorage = { read: async () => null, write: async () => {} }
    const options = {
      surface: 'client',
      baseUrl: at,
      storage,
      allowInsecureLoopback: true,
    } as const
    expect(createMobileClient(options).get()).toEqual({ status: 'loading' })
  })
})
