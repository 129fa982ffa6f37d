import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { type Reply, refreshCookieOf } from '../../support/hosts/http-client.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import {
  eventsOf,
  openHost,
  outcomeOf,
  storedIn,
  storedUser,
} from '../../support/hosts/open-host.js'
import {
  goodPassword,
  otherPassword,
  type Person,
  type SignedIn,
  signedInPerson,
  signIn,
} from '../../support/people/people.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

const third = 'yet another long passphrase'

function me(host: ContractHost, surface: Surface, bearer: string): Promise<Reply> {
  return host.send('GET', `/v1/auth/${surface}/me`, { bearer })
}

function change(
  host: ContractHost,
  surface: Surface,
  bearer: string,
  currentPassword: string,
  newPassword: string,
): Promise<Reply> {
  const body = { currentPassword, newPassword }
  return host.send('POST', `/v1/auth/${surface}/me/password`, { bearer, body })
}

/** What a session's access token and refresh cookie are worth now. Refreshes it when it lives. */
async function worthOf(host: ContractHost, surface: Surface, session: SignedIn): Promise<string[]> {
  const seen = await me(host, surface, session.bearer)
  const refreshed = await host.send('POST', `/v1/auth/${surface}/refresh-cookie`, {
    cookie: session.cookie,
  })
  if (refreshed.status === 200) refreshCookieOf(refreshed, surface)
  return [outcomeOf(seen), outcomeOf(refreshed)]
}

const alive = ['200', '200']
const dead = ['401 session_revoked', '401 session_revoked']

async function login(host: ContractHost, surface: Surface, who: Person, password: string) {
  const body = { email: who.email, password }
  return outcomeOf(await host.send('POST', `/v1/auth/${surface}/login`, { body }))
}

eachSurface.describe('changing the password', (surface) => {
  it('leaves the cookie of the session it spares alone, right or wrong', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    const changeHere = (currentPassword: string) =>
      host.send('POST', `/v1/auth/${surface}/me/password`, {
        bearer: who.bearer,
        cookie: who.cookie,
        body: { currentPassword, newPassword: otherPassword },
      })
    const wrong = await changeHere(third)
    expect([outcomeOf(wrong), wrong.setCookies]).toEqual(['401 invalid_credentials', []])
    const changed = await changeHere(who.password)
    expect([outcomeOf(changed), changed.setCookies]).toEqual(['204', []])
    expect(await worthOf(host, surface, who)).toEqual(alive)
    // A copy from before the change is worth nothing, and shows that there is one.
    const copy = await host.send('POST', `/v1/auth/${surface}/refresh-cookie`, {
      cookie: who.cookie,
    })
    expect(outcomeOf(copy)).toBe('401 refresh_token_reused')
  })

  it('needs the current one, and ends its life at once', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    host.mailer.clear()
    const wrong = await change(host, surface, who.bearer, third, otherPassword)
    expect(outcomeOf(wrong)).toBe('401 invalid_credentials')
    for (const body of [{ newPassword: otherPassword }, { currentPassword: goodPassword }]) {
      const path = `/v1/auth/${surface}/me/password`
      const reply = await host.send('POST', path, { bearer: who.bearer, body })
      expect(outcomeOf(reply)).toBe('400 invalid_request')
    }
    expect(await login(host, surface, who, who.password)).toBe('200')
    await host.clock.advance(1000)
    const changed = await change(host, surface, who.bearer, who.password, otherPassword)
    expect([changed.status, changed.text, changed.setCookies]).toEqual([204, '', []])
    expect(await login(host, surface, who, who.password)).toBe('401 invalid_credentials')
    expect(await login(host, surface, who, otherPassword)).toBe('200')
    const changedAt = host.clock.now()
    expect(await storedUser(host, surface, who.email)).toMatchObject({
      passwordChangedAt: changedAt,
    })
    await host.auth.close()
    expect(host.mailer.sent).toMatchObject([
      { template: 'passwordChanged', to: who.email, surface, data: { at: changedAt } },
    ])
  })

  it('sends no mail where the setting says so', async () => {
    const host = await openHost({ settings: { notifySecurityChanges: false } })
    const who = await signedInPerson(host, surface)
    const changed = await change(host, surface, who.bearer, who.password, otherPassword)
    expect(changed.status).toBe(204)
    await host.auth.close()
    expect(host.mailer.sent).toEqual([])
  })

  it('counts wrong guesses at the current one, and ends the session by the last', async () => {
    const host = await openHost({ settings: { lockoutThreshold: 3 } })
    const who = await signedInPerson(host, surface)
    const outcomes = []
    for (let n = 0; n < 4; n += 1) {
      outcomes.push(outcomeOf(await change(host, surface, who.bearer, third, otherPassword)))
    }
    const wrong = '401 invalid_credentials'
    expect(outcomes).toEqual([wrong, wrong, wrong, '401 session_revoked'])
    const right = await change(host, surface, who.bearer, who.password, otherPassword)
    expect(outcomeOf(right)).toBe('401 session_revoked')
    expect(await login(host, surface, who, who.password)).toBe('200')
  })

  it('is refused by the policy without a change', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    const before = await storedUser(host, surface, who.email)
    for (const refused of ['short', 'password1234567', who.password]) {
      const reply = await change(host, surface, who.bearer, who.password, refused)
      expect(outcomeOf(reply)).toBe('422 password_policy')
    }
    expect(await storedUser(host, surface, who.email)).toEqual(before)
  })

  it('gives an account without a password none: that takes the mailbox', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    await storedIn(host, surface).users.update(who.id, { enabled: true }, { passwordHash: null })
    expect((await me(host, surface, who.bearer)).json()).toMatchObject({ hasPassword: false })
    const reply = await change(host, surface, who.bearer, who.password, otherPassword)
    expect(outcomeOf(reply)).toBe('401 invalid_credentials')
  })

  it.each([
    [{}, dead],
    [{ revokeSessionsOnPasswordChange: true }, dead],
    [{ revokeSessionsOnPasswordChange: false }, alive],
  ])('ends the other sessions if the setting says so: %j', async (settings, worth) => {
    const host = await openHost({ settings })
    const other = await signedInPerson(host, surface)
    const current = await signIn(host, surface, other)
    const changed = await change(host, surface, current.bearer, other.password, otherPassword)
    expect(changed.status).toBe(204)
    expect(await worthOf(host, surface, other)).toEqual(worth)
    expect(await worthOf(host, surface, current)).toEqual(alive)
    const reasons = eventsOf(host, 'session.terminated').map(({ reason }) => reason)
    expect(reasons).toEqual(worth === dead ? ['password_change'] : [])
  })

  it('spares one session at a time: the one that asked last', async () => {
    const host = await openHost()
    const first = await signedInPerson(host, surface)
    await change(host, surface, first.bearer, first.password, otherPassword)
    const second = await signIn(host, surface, { ...first, password: otherPassword })
    const changed = await change(host, surface, second.bearer, otherPassword, third)
    expect(changed.status).toBe(204)
    expect(await worthOf(host, surface, first)).toEqual(dead)
    expect(await worthOf(host, surface, second)).toEqual(alive)
  })

  it('ends the other sessions before they can be refreshed, whatever fails then', async () => {
    const faulty = faultyBackend(memory())
    const host = await openHost({ backend: faulty.backend })
    const other = await signedInPerson(host, surface)
    const current = await signIn(host, surface, other)
    faulty.failNext('denylist.put', 'before')
    const changed = await change(host, surface, current.bearer, other.password, otherPassword)
    expect(outcomeOf(changed)).toBe('503 service_unavailable')
    const refreshed = await host.send('POST', `/v1/auth/${surface}/refresh-cookie`, {
      cookie: other.cookie,
    })
    expect(outcomeOf(refreshed)).toBe('401 session_revoked')
    expect(outcomeOf(await me(host, surface, other.bearer))).toBe('401 session_revoked')
    expect(await worthOf(host, surface, current)).toEqual(alive)
  })

  it('is completed by the same request after a failure, and by no other', async () => {
    const faulty = faultyBackend(memory())
    const host = await openHost({ backend: faulty.backend })
    const other = await signedInPerson(host, surface)
    const current = await signIn(host, surface, other)
    const again = (newPassword: string, bearer = current.bearer) =>
      change(host, surface, bearer, other.password, newPassword)
    faulty.failNext('denylist.put', 'before')
    expect(outcomeOf(await again(otherPassword))).toBe('503 service_unavailable')
    expect(outcomeOf(await again(third))).toBe('401 invalid_credentials')
    expect(outcomeOf(await again(otherPassword, other.bearer))).toBe('401 invalid_credentials')
    expect(outcomeOf(await me(host, surface, other.bearer))).toBe('200')
    expect(outcomeOf(await again(otherPassword))).toBe('204')
    expect(await worthOf(host, surface, other)).toEqual(dead)
    expect(await worthOf(host, surface, current)).toEqual(alive)
    expect(eventsOf(host, 'password.changed')).toHaveLength(1)
  })
})

eachSurface.it('has one winner where the mailbox is not proved', async (surface) => {
  const host = await openHost()
  const who = await signedInPerson(host, surface)
  await storedIn(host, surface).users.update(who.id, { kind: '' }, { emailVerifiedAt: null })
  // Later than the password that is there.
  await host.clock.advance(1)
  const passwords = Array.from({ length: 5 }, (_, n) => `the new passphrase ${n}`)
  const replies = await Promise.all(
    passwords.map((one) => change(host, surface, who.bearer, who.password, one)),
  )
  expect(replies.map(outcomeOf).filter((outcome) => outcome === '204')).toHaveLength(1)
})

eachHost.describe('changing the password twice at once', (kind) => {
  eachSurface.it('has one winner', async (surface) => {
    const host = await openHost({}, kind)
    const who = await signedInPerson(host, surface)
    // Few enough that the losers' guesses, two each at most, stay within the budget.
    const passwords = Array.from({ length: 5 }, (_, n) => `the new passphrase ${n}`)
    const replies = await Promise.all(
      passwords.map((one) => change(host, surface, who.bearer, who.password, one)),
    )
    const outcomes = replies.map(outcomeOf)
    expect(outcomes.filter((outcome) => outcome === '204')).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome === '401 invalid_credentials')).toHaveLength(4)
    const winner = passwords[outcomes.indexOf('204')] ?? ''
    expect(await login(host, surface, who, winner)).toBe('200')
    expect(await login(host, surface, who, who.password)).toBe('401 invalid_credentials')
    expect(await worthOf(host, surface, who)).toEqual(alive)
  })
})

eachHost.describe('a change of the password sent twice at once', (kind) => {
  eachSurface.it('is done once and answered twice', async (surface) => {
    const host = await openHost({}, kind)
    const who = await signedInPerson(host, surface)
    const elsewhere = await signIn(host, surface, who)
    const send = () => change(host, surface, who.bearer, goodPassword, otherPassword)
    const replies = await Promise.all([send(), send()])
    expect(replies.map(outcomeOf)).toEqual(['204', '204'])
    expect((await me(host, surface, who.bearer)).status).toBe(200)
    expect((await me(host, surface, elsewhere.bearer)).status).toBe(401)
    await signIn(host, surface, { ...who, password: otherPassword })
    expect(eventsOf(host, 'password.changed')).toHaveLength(1)
    expect(eventsOf(host, 'password.changeFailed')).toEqual([])
  })
})
