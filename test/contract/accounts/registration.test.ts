import { expect, it } from 'vitest'
import type { InitialSettings } from '../../../src/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import {
  eventsOf,
  openHost,
  outcomeOf,
  seenOf,
  storedIn,
  storedUser,
} from '../../support/hosts/open-host.js'
import { goodPassword, otherPassword, person } from '../../support/people/people.js'
import { registrationCookieOf, verifyWith } from '../../support/people/registration-steps.js'

const path = (surface: Surface): string => `/v1/auth/${surface}/register`

function register(host: ContractHost, surface: Surface, given: Record<string, unknown>) {
  const body = { email: 'ada@example.org', password: goodPassword, ...given }
  return host.send('POST', path(surface), { body })
}

async function countUsers(host: ContractHost, surface: Surface): Promise<number> {
  return (await storedIn(host, surface).users.find({ kind: '' }, { limit: 100 })).length
}

function registrationsOf(host: ContractHost, surface: Surface) {
  const { pendingRegistrations } = storedIn(host, surface)
  return pendingRegistrations.find({ method: 'password' }, { limit: 100 })
}

eachSurface.describe('registration', (surface) => {
  const other = surface === 'operator' ? 'client' : 'operator'

  it.each([
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ])('is gated by its own switch: operator %s, client %s', async (op, cl) => {
    const settings = { registrationOperatorEnabled: op, registrationClientEnabled: cl }
    const host = await openHost({ settings })
    const open = surface === 'operator' ? op : cl
    const reply = await register(host, surface, {})
    expect(outcomeOf(reply)).toBe(open ? '201' : '403 registration_disabled')
    expect(await registrationsOf(host, surface)).toHaveLength(open ? 1 : 0)
    expect(await registrationsOf(host, other)).toEqual([])
  })

  it('makes no account before the address is confirmed, and mails a link', async () => {
    const host = await openHost()
    const reply = await register(host, surface, { email: ' Ada@Example.org ', name: 'Ada' })
    expect([reply.status, reply.text]).toEqual([201, '{"status":"verificationRequired"}'])
    expect(await registrationsOf(host, surface)).toMatchObject([
      { emailAsTyped: 'Ada@Example.org', name: 'Ada', termsVersion: null },
    ])
    expect(await countUsers(host, surface)).toBe(0)
    await host.auth.close() // mail is sent beside the request
    const mail = host.mailer.last('verifyEmail', 'ada@example.org')
    const base = { operator: 'https://admin.example.com', client: 'https://app.example.com' }
    expect(mail.surface).toBe(surface)
    expect(mail.data.url).toBe(`${base[surface]}/verify-email#token=${mail.data.token}`)
    const [{ id: userId } = { id: '' }] = await registrationsOf(host, surface)
    expect(eventsOf(host, 'account.registrationRequested')).toMatchObject([{ surface, userId }])
    expect(eventsOf(host, 'account.registered')).toEqual([])
    // Not one word of it reaches the other surface.
    expect(await registrationsOf(host, other)).toEqual([])
  })

  it('signs in at once where no verification is required', async () => {
    const host = await openHost({ settings: { emailVerificationRequired: false } })
    const reply = await register(host, surface, { name: 'Ada' })
    const { id } = await storedUser(host, surface, 'ada@example.org')
    expect([reply.status, reply.json()]).toEqual([
      201,
      {
        status: 'authenticated',
        accessToken: expect.any(String),
        tokenType: 'Bearer',
        expiresIn: 900,
        user: { id, email: 'ada@example.org', name: 'Ada', emailVerified: false },
      },
    ])
    const bearer = textOf(reply.json(), 'accessToken')
    expect((await host.send('GET', `/v1/auth/${surface}/me`, { bearer })).status).toBe(200)
    const cookie = refreshCookieOf(reply, surface)
    const refreshed = await host.send('POST', `/v1/auth/${surface}/refresh-cookie`, { cookie })
    expect(refreshed.status).toBe(200)
    expect(host.mailer.sent).toEqual([])

    const again = await register(host, surface, { password: otherPassword })
    expect([outcomeOf(again), again.setCookies]).toEqual(['409 email_taken', []])
  })

  it.each<[string, string, string]>([
    ['ada@example.org', 'both', '201'],
    ['ada@EXAMPLE.org', 'both', '201'],
    ['ada@example.org', surface, '201'],
    ['ada@sub.example.org', surface, '403 email_domain_not_allowed'],
    ['ada@notexample.org', surface, '403 email_domain_not_allowed'],
    ['ada@deep.sub.example.net', surface, '201'],
    ['ada@example.net', surface, '201'],
    ['ada@badexample.net', surface, '403 email_domain_not_allowed'],
    ['ada@example.org.evil.test', surface, '403 email_domain_not_allowed'],
  ])('lets domains in by the list: %s, listed for %s: %s', async (email, where, outcome) => {
    const listed = where === 'both' ? 'both' : surface
    const registrationAllowedDomains: InitialSettings['registrationAllowedDomains'] = [
      { slug: 'one', domain: 'Example.org', surface: listed },
      { slug: 'tree', domain: 'example.net', surface: listed, includeSubdomains: true },
    ]
    const host = await openHost({ settings: { registrationAllowedDomains } })
    expect(outcomeOf(await register(host, surface, { email }))).toBe(outcome)
  })

  it("ignores the other surface's list", async () => {
    const settings = {
      registrationAllowedDomains: [{ slug: 'one', domain: 'example.org', surface: other }] as const,
    }
    const host = await openHost({ settings })
    expect(outcomeOf(await register(host, surface, { email: 'ada@elsewhere.test' }))).toBe('201')
    expect(outcomeOf(await register(host, other, { email: 'ada@elsewhere.test' }))).toBe(
      '403 email_domain_not_allowed',
    )
  })

  it('asks for the terms in force, letter by letter', async () => {
    const host = await openHost({ settings: { registrationTermsVersion: '2026-01' } })
    const refused = '422 terms_not_accepted'
    expect(outcomeOf(await register(host, surface, {}))).toBe(refused)
    for (const acceptedTermsVersion of ['', '2025-12', ' 2026-01']) {
      expect(outcomeOf(await register(host, surface, { acceptedTermsVersion }))).toBe(refused)
    }
    expect(await registrationsOf(host, surface)).toEqual([])
    const accepted = await register(host, surface, { acceptedTermsVersion: '2026-01' })
    expect(outcomeOf(accepted)).toBe('201')
    expect(await registrationsOf(host, surface)).toMatchObject([{ termsVersion: '2026-01' }])
  })

  it('refuses addresses that can never receive mail, and sends none there', async () => {
    const host = await openHost()
    for (const email of ['ada@machines.invalid', 'ADA@MACHINES.INVALID']) {
      expect(outcomeOf(await register(host, surface, { email }))).toBe('422 email_not_allowed')
    }
    expect([await registrationsOf(host, surface), host.mailer.sent]).toEqual([[], []])
  })

  it.each([
    ['a NUL in the terms', '"acceptedTermsVersion":"1\\u0000"'],
    ['a lone surrogate in the terms', '"acceptedTermsVersion":"\\udc00"'],
    ['a lone surrogate in the name', '"name":"\\ud800"'],
    ['a name that is no text', '"name":{"first":"Ada"}'],
  ])('refuses what no store could hold and no mail could show: %s', async (_, member) => {
    const host = await openHost()
    const reply = await host.send('POST', path(surface), {
      body: `{"email":"ada@example.org","password":"${goodPassword}",${member}}`,
      headers: { 'content-type': 'application/json' },
    })
    expect(outcomeOf(reply)).toBe('400 invalid_request')
    expect(await registrationsOf(host, surface)).toEqual([])
  })

  it('refuses members that are not its own and stores nothing', async () => {
    const host = await openHost()
    const members = ['"kind":"service"', '"Kind":"service"', '"__proto__":{"kind":"service"}']
    const more = ['"enabled":true', '"systemRole":"admin"', '"emailVerified":true', '"id":"x"']
    for (const member of [...members, ...more, '"memberships":[]', '"constructor":{}']) {
      const body = `{"email":"ada@example.org","password":"${goodPassword}",${member}}`
      const reply = await host.send('POST', path(surface), {
        body,
        headers: { 'content-type': 'application/json' },
      })
      expect(`${member}: ${outcomeOf(reply)}`).toBe(`${member}: 400 invalid_request`)
    }
    expect([await registrationsOf(host, surface), host.mailer.sent]).toEqual([[], []])
  })
})

eachHost.describe('registration', (kind) => {
  eachSurface.describe((surface) => {
    it('replies alike for a new and a taken address, and tells the owner', async () => {
      const host = await openHost({}, kind)
      const fresh = await register(host, surface, { email: 'new@example.org' })
      const owner = await person(host, surface)
      await host.auth.close()
      host.mailer.clear()
      const taken = await register(host, surface, { email: owner.email, password: otherPassword })
      expect(seenOf(taken)).toEqual(seenOf(fresh))
      await host.auth.close()
      const base = { operator: 'https://admin.example.com', client: 'https://app.example.com' }
      expect(host.mailer.sent).toEqual([
        {
          surface,
          to: owner.email,
          name: '',
          template: 'accountExists',
          data: { url: `${base[surface]}/login` },
        },
      ])
      // The account is as it was: the new password opens nothing.
      const { status } = await host.send('POST', `/v1/auth/${surface}/login`, {
        body: { email: owner.email, password: otherPassword },
      })
      expect(status).toBe(401)
      expect(eventsOf(host, 'account.registered')).toEqual([])
    })

    it('leaves no trace in the limits that recovery shares', async () => {
      const host = await openHost({}, kind)
      const owner = await person(host, surface)
      const seen: string[][] = []
      for (const email of [owner.email, 'new@example.org']) {
        await register(host, surface, { email })
        const tries = [1, 2, 3, 4].map(() =>
          host.send('POST', `/v1/auth/${surface}/password/forgot`, { body: { email } }),
        )
        seen.push((await Promise.all(tries)).map(outcomeOf).sort())
      }
      expect(seen[0]).toEqual(seen[1])
    })

    it('does not flood a mailbox whose address is registered again and again', async () => {
      const host = await openHost({}, kind)
      const owner = await person(host, surface)
      for (let attempt = 0; attempt < 8; attempt += 1) {
        expect(outcomeOf(await register(host, surface, { email: owner.email }))).toBe('201')
      }
      await host.auth.close()
      expect(host.mailer.count(owner.email)).toBe(3)
    })

    it('makes one account of any number of spellings, also when they race', async () => {
      const host = await openHost({}, kind)
      const spellings = [
        'ada@example.org',
        'ADA@EXAMPLE.ORG',
        ' Ada@example.org',
        'ada@Example.Org\t',
      ]
      const replies = await Promise.all(
        [...spellings, ...spellings].map((email) => register(host, surface, { email })),
      )
      expect(new Set(replies.map(({ text }) => text))).toEqual(
        new Set(['{"status":"verificationRequired"}']),
      )
      await host.auth.close()
      const tokens = host.mailer.sent.flatMap(({ data }) => ('token' in data ? [data.token] : []))
      expect(tokens).toHaveLength(3)
      const cookies = replies.map(registrationCookieOf)
      const verified = await Promise.all(
        tokens.map((token, at) => verifyWith(host, surface, { token }, cookies[at])),
      )
      expect(verified.map(outcomeOf).filter((outcome) => outcome === '200')).toHaveLength(1)
      expect(await countUsers(host, surface)).toBe(1)
      expect(eventsOf(host, 'account.registered')).toHaveLength(1)
    })
  })
})
