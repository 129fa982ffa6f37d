import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { AuthError } from '../../../src/errors/index.js'
import { openApiDocument } from '../../../src/openapi/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import { deferred } from '../../support/deferred.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import { eachFramework, eachHost, eachStore, eachSurface } from '../../support/hosts/matrix.js'
import {
  eventsOf,
  newAddress,
  openHost,
  outcomeOf,
  seenOf,
  storedIn,
  storedUser,
} from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { enrolled } from '../../support/people/authenticator.js'
import { otherPassword, person, signedInPerson, signIn } from '../../support/people/people.js'
import { loginHere } from '../../support/people/recognition-steps.js'
import { linkFor } from '../../support/people/recovery-steps.js'
import { faultyBackend, withCall } from '../../support/stores/faulty-backend.js'
import {
  askForCode,
  inApp,
  keptOf,
  mailedCodeFor,
  showCode,
  wrongCodeFor,
} from './mailed-code-steps.js'

const surface: Surface = 'client'
const refused = '401 invalid_credentials'
const limited = '429 rate_limited'
const open = (options: HostOptions = {}) => openHost({ ...withoutLimits, ...options })

async function signedInWith(host: ContractHost, email: string, on: Surface = surface) {
  const { code, cookie } = await mailedCodeFor(host, on, email)
  return showCode(host, on, code, { cookie })
}

describe('where the option is set', () => {
  eachFramework.describe((kind) => {
    eachSurface.it('signs in with the code, in a browser and in an app', async (on) => {
      const host = await openHost(withoutLimits, kind)
      const who = await person(host, on)
      const reply = await signedInWith(host, who.email, on)
      expect([reply.status, reply.json()['status']]).toEqual([200, 'authenticated'])
      expect(reply.setCookies.some((one) => /_refresh=[^;]/.test(one))).toBe(true)
      const app = await mailedCodeFor(host, on, who.email, inApp)
      expect(app.cookie).toBe('')
      const { code, codeKey } = app
      const path = `/v1/auth/${on}/login/code/verify`
      const inBody = await host.send('POST', path, { ...inApp, body: { code, codeKey } })
      expect(inBody.json()).toMatchObject({ status: 'authenticated', refreshToken: /./ })
      expect(inBody.setCookies).toEqual([])
    })
  })

  it('mails eight digits with the site and where they were asked for', async () => {
    const host = await open()
    const who = await person(host, surface)
    const headers = {
      'user-agent': 'Firefox/1',
      'accept-language': 'de',
      'x-forwarded-for': '192.0.2.7',
    }
    await mailedCodeFor(host, surface, who.email, { headers })
    const { data, languages } = host.mailer.last('loginCode', who.email)
    expect(data.code).toMatch(/^\d{8}$/)
    expect(data).toMatchObject({ site: 'app.example.com', ip: '192.0.2.7', userAgent: 'Firefox/1' })
    expect(data.expiresAt).toBe(host.clock.now() + 600_000)
    expect(languages).toEqual(['de'])
  })

  it('takes digits of any script, with blanks and dashes', async () => {
    const host = await open()
    const who = await person(host, surface)
    const { code, cookie } = await mailedCodeFor(host, surface, who.email)
    const typed = [...code].map((digit) => String.fromCodePoint(0x660 + Number(digit))).join(' - ')
    expect((await showCode(host, surface, typed, { cookie })).status).toBe(200)
  })

  it('keeps neither the code nor its key', async () => {
    const host = await open()
    const who = await person(host, surface)
    const { code, cookie } = await mailedCodeFor(host, surface, who.email)
    const rows = JSON.stringify(
      await storedIn(host, surface).challenges.find({ userId: who.id }, { limit: 9 }),
    )
    expect(rows).toContain('codeHash')
    expect(rows).not.toContain(code)
    expect(rows).not.toContain(cookie.slice(cookie.indexOf('=') + 1))
  })
})

it('is not there without the option', async () => {
  const surfaces = { client: { baseUrl: 'https://app.example.com', mailedCode: false } }
  const host = await open({
    surfaces: { operator: { baseUrl: 'https://a.example.com' }, ...surfaces },
  })
  const who = await person(host, surface)
  expect(outcomeOf(await askForCode(host, surface, who.email))).toBe('404 not_found')
  expect(outcomeOf(await showCode(host, surface, '12345678', {}))).toBe('404 not_found')
  expect(JSON.stringify(openApiDocument())).not.toMatch(/login\/code/)
})

it('refuses another value of the option, and says what to give', async () => {
  const client = { baseUrl: 'https://app.example.com', mailedCode: 'yes' as never }
  const surfaces = { operator: { baseUrl: 'https://admin.example.com' }, client }
  await expect(open({ surfaces })).rejects.toThrow(/surfaces\.client\.mailedCode.*must be true/)
})

describe('what is refused as wrong credentials', () => {
  eachHost.it('the right code after five wrong ones', async (kind) => {
    const host = await openHost(withoutLimits, kind)
    const who = await person(host, surface)
    const { code, cookie } = await mailedCodeFor(host, surface, who.email)
    const wrong = wrongCodeFor(code)
    for (let turn = 0; turn < 5; turn += 1) {
      expect(outcomeOf(await showCode(host, surface, wrong, { cookie }))).toBe(refused)
    }
    expect(outcomeOf(await showCode(host, surface, code, { cookie }))).toBe(refused)
    const other = await mailedCodeFor(host, surface, who.email)
    for (let turn = 0; turn < 4; turn += 1)
      await showCode(host, surface, wrongCodeFor(other.code), other)
    expect((await showCode(host, surface, other.code, other)).status).toBe(200)
  })

  it('the right code after ten minutes', async () => {
    const host = await open()
    const who = await person(host, surface)
    const { code, cookie } = await mailedCodeFor(host, surface, who.email)
    await host.clock.advance(600_000)
    expect(outcomeOf(await showCode(host, surface, code, { cookie }))).toBe(refused)
  })

  it('the right code in another browser, in a body beside cookies, and in none', async () => {
    const host = await open()
    const who = await person(host, surface)
    const { code, cookie } = await mailedCodeFor(host, surface, who.email)
    const other = keptOf(await askForCode(host, surface, who.email)).cookie
    const codeKey = cookie.slice(cookie.indexOf('=') + 1)
    const path = '/v1/auth/client/login/code/verify'
    for (const refusedHere of [
      await showCode(host, surface, code, { cookie: other }),
      await showCode(host, surface, code, {}),
      await host.send('POST', path, { body: { code, codeKey } }),
      await host.send('POST', path, { ...inApp, cookie, body: { code } }),
    ]) {
      expect(outcomeOf(refusedHere)).toBe(refused)
    }
    expect((await showCode(host, surface, code, { cookie })).status).toBe(200)
    expect(eventsOf(host, 'login.failed').map(({ method }) => method)).toContain('email_code')
  })

  it('a code that is void: password changed or reset, sessions ended, address changed, disabled', async () => {
    const host = await open()
    const changes: Readonly<
      Record<string, (who: Awaited<ReturnType<typeof signedInPerson>>) => Promise<unknown>>
    > = {
      changed: ({ bearer, password }) =>
        host.send('POST', '/v1/auth/client/me/password', {
          bearer,
          body: { currentPassword: password, newPassword: otherPassword },
        }),
      async reset({ email }) {
        const body = { token: await linkFor(host, surface, email), newPassword: otherPassword }
        return host.send('POST', '/v1/auth/client/password/reset', { body })
      },
      ended: ({ cookie }) =>
        host.send('POST', '/v1/auth/client/logout', { cookie, body: { everywhere: true } }),
      moved: ({ id }) =>
        storedIn(host, surface).users.update(
          id,
          { enabled: true },
          { email: `moved-${id}@example.org` },
        ),
      disabled: ({ id }) => host.auth.client.users.update(id, { enabled: false }),
    }
    for (const [name, change] of Object.entries(changes)) {
      const who = await signedInPerson(host, surface)
      const { code, cookie } = await mailedCodeFor(host, surface, who.email)
      await change(who)
      expect([name, outcomeOf(await showCode(host, surface, code, { cookie }))]).toEqual([
        name,
        refused,
      ])
    }
  })

  eachStore.it('all but one of sixteen who show the code at once', async (kind) => {
    const host = await openHost(withoutLimits, kind)
    const who = await person(host, surface)
    const { code, cookie } = await mailedCodeFor(host, surface, who.email)
    const replies = await Promise.all(
      Array.from({ length: 16 }, () => showCode(host, surface, code, { cookie })),
    )
    const outcomes = replies.map(outcomeOf)
    expect(outcomes.filter((one) => one === '200')).toHaveLength(1)
    expect(outcomes.filter((one) => ![refused, limited, '200'].includes(one))).toEqual([])
    expect(outcomeOf(await showCode(host, surface, code, { cookie }))).toBe(refused)
  })
})

describe('what follows a first factor', () => {
  it('asks for the second factor, which the code is not', async () => {
    const host = await open()
    const who = await enrolled(host, surface)
    const reply = await signedInWith(host, who.email)
    expect(reply.json()).toMatchObject({ status: 'mfaRequired' })
    const body = { mfaToken: reply.json()['mfaToken'], method: 'totp', code: await who.nextCode() }
    expect((await host.send('POST', '/v1/auth/client/login/mfa', { body })).status).toBe(200)
  })

  it('asks to enroll where the policy requires a factor, and for a password that is too old', async () => {
    const settings = { ...withoutLimits.settings, passwordMaxAge: '365d' } as const
    const host = await open({ settings: { ...settings, mfaPolicyOperator: 'required' } })
    const operator = await person(host, 'operator')
    const first = await signedInWith(host, operator.email, 'operator')
    expect(first.json()['status']).toBe('mfaEnrollmentRequired')
    const who = await person(host, surface)
    const old = { passwordChangedAt: host.clock.now() - 366 * 86_400_000 }
    await storedIn(host, surface).users.update(who.id, { enabled: true }, old)
    expect((await signedInWith(host, who.email)).json()['status']).toBe('passwordChangeRequired')
    await storedIn(host, surface).users.update(who.id, { enabled: true }, { passwordHash: null })
    expect((await signedInWith(host, who.email)).json()['status']).toBe('authenticated')
  })

  it('gives an unproved account to the owner of the mailbox, and takes what was planted', async () => {
    const host = await open()
    const email = 'unproved@example.org'
    const account = { email, password: otherPassword, emailVerified: false }
    const { id } = await host.auth.client.users.create(account)
    const reply = await signedInWith(host, email)
    expect(reply.json()).toMatchObject({
      status: 'authenticated',
      user: { id, emailVerified: true },
    })
    expect((await storedUser(host, surface, email)).passwordHash).toBeNull()
    expect(eventsOf(host, 'account.ownerProved')).toMatchObject([{ userId: id, by: 'link' }])
    const body = { email, password: otherPassword }
    expect(outcomeOf(await host.send('POST', '/v1/auth/client/login', { body }))).toBe(refused)
  })
})

it('ends what was planted on an account, also where the first code was cut short', async () => {
  const store = faultyBackend(memory())
  const settings = { ...withoutLimits.settings, emailVerificationRequired: false }
  const host = await open({ backend: store.backend, settings })
  const email = 'unproved@example.org'
  const planted = { email, password: otherPassword, emailVerified: false }
  const { id } = await host.auth.client.users.create(planted)
  const { bearer } = await signIn(host, surface, { ...planted, id })
  const me = async () => outcomeOf(await host.send('GET', '/v1/auth/client/me', { bearer }))
  store.failNext('denylist.put', 'before')
  expect((await signedInWith(host, email)).status).toBe(503)
  expect((await signedInWith(host, email)).status).toBe(200)
  expect(await me()).toBe('401 session_revoked')
})

it('asks again whether the account may use a code before it has an effect', async () => {
  const host = await open()
  const account = { email: 'ada@example.org', password: otherPassword, emailVerified: false }
  const { id } = await host.auth.operator.users.create(account)
  const { code, cookie } = await mailedCodeFor(host, 'operator', account.email)
  await host.auth.operator.users.update(id, { systemRole: 'administrator' })
  expect(outcomeOf(await showCode(host, 'operator', code, { cookie }))).toBe(refused)
  expect(eventsOf(host, 'account.ownerProved')).toEqual([])
  expect(await storedUser(host, 'operator', account.email)).toMatchObject({ emailVerifiedAt: null })
})

it('counts five guesses of a code at most, however many come at once', async () => {
  const [most, together] = [12, deferred<null>()]
  let read: number | null = null
  const backend = withCall(memory(), async (name, work) => {
    const found = await work()
    if (read === null || name !== 'client_challenges.get') return found
    read += 1
    // All have seen a code that was never tried before the first of them goes on.
    if (read === most) together.resolve(null)
    await together.promise
    return found
  })
  const host = await openHost({ backend })
  const who = await person(host, surface)
  const asked = await mailedCodeFor(host, surface, who.email)
  read = 0
  const replies = await Promise.all(
    Array.from({ length: most }, () => showCode(host, surface, wrongCodeFor(asked.code), asked)),
  )
  expect(replies.map(outcomeOf)).toEqual(replies.map(() => refused))
  expect(eventsOf(host, 'login.lockedOut')).toEqual([])
  const other = await mailedCodeFor(host, surface, who.email)
  expect((await showCode(host, surface, other.code, other)).status).toBe(200)
})

it('is open again to the owner who proves the mailbox by a reset', async () => {
  const host = await openHost()
  const who = await person(host, surface)
  for (const _ of [1, 2]) {
    const asked = await mailedCodeFor(host, surface, who.email)
    for (let turn = 0; turn < 5; turn += 1) {
      await showCode(host, surface, wrongCodeFor(asked.code), asked)
    }
  }
  const token = await linkFor(host, surface, who.email)
  const body = { token, newPassword: otherPassword }
  const reset = await host.send('POST', '/v1/auth/client/password/reset', { body })
  expect([200, 204]).toContain(reset.status)
  const asked = await mailedCodeFor(host, surface, who.email)
  expect((await showCode(host, surface, asked.code, asked)).status).toBe(200)
})

describe('as the only way in that is left', () => {
  it('lets customers switch passwords off, and not those who administer', async () => {
    const { config } = (await open()).auth
    const off = (key: string) => config.change('auth', { config: { [key]: 'false' } })
    await off('passwordLoginClientEnabled')
    const refusal = { code: 'auth.no_login_method' }
    await expect(off('passwordLoginOperatorEnabled')).rejects.toMatchObject(refusal)
    const without = (await open({ mailedCode: false })).auth.config
    const change = without.change('auth', { config: { passwordLoginClientEnabled: 'false' } })
    await expect(change).rejects.toMatchObject(refusal)
  })

  it('lets go of the last identity where a code opens the account', async () => {
    const removal = async (options: HostOptions, changes: object) => {
      const host = await open(options)
      const { id, email } = await person(host, surface)
      const { users, oauthIdentities } = storedIn(host, surface)
      await users.update(id, { enabled: true }, { passwordHash: null, ...changes })
      const there = { provider: 'google', issuer: 'https://accounts.google.com', subject: '1' }
      await oauthIdentities.insert({
        ...there,
        ...{ id: 'one', userId: id, linkedAt: 1, removingBy: null, expiresAt: null },
      })
      const removing = host.auth[surface].identities.remove(id, 'one')
      const code = await removing.then(
        () => 'removed',
        (error: unknown) => error instanceof AuthError && error.code,
      )
      return { code, host, email }
    }
    const { code, host, email } = await removal({}, {})
    expect(code).toBe('removed')
    expect((await signedInWith(host, email)).status).toBe(200)
    expect((await removal({ mailedCode: false }, {})).code).toBe('last_login_method')
    expect((await removal({}, { systemRole: 'administrator' })).code).toBe('last_login_method')
  })
})

describe('addresses that get no code', () => {
  it('are answered as others are, at the same cost, and get no mail', async () => {
    const store = faultyBackend(memory())
    const host = await open({ backend: store.backend })
    const good = await person(host, 'operator')
    const emails = ['nobody@example.org']
    for (const systemRole of ['super_admin', 'administrator', 'developer', 'Developer']) {
      const email = `${systemRole}-${emails.length}@example.org`
      await host.auth.operator.users.create({ email, systemRole, emailVerified: true })
      emails.push(email)
    }
    const off = await person(host, 'operator')
    await host.auth.operator.users.update(off.id, { enabled: false })
    emails.push(off.email)
    const costs: string[] = []
    const replies: unknown[] = []
    for (const email of [good.email, ...emails]) {
      await host.auth.close()
      const before = store.calls.length
      const asked = await askForCode(host, 'operator', email)
      const { cookie } = keptOf(asked)
      const shown = await showCode(host, 'operator', '00000000', { cookie })
      costs.push(
        store.calls
          .slice(before)
          .filter((name) => !/audit_records/.test(name))
          .join(),
      )
      const blank = (text: string) => text.replaceAll(/_oauth_[\w-]{16}=[\w-]{43}/g, '_oauth_…')
      replies.push(JSON.parse(blank(JSON.stringify([seenOf(asked), seenOf(shown)]))))
    }
    await host.auth.close()
    expect(new Set(costs).size).toBe(1)
    for (const reply of replies) expect(reply).toEqual(replies[0])
    expect(emails.map((email) => host.mailer.count(email))).toEqual(emails.map(() => 0))
    expect(host.mailer.count(good.email)).toBe(1)
  })

  it('refuses an account that was given such a role meanwhile', async () => {
    const host = await open()
    const who = await person(host, surface)
    const { code, cookie } = await mailedCodeFor(host, surface, who.email)
    await storedIn(host, surface).users.update(
      who.id,
      { enabled: true },
      { systemRole: 'developer' },
    )
    expect(outcomeOf(await showCode(host, surface, code, { cookie }))).toBe(refused)
  })
})

describe('limits', () => {
  const from = (ip: string) => ({ headers: { 'x-forwarded-for': ip } })

  it('three codes an hour for strangers, then one for each network, ten in all', async () => {
    const host = await open()
    const who = await person(host, surface)
    const ask = async (ip: string) =>
      outcomeOf(await askForCode(host, surface, who.email, from(ip)))
    const site = (at: number) => `198.51.${at}.${at + 1}`
    for (const at of [1, 1, 1]) expect(await ask(site(at))).toBe('202')
    expect(await ask(site(1))).toBe('202')
    expect(await ask('198.51.1.200')).toBe(limited)
    expect(await ask('2001:db8:1:1::1')).toBe('202')
    expect(await ask('2001:db8:1:2::1')).toBe(limited)
    for (const at of [2, 3, 4, 5, 6]) expect(await ask(site(at))).toBe('202')
    expect(await ask(site(7))).toBe(limited)
    expect(outcomeOf(await askForCode(host, surface, 'another@example.org', from(site(7))))).toBe(
      '202',
    )
    await host.clock.advance(3_599_999)
    expect(await ask(site(7))).toBe(limited)
    await host.clock.advance(1)
    expect(await ask(site(7))).toBe('202')
  })

  it('three more for devices that signed in before', async () => {
    const host = await open()
    const who = await person(host, surface)
    const cookie = await loginHere(host, surface, who, { 'x-forwarded-for': newAddress() })
    const one = from('198.51.1.1')
    for (let turn = 0; turn < 5; turn += 1) await askForCode(host, surface, who.email, one)
    const outcomes: string[] = []
    for (let turn = 0; turn < 4; turn += 1) {
      outcomes.push(outcomeOf(await askForCode(host, surface, who.email, { ...one, cookie })))
    }
    expect(outcomes).toEqual(['202', '202', '202', limited])
  })

  it('wrong codes lock codes out and not passwords, and not devices that signed in before', async () => {
    const host = await openHost()
    const who = await person(host, surface)
    const cookie = await loginHere(host, surface, who, { 'x-forwarded-for': newAddress() })
    for (let round = 0; round < 2; round += 1) {
      const asked = await mailedCodeFor(host, surface, who.email)
      for (let turn = 0; turn < 5; turn += 1) {
        await showCode(host, surface, wrongCodeFor(asked.code), asked)
      }
    }
    expect(eventsOf(host, 'login.lockedOut')).toMatchObject([{ userId: who.id, budget: 'address' }])
    const stranger = await mailedCodeFor(host, surface, who.email)
    expect(outcomeOf(await showCode(host, surface, stranger.code, stranger))).toBe(limited)
    await signIn(host, surface, who)
    const known = await mailedCodeFor(host, surface, who.email, { cookie })
    const shown = { cookie: `${known.cookie}; ${cookie}` }
    expect((await showCode(host, surface, known.code, shown)).status).toBe(200)
  })
})

it('answers 503 where the store fails, and the code stays good where it was not taken', async () => {
  const store = faultyBackend(memory())
  const host = await open({ backend: store.backend })
  const who = await person(host, surface)
  const { code, cookie } = await mailedCodeFor(host, surface, who.email)
  for (const call of ['client_users.find', 'client_challenges.insert']) {
    store.failNext(call, 'before')
    expect((await askForCode(host, surface, who.email)).status).toBe(503)
  }
  // More often than there are tries: what could not be looked at is no try.
  const taking = Array.from({ length: 6 }, () => 'client_challenges.take')
  for (const call of ['client_challenges.get', 'client_challenges.update', ...taking]) {
    store.failNext(call, 'before')
    const failed = await showCode(host, surface, code, { cookie })
    expect([call, failed.status]).toEqual([call, 503])
  }
  expect((await showCode(host, surface, code, { cookie })).status).toBe(200)
})
