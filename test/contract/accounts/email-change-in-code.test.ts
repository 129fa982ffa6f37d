import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import {
  eventsOf,
  mailedToken,
  openHost,
  outcomeOf,
  storedIn,
  storedUser,
} from '../../support/hosts/open-host.js'
import { goodPassword, person, signedInPerson } from '../../support/people/people.js'
import { faultyBackend, withCall } from '../../support/stores/faulty-backend.js'

const newEmail = 'countess@example.net'
const unknownId = '01940000-0000-7000-8000-000000000000'
const by = { actorId: 'admin', ip: '192.0.2.1', userAgent: 'desk' }

/** As the page does that the link leads to, in a browser that is signed in nowhere. */
const open = async (host: ContractHost, surface: Surface, token: string) =>
  outcomeOf(await host.send('POST', `/v1/auth/${surface}/email/verify`, { body: { token } }))

const login = async (host: ContractHost, surface: Surface, email: string) => {
  const body = { email, password: goodPassword }
  return outcomeOf(await host.send('POST', `/v1/auth/${surface}/login`, { body }))
}

eachSurface.describe('another address, by an administrator', (surface) => {
  async function asked(host: ContractHost) {
    const who = await person(host, surface)
    const { users } = host.auth[surface]
    expect(await users.changeEmail(who.id, ' Countess@Example.NET ', by)).toBe(true)
    return { ...who, users, token: await mailedToken(host, 'changeEmail', newEmail) }
  }

  it('is in force once the new mailbox confirms it, and both mailboxes are told', async () => {
    const host = await openHost()
    const who = await asked(host)
    expect(await who.users.get(who.id)).toMatchObject({ email: who.email })
    expect(await login(host, surface, newEmail)).toBe('401 invalid_credentials')
    expect(host.mailer.sent.map(({ to, template }) => [to, template]).sort()).toEqual([
      [newEmail, 'changeEmail'],
      [who.email, 'emailChangeRequested'],
    ])
    expect(await open(host, surface, who.token)).toBe('200')
    expect(await who.users.get(who.id)).toMatchObject({ email: newEmail, emailVerified: true })
    expect(await login(host, surface, newEmail)).toBe('200')
    await host.auth.close()
    expect(host.mailer.last('emailChanged', who.email).data).toMatchObject({ newEmail })
    expect((await who.users.list({ text: newEmail })).users).toHaveLength(1)
    expect(await open(host, surface, who.token)).toBe('400 invalid_token')
  })

  it('is told to events and audit records with who asked', async () => {
    const host = await openHost()
    const who = await asked(host)
    const told = { surface, userId: who.id, actorId: 'admin', ip: '192.0.2.1' }
    expect(eventsOf(host, 'email.verificationRequested')).toMatchObject([told])
    const { records } = await host.auth[surface].audit.ofTarget(who.id)
    const record = records.find(({ action }) => action === 'email.verificationRequested')
    expect(record).toMatchObject({ actorId: 'admin', targetId: who.id, ip: '192.0.2.1' })
    // The administrator's network is not the person's own data.
    expect(JSON.stringify(await who.users.export(who.id))).not.toContain('192.0.2.1')
    expect(await who.users.changeEmail(who.id, 'x@example.net')).toBe(true)
    expect(eventsOf(host, 'email.verificationRequested').at(-1)).toMatchObject({ actorId: null })
  })

  it('keeps sessions, and is void once the holder ends them all or it is asked for anew', async () => {
    const host = await openHost()
    const { users } = host.auth[surface]
    const { id, bearer } = await signedInPerson(host, surface)
    const me = () => host.send('GET', `/v1/auth/${surface}/me`, { bearer })
    await users.changeEmail(id, newEmail)
    const first = await mailedToken(host, 'changeEmail', newEmail)
    await users.changeEmail(id, 'again@example.net')
    const second = await mailedToken(host, 'changeEmail', 'again@example.net')
    expect(await open(host, surface, first)).toBe('400 invalid_token')
    expect(await open(host, surface, second)).toBe('200')
    expect((await me()).json()).toMatchObject({ email: 'again@example.net' })
    await users.changeEmail(id, newEmail)
    const third = await mailedToken(host, 'changeEmail', newEmail)
    await host.send('POST', `/v1/auth/${surface}/logout`, { bearer, body: { everywhere: true } })
    expect(await open(host, surface, third)).toBe('400 invalid_token')
  })

  it('is refused where it is malformed, taken, the present one, or not allowed', async () => {
    const rule = { slug: 'own', domain: 'example.org', surface, includeSubdomains: false }
    const host = await openHost({ settings: { registrationAllowedDomains: [rule] } })
    const { id, email } = await person(host, surface)
    const other = await person(host, surface)
    const { users } = host.auth[surface]
    const refusals: unknown[] = []
    for (const given of ['nobody', JSON.parse('{"$ne":""}'), email.toUpperCase()]) {
      await expect(users.changeEmail(id, given)).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('newEmail'),
      })
    }
    for (const given of [other.email, newEmail, 'robot@machines.invalid']) {
      await users.changeEmail(id, given).catch(({ code }) => refusals.push(code))
    }
    expect(refusals).toEqual(['email_taken', 'email_domain_not_allowed', 'email_not_allowed'])
    await host.auth.close()
    expect([host.mailer.sent, eventsOf(host, 'email.verificationRequested')]).toEqual([[], []])
  })

  it('is for enabled people alone, and for no account that a stranger may have registered', async () => {
    const host = await openHost({ settings: { emailVerificationRequired: false } })
    const { users } = host.auth[surface]
    const { id } = await person(host, surface)
    await users.update(id, { enabled: false })
    for (const none of [id, unknownId, 'nobody']) {
      expect(await users.changeEmail(none, newEmail)).toBe(false)
    }
    await expect(users.changeEmail(JSON.parse('5'), newEmail)).rejects.toMatchObject({
      code: 'invalid_request',
    })
    const machine = await storedUser(host, surface, (await person(host, surface)).email)
    await storedIn(host, surface).users.insert({
      ...{ ...machine, kind: 'service', email: 'robot@example.org' },
      id: unknownId,
    })
    expect(await users.changeEmail(unknownId, newEmail)).toBe(false)
    const body = { email: 'eve@example.org', password: goodPassword }
    expect((await host.send('POST', `/v1/auth/${surface}/register`, { body })).status).toBe(201)
    const eve = await storedUser(host, surface, body.email)
    await expect(users.changeEmail(eve.id, newEmail)).rejects.toMatchObject({
      code: 'email_not_verified',
    })
    // Its password and its sessions would stay with whoever has them.
    const held = await users.create({ email: 'held@example.org', password: goodPassword })
    await expect(users.changeEmail(held.id, newEmail)).rejects.toMatchObject({
      code: 'email_not_verified',
    })
    // A slip of the host's own, whose mailbox nobody proved.
    const slip = await users.create({ email: 'slip@example.org' })
    expect(await users.changeEmail(slip.id, newEmail)).toBe(true)
  })

  it('is mailed three times an hour to one address', async () => {
    const host = await openHost()
    const { id, users } = await asked(host)
    await users.changeEmail(id, newEmail)
    await users.changeEmail(id, newEmail)
    await expect(users.changeEmail(id, newEmail)).rejects.toMatchObject({ code: 'rate_limited' })
  })

  it.each(['before', 'after'] as const)(
    'that was cut off %s a write is asked for and confirmed again',
    async (when) => {
      const faulty = faultyBackend(memory())
      const host = await openHost({ backend: faulty.backend })
      const who = await person(host, surface)
      const { users } = host.auth[surface]
      const unavailable = { code: 'service_unavailable' }
      faulty.failNext(`${surface}_intents.insert`, when)
      await expect(users.changeEmail(who.id, newEmail)).rejects.toMatchObject(unavailable)
      await host.auth.close()
      expect(host.mailer.sent).toEqual([])
      expect(await users.changeEmail(who.id, newEmail)).toBe(true)
      const token = await mailedToken(host, 'changeEmail', newEmail)
      faulty.failNext(`${surface}_users.update`, when)
      expect(await open(host, surface, token)).toBe('503 service_unavailable')
      expect(await open(host, surface, token)).toBe('200')
      expect(await users.get(who.id)).toMatchObject({ email: newEmail })
    },
  )
})

eachSurface.describe('users.signInMethods', (surface) => {
  it('says by what a person can sign in, as the settings are', async () => {
    const google = surface === 'operator' ? 'googleOperatorEnabled' : 'googleClientEnabled'
    const settings = { googleClientId: 'id', googleClientSecret: 'secret', [google]: true }
    const host = await openHost({ settings })
    const { users } = host.auth[surface]
    const identities = ['google', 'github'].map((provider) => ({
      provider,
      issuer:
        { google: 'https://accounts.google.com' }[provider] ?? 'https://github.com/login/oauth',
      subject: '7',
    }))
    const row = { email: 'ada@example.org', emailVerified: true, identities }
    await users.import({ users: [row] })
    const { id } = await storedUser(host, surface, row.email)
    // Nobody can sign in by a provider that is switched off.
    expect(await users.signInMethods(id)).toEqual(['google', 'email_code'])
    const { id: other } = await person(host, surface)
    expect(await users.signInMethods(other)).toEqual(['password', 'email_code'])
    const none = await users.create({ email: 'none@example.org' })
    // The code would prove the mailbox.
    expect(await users.signInMethods(none.id)).toEqual(['email_code'])
    for (const nobody of [unknownId, 'nobody']) {
      expect(await users.signInMethods(nobody)).toBeNull()
    }
    await expect(users.signInMethods(JSON.parse('5'))).rejects.toMatchObject({
      code: 'invalid_request',
    })
  })

  it('counts a passkey that verifies the person, where one does without a password', async () => {
    for (const [webauthnMode, uvInitialized, methods] of [
      ['passwordless', true, ['password', 'email_code', 'passkey']],
      ['passwordless', false, ['password', 'email_code']],
      ['secondFactor', true, ['password', 'email_code']],
    ] as const) {
      const host = await openHost({ settings: { webauthnMode } })
      const { id } = await person(host, surface)
      await storedIn(host, surface).passkeys.insert({
        id: 'key',
        ...{ userId: id, name: '', publicKey: '', counter: 0, transports: [], slot: 0 },
        ...{ backupEligible: false, backedUp: false, uvInitialized, createdAt: 1 },
        ...{ lastUsedAt: null, removingBy: null, enrollmentId: null, expiresAt: null },
        ...{ deviceEpoch: 0, credentialEpoch: 0, lastChallenge: '' },
      })
      expect(await host.auth[surface].users.signInMethods(id)).toEqual(methods)
    }
  })

  it('takes three reads at once', async () => {
    const calls: string[] = []
    const backend = withCall(memory(), async (name, work) => {
      calls.push(name)
      return work()
    })
    const host = await openHost({ backend })
    const { id } = await person(host, surface)
    await host.auth[surface].users.signInMethods(id)
    calls.length = 0
    await host.auth[surface].users.signInMethods(id)
    const of = (call: string) => `${surface}_${call}`
    expect(calls.sort()).toEqual(['oauth_identities.find', 'passkeys.find', 'users.get'].map(of))
  })
})
