import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import {
  eventsOf,
  generousSurfaces,
  mailedToken,
  openHost,
  outcomeOf,
  seenOf,
  storedUser,
} from '../../support/hosts/open-host.js'
import { enrolled } from '../../support/people/authenticator.js'
import {
  goodPassword,
  otherPassword,
  person,
  type SignedIn,
  signedInPerson,
  signIn,
} from '../../support/people/people.js'
import { faultyBackend, withCall } from '../../support/stores/faulty-backend.js'
import { settingsHost } from '../settings/settings-host.js'

const newEmail = 'countess@example.net'
const minute = 60_000

interface Requester extends Pick<SignedIn, 'bearer'> {
  readonly password?: string
}

function request(host: ContractHost, surface: Surface, who: Requester, more: object = {}) {
  const body = { newEmail, ...(who.password ? { currentPassword: who.password } : {}), ...more }
  return host.send('POST', `/v1/auth/${surface}/me/email`, { bearer: who.bearer, body })
}

/** As the page does that the link leads to, in the browser that asked for the change. */
function verify(
  host: ContractHost,
  surface: Surface,
  { token, bearer }: { readonly token: string; readonly bearer?: string },
  more: object = {},
) {
  const body = { token, ...more }
  return host.send('POST', `/v1/auth/${surface}/email/verify`, { body, ...(bearer && { bearer }) })
}

function login(host: ContractHost, surface: Surface, email: string) {
  const body = { email, password: goodPassword }
  return host.send('POST', `/v1/auth/${surface}/login`, { body })
}

const me = (host: ContractHost, surface: Surface, { bearer }: Pick<SignedIn, 'bearer'>) =>
  host.send('GET', `/v1/auth/${surface}/me`, { bearer })

/** Somebody who asked for another address, and the token mailed to it. */
async function asked(host: ContractHost, surface: Surface, typed = newEmail) {
  const who = await signedInPerson(host, surface)
  const reply = await request(host, surface, who, { newEmail: typed })
  expect([reply.status, reply.text]).toEqual([202, '{"status":"accepted"}'])
  return { ...who, token: await mailedToken(host, 'changeEmail', newEmail) }
}

eachHost.describe('another address', (kind) => {
  eachSurface.it('is in force once it is confirmed, and not before', async (surface) => {
    const host = await openHost({}, kind)
    const who = await asked(host, surface, ' Countess@Example.NET ')
    expect((await me(host, surface, who)).json()).toMatchObject({ email: who.email })
    expect(outcomeOf(await login(host, surface, newEmail))).toBe('401 invalid_credentials')

    const done = await verify(host, surface, who)
    expect([done.status, done.text]).toEqual([200, '{"status":"verified"}'])
    const shown = { id: who.id, email: 'Countess@Example.NET', emailVerified: true }
    // T-12: the session goes on.
    expect((await me(host, surface, who)).json()).toMatchObject(shown)
    expect((await login(host, surface, newEmail)).status).toBe(200)
    expect(outcomeOf(await login(host, surface, who.email))).toBe('401 invalid_credentials')
    expect(outcomeOf(await verify(host, surface, who))).toBe('400 invalid_token')
    expect(eventsOf(host, 'email.changed')).toMatchObject([{ surface, userId: who.id }])
  })
})

eachSurface.describe('another address', (surface) => {
  it('is told to the present one, when asked for and when done', async () => {
    const host = await openHost()
    const who = await asked(host, surface)
    const mails = () => host.mailer.sent.map(({ to, template, name }) => [to, template, name])
    expect(mails()).toHaveLength(2)
    expect(mails()).toContainEqual([who.email, 'emailChangeRequested', 'Ada'])
    // Nobody proved yet to own it.
    expect(mails()).toContainEqual([newEmail, 'changeEmail', ''])
    await verify(host, surface, who)
    await host.auth.close()
    const mail = host.mailer.last('emailChanged', who.email)
    expect(mail.data).toEqual({ at: host.clock.now(), newEmail })
  })

  it('forgives the wrong guesses that strangers made at it before', async () => {
    const host = await openHost({ settings: { lockoutThreshold: 3 } })
    const who = await asked(host, surface)
    for (let n = 0; n < 3; n += 1) {
      const body = { email: newEmail, password: otherPassword }
      await host.send('POST', `/v1/auth/${surface}/login`, { body })
    }
    expect(outcomeOf(await login(host, surface, newEmail))).toBe('429 rate_limited')
    expect(outcomeOf(await verify(host, surface, who))).toBe('200')
    expect(outcomeOf(await login(host, surface, newEmail))).toBe('200')
  })

  it('tells the present one nothing where that is switched off', async () => {
    const host = await openHost({ settings: { notifySecurityChanges: false } })
    const who = await asked(host, surface)
    await verify(host, surface, who)
    await host.auth.close()
    expect(host.mailer.count(who.email)).toBe(0)
  })

  it('wants the current password', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    for (const currentPassword of [undefined, otherPassword]) {
      const refused = await request(host, surface, { bearer: who.bearer }, { currentPassword })
      expectProblem(refused, 401, 'invalid_credentials')
    }
    await host.auth.close()
    expect(host.mailer.sent.filter(({ template }) => template === 'changeEmail')).toEqual([])
  })

  it('wants a proof, and no password, of who has a factor', async () => {
    const host = await openHost()
    const who = await enrolled(host, surface)
    const refused = await request(host, surface, who)
    expect(outcomeOf(refused)).toBe('403 step_up_required')
    const code = await who.nextCode()
    const body = { method: 'totp', code }
    const { bearer } = who
    const proved = await host.send('POST', `/v1/auth/${surface}/step-up`, { bearer, body })
    expect(proved.status).toBe(200)
    expect((await request(host, surface, { bearer })).status).toBe(202)
  })

  it('tells no caller whether the address has an account; its owner is told', async () => {
    const host = await openHost({ surfaces: generousSurfaces })
    const who = await signedInPerson(host, surface)
    const taken = await person(host, surface)
    const disabled = await person(host, surface)
    await host.auth[surface].users.update(disabled.id, { enabled: false })
    const seen = []
    for (const address of ['free@example.org', taken.email, disabled.email, who.email]) {
      seen.push(seenOf(await request(host, surface, who, { newEmail: address })))
    }
    expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(1)
    await host.auth.close()
    const sentTo = (to: string) =>
      host.mailer.sent.filter((mail) => mail.to === to).map(({ template }) => template)
    expect(sentTo('free@example.org')).toEqual(['changeEmail'])
    expect(sentTo(taken.email)).toEqual(['accountExists'])
    expect(sentTo(who.email)).toEqual(new Array(4).fill('emailChangeRequested'))
  })

  it('is not had by who confirms it after somebody else registered it', async () => {
    const host = await openHost()
    const who = await asked(host, surface)
    await host.auth[surface].users.create({ email: newEmail, password: otherPassword })
    expect(outcomeOf(await verify(host, surface, who))).toBe('400 invalid_token')
    expect((await me(host, surface, who)).json()).toMatchObject({ email: who.email })
    expect(eventsOf(host, 'email.changed')).toEqual([])
  })

  it('of a registration and a confirmation at once, one gets the address', async () => {
    for (let round = 0; round < 10; round += 1) {
      const host = await openHost({ settings: { emailVerificationRequired: false } })
      const who = await asked(host, surface)
      const body = { email: newEmail, password: otherPassword }
      const [registered, confirmed] = await Promise.all([
        host.send('POST', `/v1/auth/${surface}/register`, { body }),
        verify(host, surface, who),
      ])
      const outcomes = [outcomeOf(registered), outcomeOf(confirmed)]
      expect([
        ['201', '400 invalid_token'],
        ['409 email_taken', '200'],
      ]).toContainEqual(outcomes)
      const { id } = await storedUser(host, surface, newEmail)
      expect(id === who.id).toBe(confirmed.status === 200)
    }
  })

  it.each([
    ['no address', '400 invalid_request', { newEmail: 'nobody' }],
    ['nothing', '400 invalid_request', { newEmail: undefined }],
    ['a machine’s', '422 email_not_allowed', { newEmail: 'robot@machines.invalid' }],
    ['a member too many', '400 invalid_request', { email: 'x@example.org' }],
  ])('refuses %s: %s', async (_what, outcome, more) => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    expect(outcomeOf(await request(host, surface, who, more))).toBe(outcome)
    await host.auth.close()
    expect(host.mailer.sent).toEqual([])
  })

  it('refuses domains that are not on the list of the surface', async () => {
    const rule = { slug: 'own', domain: 'example.org', surface, includeSubdomains: false }
    const host = await openHost({ settings: { registrationAllowedDomains: [rule] } })
    const who = await signedInPerson(host, surface)
    expectProblem(await request(host, surface, who), 403, 'email_domain_not_allowed')
    const own = await request(host, surface, who, { newEmail: 'countess@example.org' })
    expect(own.status).toBe(202)
  })

  it.each<
    readonly [
      string,
      (host: ContractHost, who: SignedIn & { email: string; id: string }) => Promise<unknown>,
    ]
  >([
    [
      'a newer one',
      (host, who) =>
        request(host, surface, { ...who, password: goodPassword }, { newEmail: 'x@example.org' }),
    ],
    [
      'a newer one of an address that is taken',
      async (host, who) => {
        const { email } = await person(host, surface)
        const again = { ...who, password: goodPassword }
        return request(host, surface, again, { newEmail: email })
      },
    ],
    [
      'a changed password',
      (host, { bearer }) =>
        host.send('POST', `/v1/auth/${surface}/me/password`, {
          bearer,
          body: { currentPassword: goodPassword, newPassword: otherPassword },
        }),
    ],
    [
      'a reset',
      async (host, { email }) => {
        await host.send('POST', `/v1/auth/${surface}/password/forgot`, { body: { email } })
        const token = await mailedToken(host, 'resetPassword', email)
        const body = { token, newPassword: otherPassword }
        return host.send('POST', `/v1/auth/${surface}/password/reset`, { body })
      },
    ],
    [
      'the end of every session, as somebody ends them whom the notice alarms',
      (host, { bearer }) =>
        host.send('POST', `/v1/auth/${surface}/logout`, { bearer, body: { everywhere: true } }),
    ],
    ['a reset of factors', (host, { id }) => host.auth[surface].users.resetMfa(id)],
    ['disabling', (host, { id }) => host.auth[surface].users.update(id, { enabled: false })],
    ['deletion', (host, { id }) => host.auth[surface].users.delete(id)],
  ])('a link not confirmed yet is void after %s', async (_what, act) => {
    const host = await openHost()
    const who = await asked(host, surface)
    await act(host, who)
    await host.auth.close()
    expect(outcomeOf(await verify(host, surface, who))).toBe('400 invalid_token')
    expect(eventsOf(host, 'email.changed')).toEqual([])
  })

  it('voids the reset links that went to the earlier address', async () => {
    const host = await openHost()
    const who = await asked(host, surface)
    const { email } = who
    await host.send('POST', `/v1/auth/${surface}/password/forgot`, { body: { email } })
    const token = await mailedToken(host, 'resetPassword', email)
    await verify(host, surface, who)
    const body = { token, newPassword: otherPassword }
    const late = await host.send('POST', `/v1/auth/${surface}/password/reset`, { body })
    expect(outcomeOf(late)).toBe('400 invalid_token')
  })

  it('expires with other confirmations', async () => {
    const host = await openHost({ settings: { emailVerificationTTL: '15m' } })
    const who = await asked(host, surface)
    await host.clock.advance(15 * minute)
    expect(outcomeOf(await verify(host, surface, who))).toBe('400 token_expired')
  })

  it('is mailed three times an hour to one address, whoever asks', async () => {
    const host = await openHost()
    const [ada, bob] = [await signedInPerson(host, surface), await signedInPerson(host, surface)]
    const outcomes = []
    for (const who of [ada, bob, ada, bob]) {
      outcomes.push(outcomeOf(await request(host, surface, who)))
    }
    expect(outcomes).toEqual(['202', '202', '202', '429 rate_limited'])
  })

  it.each(['users.update', 'intents.take'])(
    'whose confirmation is cut off at %s, or whose answer is lost, is confirmed by the same link',
    async (call) => {
      for (const when of ['before', 'after'] as const) {
        const faulty = faultyBackend(memory())
        const host = await openHost({ backend: faulty.backend })
        const who = await asked(host, surface)
        faulty.failNext(`${surface}_${call}`, when)
        expect(outcomeOf(await verify(host, surface, who))).toBe('503 service_unavailable')
        const again = outcomeOf(await verify(host, surface, who))
        // Taken, and nobody was told: the address is confirmed all the same.
        const taken = call === 'intents.take' && when === 'after'
        expect(again).toBe(taken ? '400 invalid_token' : '200')
        expect((await me(host, surface, who)).json()).toMatchObject({ email: newEmail })
      }
    },
  )

  it('tells what it did where a newer link took the place of the one confirmed', async () => {
    let meanwhile = async (): Promise<unknown> => null
    const backend = withCall(memory(), async (name, work) => {
      if (name === `${surface}_intents.take`) await meanwhile()
      return work()
    })
    const host = await openHost({ backend })
    const who = await asked(host, surface)
    meanwhile = async () => {
      meanwhile = async () => null
      await request(host, surface, who, { newEmail: 'again@example.org' })
      await mailedToken(host, 'changeEmail', 'again@example.org')
    }
    expect(outcomeOf(await verify(host, surface, who))).toBe('200')
    expect((await me(host, surface, who)).json()).toMatchObject({ email: newEmail })
    expect(eventsOf(host, 'email.changed')).toMatchObject([{ surface, userId: who.id }])
    await host.auth.close()
    expect(host.mailer.last('emailChanged', who.email).data).toMatchObject({ newEmail })
  })

  it('the mailbox alone moves nothing: the session that asked comes along, or the password', async () => {
    const host = await openHost()
    const who = await asked(host, surface)
    const { token } = who
    const other = await signIn(host, surface, who)
    const stranger = await signedInPerson(host, surface)
    for (const shown of [{ token }, { token, bearer: other.bearer }, { ...stranger, token }]) {
      const refused = await verify(host, surface, shown)
      expect(outcomeOf(refused)).toBe('400 current_password_required')
    }
    const wrong = await verify(host, surface, { token }, { currentPassword: otherPassword })
    expect(outcomeOf(wrong)).toBe('401 invalid_credentials')
    const guesses = { userId: who.id, sessionId: null }
    expect(eventsOf(host, 'password.changeFailed')).toMatchObject([guesses])
    expect((await me(host, surface, who)).json()).toMatchObject({ email: who.email })
    const right = await verify(host, surface, { token }, { currentPassword: goodPassword })
    expect(outcomeOf(right)).toBe('200')
    expect((await me(host, surface, who)).json()).toMatchObject({ email: newEmail })
  })

  it('a session that asked and was ended confirms nothing', async () => {
    const host = await openHost()
    const who = await asked(host, surface)
    await host.send('POST', `/v1/auth/${surface}/logout`, { bearer: who.bearer, body: {} })
    expect(outcomeOf(await verify(host, surface, who))).toBe('400 current_password_required')
  })

  it('a password that is left confirms nothing while passwords are off', async () => {
    const host = await settingsHost()
    const who = await asked(host, surface)
    const passwords = `passwordLogin${surface === 'operator' ? 'Operator' : 'Client'}Enabled`
    await host.set({ config: { webauthnMode: 'passwordless', [passwords]: 'false' } })
    const { token } = who
    for (const shown of [{ currentPassword: goodPassword }, {}]) {
      const refused = await verify(host, surface, { token }, shown)
      expect(outcomeOf(refused)).toBe('403 password_login_disabled')
      expect(refused.json()['detail']).toMatch(/Open the link where you asked for the change/)
    }
    // The session that asked needs none, and nothing was spent.
    expect(outcomeOf(await verify(host, surface, who))).toBe('200')
  })

  it('has one winner of 8 parallel confirmations', async () => {
    const host = await openHost()
    const who = await asked(host, surface)
    const uses = Array.from({ length: 8 }, () => verify(host, surface, who))
    const outcomes = (await Promise.all(uses)).map(outcomeOf)
    expect(outcomes.filter((outcome) => outcome === '200')).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome === '400 invalid_token')).toHaveLength(7)
    expect(eventsOf(host, 'email.changed')).toHaveLength(1)
  })

  it('today’s domains decide whether the account moves, and the refusal spends nothing', async () => {
    const host = await settingsHost()
    const who = await asked(host, surface)
    const domain = 'registrationAllowedDomains.theirs'
    const change = { field: 'registrationAllowedDomains', create: [], remove: [] }
    const config = { [`${domain}.domain`]: 'theirs.example', [`${domain}.surface`]: 'both' }
    await host.set({ config, recordLists: [{ ...change, create: ['theirs'] }] })
    expect(outcomeOf(await verify(host, surface, who))).toBe('403 email_domain_not_allowed')
    expect((await me(host, surface, who)).json()).toMatchObject({ email: who.email })
    await host.set({ config: {}, recordLists: [{ ...change, remove: ['theirs'] }] })
    expect(outcomeOf(await verify(host, surface, who))).toBe('200')
    expect((await me(host, surface, who)).json()).toMatchObject({ email: newEmail })
  })
})
