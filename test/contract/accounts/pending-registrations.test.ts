import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import {
  eventsOf,
  mailedToken,
  openHost,
  openHostAtOneAddress,
  outcomeOf,
  seenOf,
  storedIn,
  storedUser,
} from '../../support/hosts/open-host.js'
import { goodPassword, otherPassword, person } from '../../support/people/people.js'
import { login } from '../../support/people/recovery-steps.js'
import {
  registerHere,
  registrationCookieOf,
  verifyWith,
} from '../../support/people/registration-steps.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { spyBackend } from '../../support/stores/spy-backend.js'
import { settingsHost } from '../settings/settings-host.js'

const email = 'ada@example.org'
const strangers = 'the password of a stranger'
const hour = 60 * 60_000

const usersOf = (host: ContractHost, surface: Surface) =>
  storedIn(host, surface).users.find({ kind: '' }, { limit: 9 })

const registrationsOf = (host: ContractHost, surface: Surface, address = email) =>
  storedIn(host, surface).pendingRegistrations.find({ email: address }, { limit: 9 })

const link = (host: ContractHost) => mailedToken(host, 'verifyEmail', email)

eachHost.describe('an account begins with a proved mailbox', (kind) => {
  eachSurface.describe((surface) => {
    it('is made of what the same browser registered', async () => {
      const host = await openHost({}, kind)
      const given = { email: ' Ada@Example.org ', name: 'Ada' }
      const { reply, cookie } = await registerHere(host, surface, given)
      expect([reply.status, reply.text]).toEqual([201, '{"status":"verificationRequired"}'])
      expect(reply.setCookies).toHaveLength(1)
      expect(reply.setCookies[0]).toMatch(
        /^__Host-(op|cl)_registration=[\w-]{43}; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
      )
      expect(await usersOf(host, surface)).toEqual([])
      const [waiting] = await registrationsOf(host, surface)
      const userId = waiting?.id ?? ''
      expect(eventsOf(host, 'account.registrationRequested')).toMatchObject([{ surface, userId }])
      expect(eventsOf(host, 'account.registered')).toEqual([])
      const token = await link(host)
      const verified = await verifyWith(host, surface, { token }, cookie)
      expect([verified.status, verified.text]).toEqual([200, '{"status":"verified"}'])
      expect(await storedUser(host, surface, email)).toMatchObject({
        id: userId,
        emailAsTyped: 'Ada@Example.org',
        emailVerifiedAt: host.clock.now(),
        name: 'Ada',
        systemRole: 'guest',
        selfRegistered: true,
        termsVersion: null,
      })
      expect(eventsOf(host, 'account.registered')).toMatchObject([{ userId }])
      expect(eventsOf(host, 'email.verified')).toMatchObject([{ userId }])
      expect(eventsOf(host, 'account.ownerProved')).toEqual([])
      expect(outcomeOf(await login(host, surface, email, goodPassword))).toBe('200')
      expect(await registrationsOf(host, surface)).toEqual([])
      const again = await verifyWith(host, surface, { token })
      expect(outcomeOf(again)).toBe('400 invalid_token')
    })

    it('asks for a password where another browser shows the link, and spends nothing', async () => {
      const host = await openHost({}, kind)
      const { cookie } = await registerHere(host, surface, {
        email,
        password: strangers,
        name: 'Mallory',
      })
      const token = await link(host)
      const asked = await verifyWith(host, surface, { token })
      expect(outcomeOf(asked)).toBe('400 password_choice_required')
      const weak = await verifyWith(host, surface, { token, newPassword: 'short' })
      expect(outcomeOf(weak)).toBe('422 password_policy')
      expect(await usersOf(host, surface)).toEqual([])
      const chosen = await verifyWith(host, surface, { token, newPassword: goodPassword })
      expect(outcomeOf(chosen)).toBe('200')
      // Nothing of the registration came along.
      expect(await storedUser(host, surface, email)).toMatchObject({
        name: '',
        emailAsTyped: email,
      })
      expect(outcomeOf(await login(host, surface, email, goodPassword))).toBe('200')
      expect(outcomeOf(await login(host, surface, email, strangers))).toBe(
        '401 invalid_credentials',
      )
      // And what is left of it opens nothing: the address has an account.
      await registerHere(host, surface, { email, password: strangers }, cookie)
      await host.auth.close()
      expect(host.mailer.sent.at(-1)).toMatchObject({ to: email, template: 'accountExists' })
    })

    it('every live link serves every live registration of its address', async () => {
      const host = await openHost({}, kind)
      const stranger = await registerHere(host, surface, { email, password: strangers })
      const early = await link(host)
      const owner = await registerHere(host, surface, { email })
      const late = await link(host)
      expect(early).not.toBe(late)
      // Two more, and no further mail goes out.
      await registerHere(host, surface, { email, password: strangers })
      await registerHere(host, surface, { email, password: strangers })
      await host.auth.close()
      expect(host.mailer.count(email)).toBe(3)
      expect(outcomeOf(await verifyWith(host, surface, { token: early }, owner.cookie))).toBe('200')
      expect(outcomeOf(await login(host, surface, email, goodPassword))).toBe('200')
      // The address has an account now, whoever else registered it and has a link.
      const others = await verifyWith(host, surface, { token: late }, stranger.cookie)
      expect(outcomeOf(others)).toBe('400 invalid_token')
      expect(await usersOf(host, surface)).toHaveLength(1)
      await host.clock.advance(hour)
      await registerHere(host, surface, { email })
      await host.auth.close()
      expect(host.mailer.sent.at(-1)).toMatchObject({ to: email, template: 'accountExists' })
    })

    it('one browser has one registration of an address, the newest, and keeps those of others', async () => {
      const host = await openHost({}, kind)
      const typo = await registerHere(host, surface, { email: 'adda@example.org' })
      const first = await registerHere(host, surface, { email, password: strangers }, typo.cookie)
      const second = await registerHere(host, surface, { email }, first.cookie)
      expect(await registrationsOf(host, surface)).toHaveLength(1)
      expect(await registrationsOf(host, surface, 'adda@example.org')).toHaveLength(1)
      // What the browser kept before is void: who knows it from before takes nothing over with it.
      const token = await link(host)
      expect(outcomeOf(await verifyWith(host, surface, { token }, first.cookie))).toBe(
        '400 password_choice_required',
      )
      expect(outcomeOf(await verifyWith(host, surface, { token }, second.cookie))).toBe('200')
      expect(outcomeOf(await login(host, surface, email, goodPassword))).toBe('200')
      const other = await mailedToken(host, 'verifyEmail', 'adda@example.org')
      expect(outcomeOf(await verifyWith(host, surface, { token: other }, second.cookie))).toBe(
        '200',
      )
    })

    it('registering and logging in is answered alike for taken and free addresses', async () => {
      const host = await openHost({}, kind)
      const owner = await person(host, surface)
      const seen: unknown[] = []
      for (const address of [owner.email, 'free@example.org']) {
        const { reply, cookie } = await registerHere(host, surface, {
          email: address,
          password: strangers,
        })
        const value = cookie.slice(cookie.indexOf('=') + 1)
        const path = `/v1/auth/${surface}/login`
        const body = { email: address, password: strangers }
        const here = await host.send('POST', path, { body, cookie })
        const elsewhere = await host.send('POST', path, { body })
        expect([outcomeOf(here), outcomeOf(elsewhere)]).toEqual([
          '403 email_not_verified',
          '401 invalid_credentials',
        ])
        const all = [reply, here, elsewhere].map((one) => JSON.stringify(seenOf(one)))
        seen.push(all.map((text) => text.replaceAll(value, '')))
      }
      expect(seen[0]).toEqual(seen[1])
    })

    it('a login before the confirmation is a counted failure', async () => {
      const host = await openHostAtOneAddress({ settings: { lockoutThreshold: 3 } }, kind)
      const { cookie } = await registerHere(host, surface, { email })
      const body = { email, password: goodPassword }
      const tries = []
      for (let n = 0; n < 4; n += 1) {
        tries.push(await host.send('POST', `/v1/auth/${surface}/login`, { body, cookie }))
      }
      expect(tries.map(outcomeOf)).toEqual([
        ...Array(3).fill('403 email_not_verified'),
        '429 rate_limited',
      ])
      // The owner's proof forgives them.
      const token = await link(host)
      expect(outcomeOf(await verifyWith(host, surface, { token }, cookie))).toBe('200')
      expect(outcomeOf(await login(host, surface, email, goodPassword))).toBe('200')
    })
  })
})

eachSurface.describe('registrations and their links', (surface) => {
  it('an app keeps its key itself', async () => {
    const host = await openHost()
    const at = `/v1/auth/${surface}`
    const reply = await host.send('POST', `${at}/register`, {
      body: { email, password: goodPassword },
      headers: { 'x-token-delivery': 'body' },
    })
    expect([reply.status, reply.setCookies]).toEqual([201, []])
    const registrationKey = textOf(reply.json(), 'registrationKey')
    expect(reply.json()).toEqual({
      status: 'verificationRequired',
      registrationKey,
      expiresIn: 86_400,
    })
    const body = { email, password: goodPassword, registrationKey }
    const early = await host.send('POST', `${at}/mobile/login`, { body })
    expect(outcomeOf(early)).toBe('403 email_not_verified')
    const token = await link(host)
    const verified = await host.send('POST', `${at}/email/verify`, {
      body: { token, registrationKey },
    })
    expect(outcomeOf(verified)).toBe('200')
    expect(outcomeOf(await host.send('POST', `${at}/mobile/login`, { body }))).toBe('200')
  })

  it('keys go on from where the new one goes: no body gets those of the cookie, and no cookie those of a body', async () => {
    const host = await openHost()
    const path = `/v1/auth/${surface}/register`
    const { cookie } = await registerHere(host, surface, { email })
    const keyOfBrowser = cookie.slice(cookie.indexOf('=') + 1)
    const toBody = { 'x-token-delivery': 'body' }
    const given = { email: 'grace@example.org', password: goodPassword }
    const page = await host.send('POST', path, { body: given, cookie, headers: toBody })
    const keyOfPage = textOf(page.json(), 'registrationKey')
    expect(keyOfPage).not.toContain(keyOfBrowser)
    // Else an owner's link would make the account of what a stranger registered, with their password.
    const planting = { email: 'eve@example.org', registrationKey: keyOfPage }
    const planted = await registerHere(host, surface, planting, cookie)
    expect(planted.cookie).toContain(keyOfBrowser)
    expect(planted.cookie).not.toContain(keyOfPage)
    const body = { email: 'eve@example.org', password: goodPassword, registrationKey: keyOfPage }
    const app = await host.send('POST', path, { body, headers: toBody })
    expect(textOf(app.json(), 'registrationKey')).toContain(keyOfPage)
  })

  it('live as long as the setting says, and never shorter than mails are counted', async () => {
    const host = await openHost({ settings: { emailVerificationTTL: '15m' } })
    const { reply, cookie } = await registerHere(host, surface, { email })
    expect(reply.setCookies[0]).toContain('Max-Age=3600;')
    const token = await link(host)
    expect(host.mailer.last('verifyEmail', email).data.expiresAt).toBe(host.clock.now() + hour)
    await host.clock.advance(hour - 1)
    expect(outcomeOf(await verifyWith(host, surface, { token }))).toBe(
      '400 password_choice_required',
    )
    await host.clock.advance(1)
    expect(outcomeOf(await verifyWith(host, surface, { token }, cookie))).toBe('400 token_expired')
    const late = await host.send('POST', `/v1/auth/${surface}/login`, {
      body: { email, password: goodPassword },
      cookie,
    })
    expect(outcomeOf(late)).toBe('401 invalid_credentials')
  })

  it('a planted key is never adopted', async () => {
    const host = await openHost()
    const name = surface === 'operator' ? '__Host-op_registration' : '__Host-cl_registration'
    const planted = 'p'.repeat(43)
    const { cookie } = await registerHere(host, surface, { email }, `${name}=${planted}`)
    expect(cookie).not.toContain(planted)
    const token = await link(host)
    expect(outcomeOf(await verifyWith(host, surface, { token }, `${name}=${planted}`))).toBe(
      '400 password_choice_required',
    )
  })

  it('today’s settings decide whether the account is made', async () => {
    const host = await settingsHost()
    const own = surface === 'operator' ? 'Operator' : 'Client'
    const { cookie } = await registerHere(host, surface, { email })
    const token = await link(host)
    const outcomes: string[] = []
    const tryWith = async (config: Record<string, string>, lists?: 'create' | 'remove') => {
      const change = { field: 'registrationAllowedDomains', create: [], remove: [] }
      const recordLists = lists === undefined ? [] : [{ ...change, [lists]: ['theirs'] }]
      await host.set({ config, recordLists })
      outcomes.push(outcomeOf(await verifyWith(host, surface, { token }, cookie)))
    }
    const domain = 'registrationAllowedDomains.theirs'
    await tryWith({ [`registration${own}Enabled`]: 'false' })
    await tryWith({ [`registration${own}Enabled`]: 'true', registrationTermsVersion: '2' })
    await tryWith(
      {
        registrationTermsVersion: '',
        [`${domain}.domain`]: 'theirs.example',
        [`${domain}.surface`]: 'both',
      },
      'create',
    )
    await tryWith({}, 'remove')
    expect(outcomes).toEqual([
      '403 registration_disabled',
      '422 terms_not_accepted',
      '403 email_domain_not_allowed',
      '200',
    ])
  })

  it('newer terms are accepted with the link', async () => {
    const host = await settingsHost()
    const { cookie } = await registerHere(host, surface, { email })
    const token = await link(host)
    await host.set({ config: { registrationTermsVersion: '2' } })
    const body = { token, acceptedTermsVersion: '2', name: 'Ada' }
    const reply = await host.send('POST', `/v1/auth/${surface}/email/verify`, { body, cookie })
    expect(outcomeOf(reply)).toBe('200')
    expect(await storedUser(host, surface, email)).toMatchObject({ termsVersion: '2', name: 'Ada' })
  })

  it('an address that somebody else has by now is none to begin with', async () => {
    const host = await openHost()
    const { cookie } = await registerHere(host, surface, { email })
    const token = await link(host)
    await host.auth[surface].users.create({ email, password: otherPassword, emailVerified: true })
    const late = await verifyWith(host, surface, { token }, cookie)
    expect(outcomeOf(late)).toBe('400 invalid_token')
    await host.auth.close()
    expect(host.mailer.sent.at(-1)).toMatchObject({ to: email, template: 'accountExists' })
    expect(outcomeOf(await login(host, surface, email, goodPassword))).toBe(
      '401 invalid_credentials',
    )
  })

  it('an account that is made and moved meanwhile is there, for who follows another link', async () => {
    const host = await openHost()
    const { cookie } = await registerHere(host, surface, { email })
    const early = await link(host)
    await host.send('POST', `/v1/auth/${surface}/email/verify/resend`, { body: { email } })
    const late = await link(host)
    const { pendingRegistrations, users } = storedIn(host, surface)
    const [waiting] = await registrationsOf(host, surface)
    expect(outcomeOf(await verifyWith(host, surface, { token: early }, cookie))).toBe('200')
    // As a crash leaves it that comes before the registration is taken.
    if (waiting !== undefined) await pendingRegistrations.insert(waiting)
    const { id } = await storedUser(host, surface, email)
    await users.update(id, { enabled: true }, { email: 'moved@example.org' })
    expect(outcomeOf(await verifyWith(host, surface, { token: late }, cookie))).toBe('200')
    await host.auth.close()
    expect(host.mailer.sent.map(({ template }) => template)).not.toContain('accountExists')
    expect(await usersOf(host, surface)).toHaveLength(1)
  })

  it('a new link is mailed to whoever registered, and the older ones stay', async () => {
    const host = await openHost()
    const { cookie } = await registerHere(host, surface, { email })
    const early = await link(host)
    const resend = (address: string) =>
      host.send('POST', `/v1/auth/${surface}/email/verify/resend`, { body: { email: address } })
    const [known, unknown] = [await resend(email), await resend('nobody@example.org')]
    expect(seenOf(known)).toEqual(seenOf(unknown))
    const late = await link(host)
    expect(late).not.toBe(early)
    expect(host.mailer.count('nobody@example.org')).toBe(0)
    const [waiting] = await registrationsOf(host, surface)
    expect(eventsOf(host, 'email.verificationRequested')).toMatchObject([
      { userId: waiting?.id },
      { userId: null },
    ])
    expect(outcomeOf(await verifyWith(host, surface, { token: early }, cookie))).toBe('200')
  })

  it('go with the account, which no leftover makes anew', async () => {
    const host = await openHost()
    const mine = await registerHere(host, surface, { email })
    const strangersOwn = await registerHere(host, surface, { email, password: strangers })
    const token = await link(host)
    const all = host.mailer.sent.filter(({ template }) => template === 'verifyEmail')
    expect(all).toHaveLength(2)
    expect(outcomeOf(await verifyWith(host, surface, { token }, mine.cookie))).toBe('200')
    const { id } = await storedUser(host, surface, email)
    expect(await host.auth[surface].users.delete(id)).toBe(true)
    expect(await registrationsOf(host, surface)).toEqual([])
    expect(await storedIn(host, surface).intents.find({ boundTo: email }, { limit: 9 })).toEqual([])
    for (const { data } of all) {
      const left = 'token' in data ? data.token : ''
      const reply = await verifyWith(host, surface, { token: left }, strangersOwn.cookie)
      expect(outcomeOf(reply)).toBe('400 invalid_token')
    }
    expect(await usersOf(host, surface)).toEqual([])
  })

  it('make no account anew whose id was deleted meanwhile', async () => {
    const faulty = faultyBackend(memory())
    const host = await openHost({ backend: faulty.backend })
    const { cookie } = await registerHere(host, surface, { email })
    const token = await link(host)
    // Twice at once: the one makes the account, which is deleted before the other gets to it.
    faulty.onCall(`${surface}_users.insert`, async () => {
      expect(outcomeOf(await verifyWith(host, surface, { token }, cookie))).toBe('200')
      const { id } = await storedUser(host, surface, email)
      expect(await host.auth[surface].users.delete(id)).toBe(true)
    })
    const late = await verifyWith(host, surface, { token }, cookie)
    expect(outcomeOf(late)).toBe('400 invalid_token')
    expect(await usersOf(host, surface)).toEqual([])
  })

  it('are listed, mailed again and removed by the host’s code', async () => {
    const host = await openHost()
    const { registrations } = host.auth[surface]
    const first = await registerHere(host, surface, { email: 'Ada@example.org', name: 'Ada' })
    const at = host.clock.now()
    const later = async () => {
      await host.auth.close()
      await host.clock.advance(1)
    }
    await later()
    await registerHere(host, surface, { email: 'bob@example.org' })
    await later()
    await registerHere(host, surface, { email, password: strangers })
    const [ada, bob, stranger] = (await registrations.list()).registrations
    expect(ada).toEqual({
      id: expect.any(String),
      email: 'Ada@example.org',
      name: 'Ada',
      termsVersion: null,
      createdAt: at,
      expiresAt: at + 24 * hour,
    })
    expect([bob?.email, stranger?.email]).toEqual(['bob@example.org', email])
    const page = await registrations.list({ limit: 1 })
    expect(page).toMatchObject({ registrations: [{ id: ada?.id }], next: ada?.id })
    const rest = await registrations.list({ after: page.next ?? '' })
    expect(rest).toMatchObject({
      registrations: [{ id: bob?.id }, { id: stranger?.id }],
      next: null,
    })
    await expect(registrations.list({ limit: 0 })).rejects.toMatchObject({
      code: 'invalid_request',
    })

    host.mailer.clear()
    expect(await registrations.resend(ada?.id ?? '', { actorId: 'ops-7' })).toBe(true)
    const token = await link(host)
    expect(eventsOf(host, 'email.verificationRequested')).toMatchObject([
      { actorId: 'ops-7', userId: ada?.id },
    ])
    // Of two, the one goes, and the links stay for the other.
    expect(await registrations.remove(stranger?.id ?? '')).toBe(true)
    expect(await registrations.remove(bob?.id ?? '')).toBe(true)
    const left = await mailedToken(host, 'verifyEmail', email)
    expect(left).toBe(token)
    for (const unknown of [bob?.id ?? '', 'no id']) {
      expect(await registrations.remove(unknown)).toBe(false)
      expect(await registrations.resend(unknown)).toBe(false)
    }
    const { intents } = storedIn(host, surface)
    expect(await intents.find({ boundTo: 'bob@example.org' }, { limit: 9 })).toEqual([])
    expect(outcomeOf(await verifyWith(host, surface, { token }, first.cookie))).toBe('200')
    expect(await registrations.list()).toEqual({ registrations: [], next: null })
    const late = await registerHere(host, surface, { email: 'late@example.org' })
    await host.clock.advance(24 * hour)
    expect(await registrations.list()).toEqual({ registrations: [], next: null })
    expect(late.cookie).not.toBe('')
  })

  it('tell their makers of no deletion, and keep nothing of the account', async () => {
    const host = await openHost()
    const owners = await person(host, surface)
    const other = { email: 'other@example.org', password: strangers }
    /** What a stranger sees who registered before, and registers and logs in now. */
    const seenBy = async (cookie: string) => {
      const body = { email: owners.email, password: strangers }
      const here = await host.send('POST', `/v1/auth/${surface}/login`, { body, cookie })
      const { reply } = await registerHere(host, surface, other, cookie)
      const again = await registerHere(host, surface, body, cookie)
      const keys = [reply, again.reply].map((one) => registrationCookieOf(one)?.split('.').length)
      const seen = [seenOf(here), seenOf(reply), seenOf(again.reply), keys]
      return { seen, cookie: again.cookie }
    }
    const [first, second] = [
      await registerHere(host, surface, {
        email: owners.email,
        password: strangers,
        name: 'Mallory',
      }),
      await registerHere(host, surface, {
        email: owners.email,
        password: strangers,
        name: 'Mallory',
      }),
    ]
    const before = await seenBy(first.cookie)
    expect(before.seen).toMatchObject([{ status: 403 }, { status: 201 }, { status: 201 }, [2, 1]])
    expect(await host.auth[surface].users.delete(owners.id)).toBe(true)
    await host.auth.close()
    const { pendingRegistrations } = storedIn(host, surface)
    const husks = await pendingRegistrations.find({ method: '' }, { limit: 9 })
    expect(husks).toHaveLength(2)
    expect(JSON.stringify(husks)).not.toMatch(/person-|Mallory|argon2/)
    for (const { id } of husks) {
      expect(await host.auth[surface].registrations.resend(id)).toBe(false)
      expect(await host.auth[surface].registrations.remove(id)).toBe(false)
    }
    expect((await seenBy(second.cookie)).seen).toEqual(before.seen)
    // The one that was replaced is gone, and of the other no link makes an account.
    expect(await pendingRegistrations.find({ method: '' }, { limit: 9 })).toHaveLength(1)
    await host.clock.advance(hour)
    const alone = await registerHere(host, surface, { email: owners.email })
    const fresh = await mailedToken(host, 'verifyEmail', owners.email)
    expect(outcomeOf(await verifyWith(host, surface, { token: fresh }, before.cookie))).toBe(
      '400 password_choice_required',
    )
    expect(outcomeOf(await verifyWith(host, surface, { token: fresh }, alone.cookie))).toBe('200')
    await host.clock.advance(24 * hour)
    const late = await login(host, surface, owners.email, strangers)
    expect(outcomeOf(late)).toBe('401 invalid_credentials')
  })

  it('a browser keeps the key of another address for as long as that waits', async () => {
    const host = await openHost()
    const keysOf = (cookie: string) => cookie.slice(cookie.indexOf('=') + 1).split('.').length
    const first = await registerHere(host, surface, { email })
    await host.clock.advance(23 * hour)
    const second = await registerHere(host, surface, { email: 'b@example.org' }, first.cookie)
    expect(keysOf(second.cookie)).toBe(2)
    await host.clock.advance(hour)
    const third = await registerHere(host, surface, { email: 'c@example.org' }, second.cookie)
    expect(keysOf(third.cookie)).toBe(2)
  })

  it('costs of registering and logging in are counted alike for taken and free', async () => {
    const { backend, calls } = spyBackend()
    const host = await openHost({ backend })
    const owner = await person(host, surface)
    const costs: string[][] = []
    for (const address of [owner.email, 'free@example.org']) {
      await host.auth.close()
      calls.length = 0
      const { cookie } = await registerHere(host, surface, { email: address, password: strangers })
      await host.auth.close()
      const body = { email: address, password: strangers }
      await host.send('POST', `/v1/auth/${surface}/login`, { body, cookie })
      await host.auth.close()
      // Records are written beside the request, and of accounts alone.
      costs.push(calls.filter((name) => !name.includes('audit_records')))
    }
    expect(costs[0]).toEqual(costs[1])
    expect(costs[0]?.length).toBeGreaterThan(6)
  })

  it('stays a browser’s own where sessions are shared with other hosts', async () => {
    const host = await openHost({
      surfaces: {
        operator: { baseUrl: 'https://admin.example.com', cookieDomain: 'example.com' },
        client: { baseUrl: 'https://app.example.com', cookieDomain: 'example.com' },
      },
    })
    const { reply, cookie } = await registerHere(host, surface, { email })
    expect(cookie).toMatch(/^__Host-/)
    expect(reply.setCookies[0]).not.toContain('Domain')
    const token = await link(host)
    expect(outcomeOf(await verifyWith(host, surface, { token }, cookie))).toBe('200')
    expect(registrationCookieOf(reply)).toBe(cookie)
  })
})
