import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { ProviderId } from '../../../src/identity-providers/providers.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { HostKind, HostOptions } from '../../support/hosts/hosts.js'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import {
  eventsOf,
  mailedToken,
  outcomeOf,
  storedIn,
  storedUser,
} from '../../support/hosts/open-host.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import { goodPassword } from '../../support/people/people.js'
import { login } from '../../support/people/recovery-steps.js'
import {
  registerHere,
  registrationCookieOf,
  verifyWith,
} from '../../support/people/registration-steps.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import {
  identityOf,
  locationOf,
  memberOf,
  type OauthHost,
  oauthHost,
  storeSettings,
  webTarget,
} from './oauth-host.js'

const email = 'ann@company.example'
const ann: Account = { subject: '1', email, verified: true, name: 'Ann' }

/** A host that lets in the people of one domain alone. */
function companyHost(surface: Surface, options: HostOptions = {}, kind?: HostKind) {
  const rule = { slug: 'company', domain: 'company.example', surface }
  const settings = { registrationAllowedDomains: [rule], ...options.settings }
  return oauthHost({ ...options, settings }, kind)
}

/** Signs up at a provider that does not vouch; `cookie` is what the browser keeps from now on. */
async function signUp(
  host: OauthHost,
  surface: Surface,
  account: Account = ann,
  provider: ProviderId = 'github',
) {
  const reply = await host.signIn(surface, provider, account)
  expect([memberOf(reply, 'status'), memberOf(reply, 'error')]).toEqual([
    'verificationRequired',
    '',
  ])
  return { reply, cookie: registrationCookieOf(reply) }
}

const isIn = (reply: Reply, surface: Surface) =>
  reply.status === 302 && locationOf(reply) === webTarget[surface]

const passwordOff = (surface: Surface) =>
  surface === 'operator' ? 'passwordLoginOperatorEnabled' : 'passwordLoginClientEnabled'

const link = (host: OauthHost) => mailedToken(host, 'verifyEmail', email)

eachHost.describe('a sign-up that waits for a mailed link', (kind) => {
  eachSurface.it('becomes an account in the browser that came back', async (surface) => {
    const host = await companyHost(surface, {}, kind)
    const { reply, cookie } = await signUp(host, surface)
    expect(reply.status).toBe(302)
    expect(reply.setCookies.filter((one) => !one.includes('registration'))).toEqual([])
    expect(await host.auth[surface].users.findByEmail(email)).toBeNull()
    expect(await identityOf(host, surface, 'github', ann)).toBeNull()
    const [waiting] = eventsOf(host, 'account.registrationRequested')
    const verified = await verifyWith(host, surface, { token: await link(host) }, cookie)
    expect(outcomeOf(verified)).toBe('200')
    const user = await storedUser(host, surface, email)
    expect(user).toMatchObject({
      id: waiting?.userId,
      name: 'Ann',
      passwordHash: null,
      selfRegistered: true,
      emailVerifiedAt: host.clock.now(),
    })
    expect(await identityOf(host, surface, 'github', ann)).toMatchObject({ userId: user.id })
    expect(isIn(await host.signIn(surface, 'github', ann), surface)).toBe(true)
  })

  eachSurface.it('becomes an account in the app that exchanged the code', async (surface) => {
    const host = await companyHost(surface, {}, kind)
    const url = await host.departFromApp(surface, 'github', { appState: 'mine' })
    const back = await host.comeBack(surface, 'github', host.stub.agree(url, ann))
    expect([memberOf(back, 'status'), memberOf(back, 'state')]).toEqual([
      'verificationRequired',
      'mine',
    ])
    expect(back.setCookies).toEqual([])
    const code = memberOf(back, 'code')
    const strangers = { codeVerifier: 'x'.repeat(43) }
    expect(outcomeOf(await host.exchange(surface, code, strangers))).toBe('400 invalid_token')
    const other = surface === 'operator' ? 'client' : 'operator'
    expect(outcomeOf(await host.exchange(other, code))).toBe('400 invalid_token')
    const exchanged = await host.exchange(surface, code)
    expect(exchanged.json()).toMatchObject({ status: 'verificationRequired', expiresIn: 86_400 })
    const registrationKey = textOf(exchanged.json(), 'registrationKey')
    const body = { token: await link(host), registrationKey }
    expect(outcomeOf(await host.send('POST', `/v1/auth/${surface}/email/verify`, { body }))).toBe(
      '200',
    )
    expect((await host.signInApp(surface, 'github', ann)).json()).toMatchObject({
      status: 'authenticated',
      user: { email, name: 'Ann' },
    })
  })
})

eachSurface.describe('a sign-up that waits for a mailed link', (surface) => {
  it.each([
    ['github', {}],
    ['google', {}],
    ['google', { hostedDomain: 'other.example' }],
    ['apple', {}],
  ] as const)('is one by %s, %j', async (provider, more) => {
    const host = await companyHost(surface)
    const account = { ...ann, ...more }
    const { cookie } = await signUp(host, surface, account, provider)
    expect(await host.auth[surface].users.findByEmail(email)).toBeNull()
    await verifyWith(host, surface, { token: await link(host) }, cookie)
    expect(await storedUser(host, surface, email)).toMatchObject({ name: 'Ann' })
    const again = await host.signIn(surface, provider, account)
    expect(isIn(again, surface)).toBe(true)
  })

  it('is none where the provider vouches, or the surface names no domain', async () => {
    const host = await companyHost(surface)
    const hosted = { ...ann, hostedDomain: 'company.example' }
    expect(isIn(await host.signIn(surface, 'google', hosted), surface)).toBe(true)
    const other = surface === 'operator' ? 'client' : 'operator'
    expect(isIn(await host.signIn(other, 'github', ann), other)).toBe(true)
  })

  it('drops the identity where the link is opened in another browser', async () => {
    const host = await companyHost(surface)
    const { cookie } = await signUp(host, surface, { ...ann, subject: '666', name: 'Mallory' })
    const token = await link(host)
    const asked = await verifyWith(host, surface, { token })
    expect(outcomeOf(asked)).toBe('400 password_choice_required')
    const chosen = { token, newPassword: goodPassword }
    expect(outcomeOf(await verifyWith(host, surface, chosen))).toBe('200')
    expect(await storedUser(host, surface, email)).toMatchObject({ name: '' })
    const late = await verifyWith(host, surface, { token }, cookie)
    expect(outcomeOf(late)).toBe('400 invalid_token')
    expect(await identityOf(host, surface, 'github', { ...ann, subject: '666' })).toBeNull()
    expect(outcomeOf(await login(host, surface, email, goodPassword))).toBe('200')
  })

  it('opened twice at once is one account, with the identity', async () => {
    const host = await companyHost(surface)
    const { cookie } = await signUp(host, surface)
    const token = await link(host)
    const both = await Promise.all(
      [1, 2].map(() => verifyWith(host, surface, { token }, cookie).then(outcomeOf)),
    )
    expect(both).toContain('200')
    expect(both.every((one) => ['200', '400 invalid_token'].includes(one))).toBe(true)
    const users = await storedIn(host, surface).users.find({ kind: '' }, { limit: 9 })
    expect(users).toHaveLength(1)
    expect(await identityOf(host, surface, 'github', ann)).toMatchObject({ userId: users[0]?.id })
    expect(outcomeOf(await verifyWith(host, surface, { token }))).toBe('400 invalid_token')
  })

  it('opened at once here and elsewhere is one account', async () => {
    const host = await companyHost(surface)
    const { cookie } = await signUp(host, surface)
    const token = await link(host)
    await Promise.all([
      verifyWith(host, surface, { token, newPassword: goodPassword }),
      verifyWith(host, surface, { token }, cookie),
    ])
    const [user, ...more] = await storedIn(host, surface).users.find({ kind: '' }, { limit: 9 })
    expect(more).toEqual([])
    const identity = await identityOf(host, surface, 'github', ann)
    expect(user?.passwordHash === null).toBe(identity !== null)
    if (identity !== null) expect(identity.userId).toBe(user?.id)
  })

  it.each([
    'oauth_identities.insert',
    'users.insert',
    'pending_registrations.take',
    'intents.take',
  ])('cut off at %s is completed by the same link', async (call) => {
    for (const fault of ['before', 'after'] as const) {
      const faulty = faultyBackend(memory())
      const host = await companyHost(surface, { backend: faulty.backend })
      const { cookie } = await signUp(host, surface)
      const token = await link(host)
      faulty.failNext(`${surface}_${call}`, fault)
      await verifyWith(host, surface, { token }, cookie)
      faulty.heal()
      await verifyWith(host, surface, { token }, cookie)
      const { id } = await storedUser(host, surface, email)
      expect(await identityOf(host, surface, 'github', ann)).toMatchObject({ userId: id })
      expect(isIn(await host.signIn(surface, 'github', ann), surface)).toBe(true)
    }
  })

  it('cut off before its account and begun anew is completed by the new link', async () => {
    const faulty = faultyBackend(memory())
    const host = await companyHost(surface, { backend: faulty.backend })
    const { cookie } = await signUp(host, surface)
    const first = await link(host)
    faulty.failNext(`${surface}_users.insert`, 'before', Number.POSITIVE_INFINITY)
    await verifyWith(host, surface, { token: first }, cookie)
    faulty.heal()
    expect(await identityOf(host, surface, 'github', ann)).not.toBeNull()
    const anew = await signUp(host, surface)
    const verified = await verifyWith(host, surface, { token: await link(host) }, anew.cookie)
    expect(outcomeOf(verified)).toBe('200')
    const { id } = await storedUser(host, surface, email)
    expect(await identityOf(host, surface, 'github', ann)).toMatchObject({ userId: id })
    expect(isIn(await host.signIn(surface, 'github', ann), surface)).toBe(true)
  })

  it('has the name that Apple told once, also where it begins anew', async () => {
    const host = await companyHost(surface)
    await signUp(host, surface, ann, 'apple')
    const { cookie } = await signUp(host, surface, { subject: '1', email, verified: true }, 'apple')
    await verifyWith(host, surface, { token: await link(host) }, cookie)
    expect(await storedUser(host, surface, email)).toMatchObject({ name: 'Ann' })
  })

  it('takes a password too, where one comes with the link', async () => {
    const host = await companyHost(surface)
    const { cookie } = await signUp(host, surface)
    const shown = { token: await link(host), newPassword: goodPassword }
    expect(outcomeOf(await verifyWith(host, surface, shown, cookie))).toBe('200')
    expect(outcomeOf(await login(host, surface, email, goodPassword))).toBe('200')
    expect(isIn(await host.signIn(surface, 'github', ann), surface)).toBe(true)
  })

  it('drops an identity that another account has by then', async () => {
    const host = await companyHost(surface)
    const { cookie } = await signUp(host, surface)
    const token = await link(host)
    // The same account at the provider proves another address first.
    const second = { ...ann, email: 'ann.b@company.example' }
    const other = await signUp(host, surface, second)
    const first = await mailedToken(host, 'verifyEmail', second.email)
    expect(outcomeOf(await verifyWith(host, surface, { token: first }, other.cookie))).toBe('200')
    const owner = await storedUser(host, surface, second.email)
    const asked = await verifyWith(host, surface, { token }, cookie)
    expect(outcomeOf(asked)).toBe('400 password_choice_required')
    const chosen = { token, newPassword: goodPassword }
    expect(outcomeOf(await verifyWith(host, surface, chosen, cookie))).toBe('200')
    expect(await identityOf(host, surface, 'github', ann)).toMatchObject({ userId: owner.id })
    expect(await storedUser(host, surface, email)).toMatchObject({ name: '' })
  })

  it('needs no password login, but the browser that came back', async () => {
    const host = await companyHost(surface, { settings: { [passwordOff(surface)]: false } })
    const { cookie } = await signUp(host, surface)
    const token = await link(host)
    for (const more of [{}, { newPassword: goodPassword }]) {
      const elsewhere = await verifyWith(host, surface, { token, ...more })
      expect(outcomeOf(elsewhere)).toBe('403 password_login_disabled')
    }
    expect(outcomeOf(await verifyWith(host, surface, { token }, cookie))).toBe('200')
    expect(isIn(await host.signIn(surface, 'github', ann), surface)).toBe(true)
  })

  it.each([
    ['registration is switched off', 'registration', '403 registration_disabled'],
    ['the domain is taken off the list', 'domains', '403 email_domain_not_allowed'],
    ['the provider is switched off', 'provider', '400 password_choice_required'],
  ])('is judged by the settings of the day of the link: %s', async (_what, which, outcome) => {
    const host = await companyHost(surface)
    const { cookie } = await signUp(host, surface)
    const token = await link(host)
    const name = surface === 'operator' ? 'Operator' : 'Client'
    const stored = {
      registration: { [`registration${name}Enabled`]: 'false' },
      domains: { 'registrationAllowedDomains.company.domain': 'other.example' },
      provider: { [`github${name}Enabled`]: 'false' },
    }[which]
    await storeSettings(host, stored ?? {})
    expect(outcomeOf(await verifyWith(host, surface, { token }, cookie))).toBe(outcome)
    expect(await identityOf(host, surface, 'github', ann)).toBeNull()
    expect(await host.auth[surface].users.findByEmail(email)).toBeNull()
  })

  it('is refused as a registration is, whether the address has an account or not', async () => {
    const host = await companyHost(surface)
    const there = { password: goodPassword, emailVerified: true }
    await host.auth[surface].users.create({ email: 'there@other.example', ...there })
    for (const address of ['there@other.example', 'new@other.example']) {
      const outside = { ...ann, email: address }
      const reply = await host.signIn(surface, 'github', outside)
      expect(memberOf(reply, 'error')).toBe('email_domain_not_allowed')
      expect(reply.setCookies.filter((one) => one.includes('registration'))).toEqual([])
    }
    const name = surface === 'operator' ? 'Operator' : 'Client'
    await storeSettings(host, { [`registration${name}Enabled`]: 'false' })
    await host.auth[surface].users.create({ email, ...there })
    for (const address of [email, 'new@company.example']) {
      const reply = await host.signIn(surface, 'github', { ...ann, email: address })
      expect(memberOf(reply, 'error')).toBe('registration_disabled')
    }
  })

  it.each([
    ['an account', { enabled: true }],
    ['a disabled account', { enabled: false }],
  ])('answers alike for the address of %s, which its owner is told by mail', async (_what, how) => {
    const host = await companyHost(surface)
    const free = await signUp(host, surface, { ...ann, subject: '2', email: 'new@company.example' })
    const { users } = host.auth[surface]
    const { id } = await users.create({ email, password: goodPassword })
    await users.update(id, how)
    const taken = await signUp(host, surface)
    const shapeOf = ({ reply }: typeof free) => [
      reply.status,
      locationOf(reply),
      reply.setCookies.map((one) => one.replace(/=[\w-]{43}/, '=…')),
    ]
    expect(shapeOf(taken)).toEqual(shapeOf(free))
    await host.auth.close()
    expect(host.mailer.sent.at(-1)).toMatchObject({ to: email, template: 'accountExists' })
    const { oauthIdentities } = storedIn(host, surface)
    expect(await oauthIdentities.find({ userId: id }, { limit: 9 })).toEqual([])
  })

  it('keeps what the browser registered before, also behind the form of Apple', async () => {
    const host = await companyHost(surface)
    const first = 'first@company.example'
    const { cookie } = await registerHere(host, surface, { email: first, name: 'First' })
    const start = await host.send(
      'GET',
      `/v1/auth/${surface}/oauth/apple/start?${new URLSearchParams({ redirectUri: webTarget[surface] })}`,
      { cookie },
    )
    const flow = start.setCookies[0]?.split(';')[0] ?? ''
    const parameters = host.stub.agree(locationOf(start), ann)
    const back = await host.comeBack(surface, 'apple', parameters, flow)
    const kept = registrationCookieOf(back)
    const token = await mailedToken(host, 'verifyEmail', first)
    expect(outcomeOf(await verifyWith(host, surface, { token }, kept))).toBe('200')
    expect(await storedUser(host, surface, first)).toMatchObject({ name: 'First' })
    expect(outcomeOf(await verifyWith(host, surface, { token: await link(host) }, kept))).toBe(
      '200',
    )
    expect(await storedUser(host, surface, email)).toMatchObject({
      name: 'Ann',
      passwordHash: null,
    })
  })

  it('is listed among the registrations, and removed with them', async () => {
    const host = await companyHost(surface)
    await registerHere(host, surface, { email: 'first@company.example' })
    await host.clock.advance(1)
    const { cookie } = await signUp(host, surface)
    const { registrations } = host.auth[surface]
    const one = await registrations.list({ limit: 1 })
    const rest = await registrations.list({ limit: 1, after: one.next ?? '' })
    const all = [...one.registrations, ...rest.registrations]
    expect(all.map((each) => each.email)).toEqual(['first@company.example', email])
    expect(rest.next).toBeNull()
    const token = await link(host)
    expect(await registrations.remove(all[1]?.id ?? '')).toBe(true)
    expect(outcomeOf(await verifyWith(host, surface, { token }, cookie))).toBe('400 invalid_token')
  })

  it('leaves nothing of the provider when the account of its address is deleted', async () => {
    const host = await companyHost(surface)
    const { id } = await host.auth[surface].users.create({ email, password: goodPassword })
    const { cookie } = await signUp(host, surface)
    const exported = await host.auth[surface].users.export(id)
    const members = Object.values(exported?.collections ?? {}).flat()
    expect(members).toContainEqual(
      expect.objectContaining({ method: 'provider', provider: 'github', subject: '1' }),
    )
    await host.auth[surface].users.delete(id)
    const key = cookie?.split('=')[1] ?? ''
    expect(key).not.toBe('')
    const { pendingRegistrations } = storedIn(host, surface)
    const left = await pendingRegistrations.find({ method: '' }, { limit: 9 })
    expect(left).toMatchObject([{ provider: null, issuer: null, subject: null, name: '' }])
  })

  it('is told to a signed-in browser by nothing: no session is opened', async () => {
    const host = await companyHost(surface)
    const { reply } = await signUp(host, surface)
    expect(reply.setCookies).toHaveLength(1)
    expect(eventsOf(host, 'login.failed')).toEqual([])
    expect(eventsOf(host, 'login.succeeded')).toEqual([])
  })
})
