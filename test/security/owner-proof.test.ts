import { expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import type { ProviderId } from '../../src/identity-providers/providers.js'
import type { InitialSettings } from '../../src/settings/settings.js'
import { memberOf, type OauthHost, oauthHost, webTarget } from '../contract/oauth/oauth-host.js'
import type { HostOptions } from '../support/hosts/hosts.js'
import { textOf } from '../support/hosts/http-client.js'
import { eachSurface } from '../support/hosts/matrix.js'
import {
  eventsOf,
  mailedToken,
  outcomeOf,
  storedIn,
  storedUser,
} from '../support/hosts/open-host.js'
import type { Account } from '../support/outside/provider-stub/account.js'
import { goodPassword, otherPassword } from '../support/people/people.js'
import { faultyBackend, withCall } from '../support/stores/faulty-backend.js'

const victim = 'victim@gmail.com'
const squatters = 'the password of a squatter'
const bothPolicies = (policy: 'off' | 'optional' | 'required') => ({
  mfaPolicyOperator: policy,
  mfaPolicyClient: policy,
})

eachSurface.describe('an account whose mailbox nobody proved', (surface) => {
  const at = (path: string): string => `/v1/auth/${surface}${path}`
  const post = (host: OauthHost, path: string, body: object, bearer?: string) =>
    host.send('POST', at(path), { body, ...(bearer === undefined ? {} : { bearer }) })

  const open = (settings: InitialSettings = {}) =>
    oauthHost({ settings: { emailVerificationRequired: false, ...settings } })

  /** A stranger registers the victim's address and is signed in, since nothing has to be confirmed. */
  async function squatted(host: OauthHost, more: object = {}) {
    const given = { email: victim, password: squatters, ...more }
    const reply = await post(host, '/register', given)
    expect(outcomeOf(reply)).toBe('201')
    return {
      bearer: textOf(reply.json(), 'accessToken'),
      user: await storedUser(host, surface, victim),
    }
  }

  const login = async (host: OauthHost, password: string) =>
    outcomeOf(await post(host, '/login', { email: victim, password }))

  it('takes no factor, passkey, backup code, identity or trusted device', async () => {
    const host = await open()
    const { bearer, user } = await squatted(host)
    const currentPassword = squatters
    const replies = [
      await post(host, '/mfa/totp', { currentPassword }, bearer),
      await post(host, '/mfa/totp/confirm', { code: '000000' }, bearer),
      await post(host, '/webauthn/registration/options', { currentPassword }, bearer),
    ]
    expect(replies.map(outcomeOf)).toEqual(replies.map(() => '403 email_not_verified'))
    const { totpFactors, challenges, backupCodes, trustedDevices } = storedIn(host, surface)
    expect(await totpFactors.get(user.id)).toBeNull()
    expect(await challenges.find({ userId: user.id }, { limit: 9 })).toEqual([])
    expect(await backupCodes.get(user.id)).toBeNull()
    expect(await trustedDevices.find({ userId: user.id }, { limit: 9 })).toEqual([])
  })

  it('has to be confirmed where a second factor is required, whatever the setting says', async () => {
    const host = await open(bothPolicies('required'))
    await host.auth[surface].users.create({ email: victim, password: squatters })
    expect(await login(host, squatters)).toBe('403 email_not_verified')
  })

  it('a link alone confirms no account with a password: the owner names one', async () => {
    const host = await open()
    const { bearer, user } = await squatted(host)
    await post(host, '/email/verify/resend', { email: victim })
    const token = await mailedToken(host, 'verifyEmail', victim)
    expect(outcomeOf(await post(host, '/email/verify', { token }))).toBe(
      '400 password_choice_required',
    )
    expect((await storedUser(host, surface, victim)).emailVerifiedAt).toBeNull()
    const weak = await post(host, '/email/verify', { token, newPassword: 'short' })
    expect(outcomeOf(weak)).toBe('422 password_policy')
    const chosen = await post(host, '/email/verify', { token, newPassword: goodPassword })
    expect([chosen.status, chosen.text]).toEqual([200, '{"status":"verified"}'])
    expect(await login(host, squatters)).toBe('401 invalid_credentials')
    expect(await login(host, goodPassword)).toBe('200')
    expect((await host.send('GET', at('/me'), { bearer })).status).toBe(401)
    const proved = await storedUser(host, surface, victim)
    expect(proved).toMatchObject({
      sessionEpoch: user.sessionEpoch + 1,
      credentialEpoch: user.credentialEpoch + 1,
      deviceEpoch: user.deviceEpoch + 1,
      keptSessionId: null,
    })
    expect(eventsOf(host, 'account.ownerProved')).toMatchObject([{ userId: user.id, by: 'link' }])
    expect(eventsOf(host, 'email.verified')).toMatchObject([{ userId: user.id }])
    const again = await post(host, '/email/verify', { token, newPassword: goodPassword })
    expect(outcomeOf(again)).toBe('400 invalid_token')
  })

  it('keeps its sessions when its owner confirms it with the password it has', async () => {
    const host = await open()
    const { bearer, user } = await squatted(host)
    await post(host, '/email/verify/resend', { email: victim })
    const token = await mailedToken(host, 'verifyEmail', victim)
    const kept = await post(host, '/email/verify', { token, newPassword: squatters })
    expect(outcomeOf(kept)).toBe('200')
    expect((await host.send('GET', at('/me'), { bearer })).status).toBe(200)
    const { credentialEpoch, sessionEpoch, emailVerifiedAt } = await storedUser(
      host,
      surface,
      victim,
    )
    expect([credentialEpoch, sessionEpoch]).toEqual([user.credentialEpoch, user.sessionEpoch])
    expect(emailVerifiedAt).toBe(host.clock.now())
    expect(eventsOf(host, 'account.ownerProved')).toEqual([])
  })

  it('without a password is confirmed by the token alone', async () => {
    const host = await open()
    await host.auth[surface].users.create({ email: victim })
    await post(host, '/email/verify/resend', { email: victim })
    const token = await mailedToken(host, 'verifyEmail', victim)
    expect(outcomeOf(await post(host, '/email/verify', { token }))).toBe('200')
    expect(await storedUser(host, surface, victim)).toMatchObject({
      passwordHash: null,
      emailVerifiedAt: host.clock.now(),
    })
  })

  it.each([
    ['reset', '/password/forgot', 'resetPassword', '/password/reset', '204'],
    ['confirmation', '/email/verify/resend', 'verifyEmail', '/email/verify', '200'],
  ] as const)(
    'its maker cannot void a link of %s by changing the password again and again',
    async (_what, ask, template, use, done) => {
      const host = await open()
      const { bearer } = await squatted(host)
      await post(host, ask, { email: victim })
      const token = await mailedToken(host, template, victim)
      const passwords = [squatters, 'the second of a squatter', 'the third of a squatter']
      for (const [at, currentPassword] of passwords.slice(0, -1).entries()) {
        const change = { currentPassword, newPassword: passwords[at + 1] }
        expect(outcomeOf(await post(host, '/me/password', change, bearer))).toBe('204')
      }
      const body = { token, newPassword: otherPassword }
      expect(outcomeOf(await post(host, use, body))).toBe(done)
      expect(await login(host, 'the third of a squatter')).toBe('401 invalid_credentials')
      expect(await login(host, otherPassword)).toBe('200')
    },
  )

  it('guesses of strangers at logins do not keep the owner from confirming it', async () => {
    const host = await oauthHost({
      settings: { emailVerificationRequired: false, lockoutThreshold: 3 },
    })
    await squatted(host)
    await post(host, '/email/verify/resend', { email: victim })
    const token = await mailedToken(host, 'verifyEmail', victim)
    for (let guess = 0; guess < 3; guess += 1) {
      expect(await login(host, `a wrong guess no. ${guess}`)).toBe('401 invalid_credentials')
    }
    expect(await login(host, squatters)).toBe('429 rate_limited')
    const confirmed = await post(host, '/email/verify', { token, newPassword: goodPassword })
    expect(outcomeOf(confirmed)).toBe('200')
  })

  it('goes to its owner by a reset, which ends what was planted and proves the mailbox', async () => {
    const host = await open()
    const { bearer, user } = await squatted(host)
    await post(host, '/password/forgot', { email: victim })
    const token = await mailedToken(host, 'resetPassword', victim)
    const reset = await post(host, '/password/reset', { token, newPassword: goodPassword })
    expect(outcomeOf(reset)).toBe('204')
    expect((await host.send('GET', at('/me'), { bearer })).status).toBe(401)
    expect(await login(host, squatters)).toBe('401 invalid_credentials')
    expect(await login(host, goodPassword)).toBe('200')
    expect(eventsOf(host, 'account.ownerProved')).toMatchObject([{ userId: user.id, by: 'reset' }])
    expect(eventsOf(host, 'password.changed')).toMatchObject([{ by: 'reset' }])
  })

  it('loses the name that a stranger typed and the terms that a stranger accepted', async () => {
    const terms = '2026-01'
    const host = await open({ registrationTermsVersion: terms })
    const planted = { name: 'You won at https://evil.example', acceptedTermsVersion: terms }
    const { user } = await squatted(host, planted)
    expect(user).toMatchObject({ name: planted.name, termsVersion: terms })
    await post(host, '/password/forgot', { email: victim })
    const token = await mailedToken(host, 'resetPassword', victim)
    const reset = await post(host, '/password/reset', { token, newPassword: goodPassword })
    expect(outcomeOf(reset)).toBe('204')
    expect(await storedUser(host, surface, victim)).toMatchObject({ name: '', termsVersion: null })
    await host.auth.close()
    expect(host.mailer.last('passwordChanged', victim).name).toBe('')
  })

  it('keeps the name that the host gave it', async () => {
    const host = await open()
    await host.auth[surface].users.create({ email: victim, password: squatters, name: 'Ada' })
    await post(host, '/password/forgot', { email: victim })
    const token = await mailedToken(host, 'resetPassword', victim)
    await post(host, '/password/reset', { token, newPassword: goodPassword })
    const { emailVerifiedAt, name } = await storedUser(host, surface, victim)
    expect([emailVerifiedAt, name]).toEqual([host.clock.now(), 'Ada'])
  })

  /** A host whose call of this name waits for `meanwhile` before it is made, or after it. */
  async function interrupted(call: string, when: 'before' | 'after') {
    const late = { meanwhile: async (): Promise<unknown> => null }
    const interrupt = async () => {
      const { meanwhile } = late
      late.meanwhile = async () => null
      await meanwhile()
    }
    const backend = withCall(memory(), async (name, work) => {
      if (name !== `${surface}_${call}`) return work()
      if (when === 'before') await interrupt()
      const done = await work()
      if (when === 'after') await interrupt()
      return done
    })
    const host = await oauthHost({ backend, settings: { emailVerificationRequired: false } })
    const { bearer } = await squatted(host)
    await post(host, '/password/forgot', { email: victim })
    const token = await mailedToken(host, 'resetPassword', victim)
    const reset = () => post(host, '/password/reset', { token, newPassword: goodPassword })
    const rename = () => host.send('PATCH', at('/me'), { bearer, body: { name: 'You won' } })
    return { host, late, reset, rename }
  }

  it('is not renamed by a stranger whose request was let in before the proof', async () => {
    const { host, late, reset, rename } = await interrupted('users.update', 'before')
    late.meanwhile = reset
    expect(outcomeOf(await rename())).toBe('401 session_revoked')
    expect((await storedUser(host, surface, victim)).name).toBe('')
  })

  it('is not renamed by a stranger while the proof ends the sessions', async () => {
    const { host, late, reset, rename } = await interrupted('users.update', 'after')
    const outcomes: string[] = []
    late.meanwhile = async () => outcomes.push(outcomeOf(await rename()))
    expect(outcomeOf(await reset())).toBe('204')
    expect(outcomes).toEqual(['401 session_revoked'])
    expect((await storedUser(host, surface, victim)).name).toBe('')
  })

  it.each([
    ['2026-01', '2026-01', '2026-01'],
    ['2026-01', '2025-01', null],
    ['', '2025-01', '2025-01'],
    ['', undefined, null],
  ])(
    'has the name that comes with the link of its owner; where "%s" is asked for, the terms %s',
    async (required, accepted, termsVersion) => {
      const host = await open({ registrationTermsVersion: required })
      const squatters = required === '' ? {} : { acceptedTermsVersion: required }
      await squatted(host, { name: 'You won', ...squatters })
      await post(host, '/email/verify/resend', { email: victim })
      const token = await mailedToken(host, 'verifyEmail', victim)
      const owners = { name: 'Ada', acceptedTermsVersion: accepted }
      const body = { token, newPassword: goodPassword, ...owners }
      expect(outcomeOf(await post(host, '/email/verify', body))).toBe('200')
      expect(await storedUser(host, surface, victim)).toMatchObject({ name: 'Ada', termsVersion })
    },
  )

  it('is not proved by the token for a password that is too old, which a login gives to its caller', async () => {
    const host = await open({ passwordMaxAge: '30d', ...bothPolicies('optional') })
    await squatted(host)
    await host.clock.advance(31 * 24 * 60 * 60 * 1000)
    const tooOld = await post(host, '/login', { email: victim, password: squatters })
    const token = textOf(tooOld.json(), 'passwordToken')
    const reset = await post(host, '/password/reset', { token, newPassword: otherPassword })
    expect(outcomeOf(reset)).toBe('204')
    const again = await post(host, '/mobile/login', { email: victim, password: otherPassword })
    const bearer = textOf(again.json(), 'accessToken')
    const me = await host.send('GET', at('/me'), { bearer })
    expect(me.json()).toMatchObject({ emailVerified: false })
    const enrolled = await post(host, '/mfa/totp', { currentPassword: otherPassword }, bearer)
    expect(outcomeOf(enrolled)).toBe('403 email_not_verified')
    expect(eventsOf(host, 'account.ownerProved')).toEqual([])
    expect(eventsOf(host, 'email.verified')).toEqual([])
  })
})

const byProvider: readonly (readonly [string, ProviderId, Partial<Account>, string])[] = [
  ['Google, of gmail.com', 'google', {}, 'in'],
  [
    'Google, of a Workspace domain',
    'google',
    { email: 'victim@example.org', hostedDomain: 'example.org' },
    'in',
  ],
  [
    'Google, of a domain that is not Google’s',
    'google',
    { email: 'victim@example.org' },
    'account_exists_link_required',
  ],
  [
    'Google, of a Workspace of somebody else',
    'google',
    { email: 'victim@example.org', hostedDomain: 'other.example' },
    'account_exists_link_required',
  ],
  ['Apple, of a mailbox that it runs', 'apple', { email: 'victim@icloud.com' }, 'in'],
  ['Apple, of another mailbox', 'apple', {}, 'account_exists_link_required'],
  ['Microsoft, of a tenant’s own domain', 'microsoft', {}, 'in'],
  ['GitHub, primary and confirmed', 'github', {}, 'account_exists_link_required'],
]

eachSurface.describe('a squatted address and a provider', (surface) => {
  const at = (path: string): string => `/v1/auth/${surface}${path}`

  async function squattedBy(email: string, options: HostOptions = {}) {
    const host = await oauthHost({ ...options, settings: { emailVerificationRequired: false } })
    const reply = await host.send('POST', at('/register'), { body: { email, password: squatters } })
    const bearer = textOf(reply.json(), 'accessToken')
    return { host, bearer, user: await storedUser(host, surface, email) }
  }

  it.each(byProvider)('%s: %s says %o', async (_what, provider, more, told) => {
    const name = 'Ada Lovelace'
    const account: Account = { subject: '77', email: victim, verified: true, name, ...more }
    const email = account.email ?? victim
    const { host, bearer, user } = await squattedBy(email)
    await host.auth.close()
    host.mailer.clear()
    const reply = await host.signIn(surface, provider, account)
    expect(memberOf(reply, 'error') || 'in').toBe(told)
    const after = await storedUser(host, surface, email)
    const me = await host.send('GET', at('/me'), { bearer })
    const byPassword = await host.send('POST', at('/login'), {
      body: { email, password: squatters },
    })
    if (told !== 'in') {
      expect([after.emailVerifiedAt, me.status, byPassword.status]).toEqual([null, 200, 200])
      return
    }
    expect(after).toMatchObject({
      id: user.id,
      passwordHash: null,
      emailVerifiedAt: host.clock.now(),
      name: 'Ada Lovelace',
    })
    expect([me.status, byPassword.status]).toEqual([401, 401])
    expect(eventsOf(host, 'account.ownerProved')).toMatchObject([
      { userId: user.id, by: 'provider' },
    ])
    // The provider need not be the one that runs the mailbox: its owner gets a mail.
    await host.auth.close()
    const linked = host.mailer.last('identityChanged', email)
    expect(linked.data).toMatchObject({ provider, change: 'linked' })
    // A request may come from a new network, of which the owner is told as well.
    const others = host.mailer.sent.filter(({ template }) => template !== 'newDevice')
    expect(others).toEqual([linked])
    // And from now on it is the way in.
    const again = await host.signIn(surface, provider, account)
    expect([memberOf(again, 'error'), again.setCookies.length > 0]).toEqual(['', true])
  })

  it.each([
    ['its answer is lost', 'after'],
    ['it fails', 'before'],
  ] as const)('mails its owner once where the identity is stored and %s', async (_, when) => {
    const { backend, failNext } = faultyBackend(memory())
    const { host, user } = await squattedBy(victim, { backend })
    const signIn = () =>
      host.signIn(surface, 'google', { subject: '77', email: victim, verified: true })
    failNext(`${surface}_oauth_identities.insert`, when)
    await signIn()
    expect(memberOf(await signIn(), 'error')).toBe('')
    await host.auth.close()
    expect(eventsOf(host, 'identity.linked')).toMatchObject([{ targetId: user.id }])
    const mails = host.mailer.sent.filter(({ template }) => template === 'identityChanged')
    expect(mails).toMatchObject([{ to: victim }])
  })

  it('ends what was planted at the next sign-in, where the first one was cut off before it did', async () => {
    const { backend, failNext } = faultyBackend(memory())
    const { host, bearer, user } = await squattedBy(victim, { backend })
    const signIn = () =>
      host.signIn(surface, 'google', { subject: '77', email: victim, verified: true })
    const me = async () => outcomeOf(await host.send('GET', at('/me'), { bearer }))
    failNext('denylist.put', 'before')
    expect(outcomeOf(await signIn())).toBe('503 service_unavailable')
    // Proved and cleared by then, and its sessions still open.
    expect((await storedUser(host, surface, victim)).passwordHash).toBeNull()
    expect(await me()).toBe('200')
    expect(memberOf(await signIn(), 'error')).toBe('')
    expect(await me()).toBe('401 session_revoked')
    const sessions = await storedIn(host, surface).sessions.find({ userId: user.id }, { limit: 9 })
    expect(sessions.filter(({ active }) => active)).toHaveLength(1)
  })

  it.each<[string, (host: OauthHost, id: string) => Promise<unknown>]>([
    ['with a role', (host, id) => host.auth[surface].users.update(id, { systemRole: 'editor' })],
    [
      'with a membership',
      (host, id) => host.auth[surface].users.update(id, { memberships: [{ tenantId: 't' }] }),
    ],
    ['that is disabled', (host, id) => host.auth[surface].users.update(id, { enabled: false })],
    [
      'with a binding',
      (host, id) =>
        storedIn(host, surface).roleBindings.insert({
          id: `${id}:role:`,
          userId: id,
          roleId: 'role',
          tenantId: '',
          createdAt: 1,
          pendingSince: null,
          expiresAt: null,
        }),
    ],
  ])('proves no account %s', async (_what, change) => {
    const { host, user } = await squattedBy(victim)
    await change(host, user.id)
    const reply = await host.signIn(surface, 'google', {
      subject: '77',
      email: victim,
      verified: true,
    })
    expect(memberOf(reply, 'error')).toBe('account_exists_link_required')
    expect((await storedUser(host, surface, victim)).passwordHash).not.toBeNull()
  })

  it('proves no account that the host made', async () => {
    const host = await oauthHost({ settings: { emailVerificationRequired: false } })
    await host.auth[surface].users.create({ email: victim, password: otherPassword })
    const reply = await host.signIn(surface, 'google', {
      subject: '77',
      email: victim,
      verified: true,
    })
    expect(memberOf(reply, 'error')).toBe('account_exists_link_required')
    expect(webTarget[surface]).toBeTruthy()
  })
})
