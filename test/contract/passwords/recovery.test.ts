import { expect, it } from 'vitest'
import { eachSurface } from '../../support/hosts/matrix.js'
import {
  eventsOf,
  generousSurfaces,
  openHost,
  openHostAtOneAddress,
  outcomeOf,
  seenOf,
  storedIn,
  storedUser,
  surfaces,
} from '../../support/hosts/open-host.js'
import { goodPassword, otherPassword, person, signedInPerson } from '../../support/people/people.js'
import { forgot, linkFor, login, reset } from '../../support/people/recovery-steps.js'

const minute = 60_000
const hour = 60 * minute
const pages = {
  operator: 'https://admin.example.com/reset-password',
  client: 'https://app.example.com/reset-password',
}

eachSurface.describe('a forgotten password', (surface) => {
  it('mails a link of one hour', async () => {
    const host = await openHost()
    const { email } = await person(host, surface)
    const reply = await forgot(host, surface, ` ${email.toUpperCase()}`)
    expect([reply.status, reply.text, reply.setCookies]).toEqual([202, '{"status":"accepted"}', []])
    await host.auth.close()
    const mail = host.mailer.last('resetPassword', email)
    expect(host.mailer.sent).toEqual([mail])
    expect(mail).toMatchObject({
      surface,
      name: 'Ada',
      data: {
        url: `${pages[surface]}#token=${mail.data.token}`,
        expiresAt: host.clock.now() + hour,
      },
    })
  })

  it('replies to everybody alike, and mails where due', async () => {
    const host = await openHost()
    const { users } = host.auth[surface]
    const usual = await person(host, surface)
    const unverified = 'new@example.org'
    await users.create({ email: unverified, password: goodPassword })
    const passwordless = 'linked@example.org'
    await users.create({ email: passwordless, emailVerified: true })
    const disabled = await person(host, surface)
    await users.update(disabled.id, { enabled: false })
    const elsewhere = await person(host, surface === 'operator' ? 'client' : 'operator')
    const owner = await storedUser(host, surface, usual.email)
    const machines = ['robot@example.org', 'robot@machines.invalid']
    for (const [index, email] of machines.entries()) {
      const id = `01940000-0000-7000-8000-00000000000${index}`
      await storedIn(host, surface).users.insert({ ...owner, id, email, kind: 'service' })
    }
    const seen = new Set<string>()
    const due = [usual.email, unverified, passwordless]
    const others = [disabled.email, elsewhere.email, 'nobody@example.org', ...machines]
    for (const email of [...due, ...others]) {
      seen.add(JSON.stringify(seenOf(await forgot(host, surface, email))))
    }
    expect(seen.size).toBe(1)
    await host.auth.close()
    expect(host.mailer.sent.map(({ to, template }) => [to, template])).toEqual(
      due.map((email) => [email, 'resetPassword']),
    )
  })

  it('refuses what is no address', async () => {
    const host = await openHost()
    for (const email of ['nobody', 'a@b', '@example.org', 'a b@example.org', 'ä@example.org']) {
      expect(outcomeOf(await forgot(host, surface, email))).toBe('400 invalid_request')
    }
  })

  it('is mailed about three times an hour, to known and unknown alike', async () => {
    const host = await openHostAtOneAddress()
    const { email } = await person(host, surface)
    const seen: unknown[] = []
    for (const [address, from] of [
      [email, '203.0.113.1'],
      ['nobody@example.org', '203.0.113.2'],
    ] as const) {
      const replies = []
      for (let n = 0; n < 5; n += 1) replies.push(await forgot(host, surface, address, from))
      const late = '429 rate_limited'
      expect(replies.map(outcomeOf)).toEqual(['202', '202', '202', late, late])
      expect(replies[4]?.headers.get('retry-after')).toBe('3600')
      seen.push(replies.map(seenOf))
    }
    expect(seen[0]).toEqual(seen[1])
    await host.auth.close()
    expect(host.mailer.count(email)).toBe(3)
    await host.clock.advance(hour - 1)
    expect(outcomeOf(await forgot(host, surface, email))).toBe('429 rate_limited')
    await host.clock.advance(1)
    expect(outcomeOf(await forgot(host, surface, email))).toBe('202')
  })

  it('is asked about five times in 15 minutes from one address, whoever is meant', async () => {
    const host = await openHost()
    const from = '203.0.113.9'
    for (let n = 0; n < 5; n += 1) {
      expect(outcomeOf(await forgot(host, surface, `n${n}@example.org`, from))).toBe('202')
    }
    const late = await forgot(host, surface, 'n9@example.org', from)
    expect([outcomeOf(late), late.headers.get('retry-after')]).toEqual(['429 rate_limited', '900'])
    expect(outcomeOf(await forgot(host, surface, 'n9@example.org', '203.0.113.8'))).toBe('202')
    await host.clock.advance(15 * minute)
    expect(outcomeOf(await forgot(host, surface, 'n9@example.org', from))).toBe('202')
  })

  it('sends one mailbox three mails in a flood from 300 addresses', async () => {
    const host = await openHost()
    const { email } = await person(host, surface)
    const flood = Array.from({ length: 300 }, () => forgot(host, surface, email))
    const accepted = (await Promise.all(flood)).filter(({ status }) => status === 202)
    await host.auth.close()
    expect([accepted.length, host.mailer.count(email)]).toEqual([3, 3])
  })
})

eachSurface.describe('a reset link', (surface) => {
  it('sets the password, signs nobody in, and works once', async () => {
    const host = await openHost()
    const { email, password } = await person(host, surface)
    const token = await linkFor(host, surface, email)
    const reply = await reset(host, surface, token, otherPassword)
    expect([reply.status, reply.text]).toEqual([204, ''])
    // For the login that follows, beside strangers who guess.
    expect(reply.setCookies).toEqual([expect.stringMatching(/^__Host-(op|cl)_sign_in=/u)])
    expect(outcomeOf(await login(host, surface, email, password))).toBe('401 invalid_credentials')
    expect(outcomeOf(await login(host, surface, email, otherPassword))).toBe('200')
    for (const again of [otherPassword, 'yet another long passphrase']) {
      expect(outcomeOf(await reset(host, surface, token, again))).toBe('400 invalid_token')
    }
  })

  it('ends every session', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    const second = await login(host, surface, who.email, who.password)
    const bearers = [who.bearer, String(second.json()['accessToken'])]
    await reset(host, surface, await linkFor(host, surface, who.email), otherPassword)
    for (const bearer of bearers) {
      const reply = await host.send('GET', `/v1/auth/${surface}/me`, { bearer })
      expect(outcomeOf(reply)).toBe('401 session_revoked')
    }
    const refreshed = await host.send('POST', `/v1/auth/${surface}/refresh-cookie`, {
      cookie: who.cookie,
    })
    expect(outcomeOf(refreshed)).toBe('401 session_revoked')
    const ended = eventsOf(host, 'session.terminated')
    expect(ended).toMatchObject([{ reason: 'password_change' }, { reason: 'password_change' }])
    expect(ended).toHaveLength(2)
  })

  it.each([
    [true, ['passwordChanged']],
    [false, []],
  ])('tells the owner if the setting says so: %s', async (notifySecurityChanges, mails) => {
    const host = await openHost({ settings: { notifySecurityChanges } })
    const { email } = await person(host, surface)
    const token = await linkFor(host, surface, email)
    host.mailer.clear()
    await reset(host, surface, token, otherPassword)
    await host.auth.close()
    expect(host.mailer.sent.map(({ template, to }) => [template, to])).toEqual(
      mails.map((template) => [template, email]),
    )
    expect(eventsOf(host, 'password.changed')).toMatchObject([{ by: 'reset', surface }])
  })

  it('verifies the address it was mailed to', async () => {
    const host = await openHost()
    const email = 'new@example.org'
    await host.auth[surface].users.create({ email, password: goodPassword })
    await reset(host, surface, await linkFor(host, surface, email), otherPassword)
    const { emailVerifiedAt } = await storedUser(host, surface, email)
    expect(emailVerifiedAt).toBe(host.clock.now())
    expect(outcomeOf(await login(host, surface, email, otherPassword))).toBe('200')
  })

  it('gives a first password to an account without one', async () => {
    const host = await openHost()
    const email = 'linked@example.org'
    await host.auth[surface].users.create({ email })
    expect(
      outcomeOf(await reset(host, surface, await linkFor(host, surface, email), otherPassword)),
    ).toBe('204')
    expect(outcomeOf(await login(host, surface, email, otherPassword))).toBe('200')
  })

  it('is not spent by a password the policy refuses', async () => {
    const host = await openHost()
    const { email, password } = await person(host, surface)
    const token = await linkFor(host, surface, email)
    for (const refused of ['short', 'password1234567', password, 'x'.repeat(1100)]) {
      expect(outcomeOf(await reset(host, surface, token, refused))).toBe('422 password_policy')
    }
    expect(outcomeOf(await login(host, surface, email, password))).toBe('200')
    expect(outcomeOf(await reset(host, surface, token, otherPassword))).toBe('204')
  })

  it('expires exactly an hour after it was mailed', async () => {
    const host = await openHost()
    const { email } = await person(host, surface)
    const late = await linkFor(host, surface, email)
    await host.clock.advance(hour)
    expect(outcomeOf(await reset(host, surface, late, otherPassword))).toBe('400 token_expired')
    const timely = await linkFor(host, surface, email)
    await host.clock.advance(hour - 1)
    expect(outcomeOf(await reset(host, surface, timely, otherPassword))).toBe('204')
  })

  it('dies when a newer one is mailed', async () => {
    const host = await openHost()
    const { email } = await person(host, surface)
    const older = await linkFor(host, surface, email)
    const newer = await linkFor(host, surface, email)
    expect(outcomeOf(await reset(host, surface, older, otherPassword))).toBe('400 invalid_token')
    expect(outcomeOf(await reset(host, surface, newer, otherPassword))).toBe('204')
  })

  it('dies when the password is changed', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    const token = await linkFor(host, surface, who.email)
    const changed = await host.send('POST', `/v1/auth/${surface}/me/password`, {
      bearer: who.bearer,
      body: { currentPassword: who.password, newPassword: otherPassword },
    })
    expect(changed.status).toBe(204)
    const late = await reset(host, surface, token, 'yet another long passphrase')
    expect(outcomeOf(late)).toBe('400 invalid_token')
    expect(outcomeOf(await login(host, surface, who.email, otherPassword))).toBe('200')
  })

  it('dies with the account that is disabled, for good', async () => {
    const host = await openHost()
    const { id, email } = await person(host, surface)
    const token = await linkFor(host, surface, email)
    await host.auth[surface].users.update(id, { enabled: false })
    expect(outcomeOf(await reset(host, surface, token, goodPassword))).toBe('400 invalid_token')
    for (const enabled of [false, true]) {
      await host.auth[surface].users.update(id, { enabled })
      expect(outcomeOf(await reset(host, surface, token, otherPassword))).toBe('400 invalid_token')
    }
    expect(outcomeOf(await login(host, surface, email, goodPassword))).toBe('200')
  })

  it('opens nothing for a machine, should it ever get one', async () => {
    const host = await openHost()
    const { id, email } = await person(host, surface)
    const token = await linkFor(host, surface, email)
    await storedIn(host, surface).users.update(id, { enabled: true }, { kind: 'service' })
    expect(outcomeOf(await reset(host, surface, token, otherPassword))).toBe('400 invalid_token')
  })

  it('opens nothing on the other surface, and is no verification link', async () => {
    const host = await openHost({ surfaces: generousSurfaces })
    const other = surface === 'operator' ? 'client' : 'operator'
    const email = 'both@example.org'
    for (const where of surfaces) {
      await host.auth[where].users.create({ email, password: goodPassword })
    }
    const token = await linkFor(host, surface, email)
    expect(outcomeOf(await reset(host, other, token, otherPassword))).toBe('400 invalid_token')
    const verified = await host.send('POST', `/v1/auth/${surface}/email/verify`, {
      body: { token },
    })
    expect(outcomeOf(verified)).toBe('400 invalid_token')
    expect(outcomeOf(await reset(host, surface, token, otherPassword))).toBe('204')
  })
})
