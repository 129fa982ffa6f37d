import { expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { enrolled, finish, ticketOf } from '../../support/people/authenticator.js'
import { passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import {
  goodPassword,
  otherPassword,
  type Person,
  person,
  signIn,
} from '../../support/people/people.js'
import {
  elsewhere,
  home,
  idsIn,
  loginHere,
  recognitionCookie,
  recognitionOf,
} from '../../support/people/recognition-steps.js'

const day = 86_400_000
const planted = 'planted-by-a-stranger0'
const travelling = { ...elsewhere, 'user-agent': home['user-agent'] }

const newDevices = (host: ContractHost) =>
  eventsOf(host, 'login.newDevice').map(({ userId, signals }) => [userId, ...signals].join(' '))

const knownOf = (host: ContractHost, surface: Surface, { id }: Person) =>
  storedIn(host, surface).knownLogins.find({ userId: id }, { limit: 99 })

eachHost.describe('a browser is known again', (kind) => {
  eachSurface.it('by the id that a login gave it, wherever it is', async (surface) => {
    const host = await openHost({}, kind)
    const who = await person(host, surface)
    const { email, password } = who
    const first = await host.send('POST', `/v1/auth/${surface}/login`, {
      body: { email, password },
      headers: home,
    })
    await host.auth.close()
    expect(first.setCookies[1]).toMatch(
      /^__Host-(op|cl)_recognition=[\w-]{22}; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    )
    const cookie = recognitionOf(first) ?? ''
    expect(await loginHere(host, surface, who, elsewhere, cookie)).toBe(cookie)
    expect(newDevices(host)).toEqual([])
  })
})

eachSurface.describe('a recognition id', (surface) => {
  const at = (path: string): string => `/v1/auth/${surface}${path}`

  it('without one, a user agent makes a device known in a known network alone', async () => {
    const host = await openHost()
    const who = await person(host, surface)
    await loginHere(host, surface, who, home)
    await loginHere(host, surface, who, home)
    expect(newDevices(host)).toEqual([])
    await loginHere(host, surface, who, travelling)
    expect(newDevices(host)).toEqual([`${who.id} newDevice newNetwork`])
  })

  it('a browser that was updated is known by it', async () => {
    const host = await openHost()
    const who = await person(host, surface)
    const cookie = await loginHere(host, surface, who, home)
    const updated = { ...home, 'user-agent': 'Browser Pro/2.0 (Laptop; renamed)' }
    expect(await loginHere(host, surface, who, updated, cookie)).toBe(cookie)
    expect(newDevices(host)).toEqual([])
  })

  it('a planted one is never taken for the account', async () => {
    const host = await openHost()
    const [who, stranger] = [await person(host, surface), await person(host, surface)]
    const [own = ''] = idsIn(await loginHere(host, surface, stranger, elsewhere))
    const cookie = recognitionCookie(surface, planted, own)
    const [given = '', ...others] = idsIn(await loginHere(host, surface, who, home, cookie))
    expect(given).toMatch(/^[\w-]{22}$/)
    expect([planted, own]).not.toContain(given)
    // They may be of other accounts in this browser.
    expect(others).toEqual([planted, own])
    expect(newDevices(host)).toEqual([])
    await loginHere(host, surface, who, elsewhere, cookie)
    expect(newDevices(host)).toEqual([`${who.id} newDevice newNetwork`])
  })

  it.each([
    ['nothing', ''],
    ['another form', 'x'],
    ['more than there may be', Array.from({ length: 30 }, () => planted).join('.')],
    ['characters of no id', `${'é'.repeat(11)}.${' '.repeat(22)}`],
  ])('a cookie of %s is replaced', async (_what, value) => {
    const host = await openHost()
    const who = await person(host, surface)
    const cookie = recognitionCookie(surface, encodeURIComponent(value).replaceAll('%', '!'))
    const shown = await loginHere(host, surface, who, home, cookie)
    expect(idsIn(shown).filter((id) => id !== planted)).toEqual([
      expect.stringMatching(/^[\w-]{22}$/),
    ])
    expect(idsIn(await loginHere(host, surface, who, elsewhere, shown))).toEqual(idsIn(shown))
    expect(newDevices(host)).toEqual([])
  })

  it('several accounts in one browser stay known, the four that signed in last', async () => {
    const host = await openHost()
    const people = []
    for (let n = 0; n < 5; n += 1) people.push(await person(host, surface))
    const [ada, bob, ...more] = people
    if (ada === undefined || bob === undefined) throw new Error('no people')
    let cookie = await loginHere(host, surface, ada, home)
    for (const who of [bob, ada, bob]) {
      cookie = await loginHere(host, surface, who, home, cookie)
    }
    expect(idsIn(cookie)).toHaveLength(2)
    for (const who of [ada, bob, ada]) {
      cookie = await loginHere(host, surface, who, elsewhere, cookie)
    }
    expect(newDevices(host)).toEqual([])
    for (const who of more) cookie = await loginHere(host, surface, who, home, cookie)
    expect(idsIn(cookie)).toHaveLength(4)
    const abroad = { ...elsewhere, 'x-forwarded-for': '198.51.100.4', 'user-agent': 'Other' }
    await loginHere(host, surface, ada, abroad, cookie)
    expect(newDevices(host)).toEqual([])
    await loginHere(host, surface, bob, abroad, cookie)
    expect(newDevices(host)).toEqual([`${bob.id} newDevice newNetwork`])
  })

  it('is stored as a hash under itself alone, which differs between accounts', async () => {
    const host = await openHost()
    const [ada, bob] = [await person(host, surface), await person(host, surface)]
    const shared = await loginHere(host, surface, ada, home)
    await loginHere(host, surface, bob, home, shared)
    const [ofAda] = await knownOf(host, surface, ada)
    const [ofBob] = await knownOf(host, surface, bob)
    const hashes = [ofAda?.recognitionHash, ofBob?.recognitionHash]
    expect(hashes).toEqual([
      expect.stringMatching(/^[\w-]{43}$/),
      expect.stringMatching(/^[\w-]{43}$/),
    ])
    expect(new Set(hashes).size).toBe(2)
    expect(JSON.stringify([ofAda, ofBob])).not.toContain(idsIn(shared)[0])
    const { families } = storedIn(host, surface)
    const rows = [
      ...(await families.find({ userId: ada.id }, { limit: 9 })),
      ...(await families.find({ userId: bob.id }, { limit: 9 })),
    ]
    expect(new Set(rows.map(({ rotatedBy }) => rotatedBy)).size).toBe(2)
  })

  it('lasts 90 days from the newest login', async () => {
    const host = await openHost()
    const who = await person(host, surface)
    const cookie = await loginHere(host, surface, who, home)
    await host.clock.advance(90 * day - 1)
    expect(await loginHere(host, surface, who, elsewhere, cookie)).toBe(cookie)
    await host.clock.advance(90 * day - 1)
    expect(await loginHere(host, surface, who, home, cookie)).toBe(cookie)
    expect(newDevices(host)).toEqual([])
    await host.clock.advance(90 * day)
    const [id] = idsIn(await loginHere(host, surface, who, home, cookie))
    expect(id).not.toBe(idsIn(cookie)[0])
    expect(newDevices(host)).toEqual([`${who.id} newDevice newNetwork`])
  })

  it('is set by no login that failed or waits, and by no logout', async () => {
    const host = await openHost()
    const who = await enrolled(host, surface)
    const cookie = recognitionCookie(surface, planted)
    const attempt = (body: object) => host.send('POST', at('/login'), { body, cookie })
    const wrong = await attempt({ email: who.email, password: otherPassword })
    const unknown = await attempt({ email: 'nobody@example.org', password: otherPassword })
    const waiting = await attempt({ email: who.email, password: who.password })
    expect(waiting.json()['status']).toBe('mfaRequired')
    const mfaToken = textOf(waiting.json(), 'mfaToken')
    const guessed = await host.send('POST', at('/login/mfa'), {
      body: { mfaToken, method: 'totp', code: '000000' },
      cookie,
    })
    expect([wrong, unknown, guessed].map(outcomeOf)).toEqual([
      '401 invalid_credentials',
      '401 invalid_credentials',
      '401 invalid_mfa_code',
    ])
    for (const reply of [wrong, unknown, waiting, guessed]) expect(reply.setCookies).toEqual([])
    const done = await finish(host, surface, mfaToken, await who.nextCode())
    expect(recognitionOf(done)).toBeDefined()
    const { bearer } = who
    const out = await host.send('POST', at('/logout'), { bearer, cookie })
    expect([out.status, out.setCookies.join()]).toEqual([
      204,
      expect.not.stringContaining('recognition'),
    ])
    const refreshed = await host.send('POST', at('/refresh-cookie'), {
      cookie: `${done.setCookies[0]?.split(';')[0]}; ${cookie}`,
    })
    expect([refreshed.status, refreshed.setCookies.join()]).toEqual([
      200,
      expect.not.stringContaining('recognition'),
    ])
  })

  it('is set with the second factor, by a passkey and by a registration that signs in', async () => {
    const host = await openHost({
      settings: { emailVerificationRequired: false, webauthnMode: 'passwordless' },
    })
    const who = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    const mfaToken = await ticketOf(host, surface, who)
    const replies = [
      await on.login(who.authenticator, mfaToken),
      await on.login(who.authenticator),
      await host.send('POST', at('/register'), {
        body: { email: 'new@example.org', password: goodPassword },
      }),
    ]
    for (const reply of replies) expect(recognitionOf(reply)).toBeDefined()
  })

  it('a login that waits is judged by the id of the request that finishes it', async () => {
    const host = await openHost()
    const who = await enrolled(host, surface)
    const first = await ticketOf(host, surface, who)
    const cookie = recognitionOf(await finish(host, surface, first, await who.nextCode())) ?? ''
    await host.auth.close()
    const told = newDevices(host).length
    const mfaToken = await ticketOf(host, surface, who)
    const body = { mfaToken, method: 'totp', code: await who.nextCode() }
    const done = await host.send('POST', at('/login/mfa'), { body, cookie, headers: elsewhere })
    expect(recognitionOf(done)).toBe(cookie)
    expect(newDevices(host)).toHaveLength(told)
  })

  it('two logins at once, with the same one and with none', async () => {
    const host = await openHost()
    const who = await person(host, surface)
    await loginHere(host, surface, who, home)
    const [one, two] = await Promise.all([
      loginHere(host, surface, who, home),
      loginHere(host, surface, who, home),
    ])
    expect(one).not.toBe(two)
    for (const cookie of [one, two]) {
      const again = await Promise.all([
        loginHere(host, surface, who, elsewhere, cookie),
        loginHere(host, surface, who, elsewhere, cookie),
      ])
      expect(again).toEqual([cookie, cookie])
    }
    // Of one account, the browser keeps one.
    const [first = '', second = ''] = [...idsIn(one), ...idsIn(two)]
    const both = recognitionCookie(surface, first, second)
    expect(idsIn(await loginHere(host, surface, who, elsewhere, both))).toEqual([first])
    expect(newDevices(host)).toEqual([])
  })

  it('a client that keeps none pushes no other device out, and leaves eight places', async () => {
    const host = await openHost()
    const who = await person(host, surface)
    const cookie = await loginHere(host, surface, who, home)
    for (let n = 0; n < 20; n += 1) {
      await host.clock.advance(1000)
      await loginHere(host, surface, who, elsewhere)
    }
    expect(await knownOf(host, surface, who)).toHaveLength(9)
    const told = newDevices(host).length
    const abroad = { ...home, 'x-forwarded-for': '198.51.100.4' }
    expect(await loginHere(host, surface, who, abroad, cookie)).toBe(cookie)
    expect(newDevices(host)).toHaveLength(told)
  })

  it('with deviceRecognition: false nothing is given, stored or believed', async () => {
    const on = await openHost()
    const who = await person(on, surface)
    const cookie = await loginHere(on, surface, who, home)
    const host = await openHost({ deviceRecognition: false, backend: on.backend })
    const { email, password } = who
    const login = (headers: typeof home) =>
      host.send('POST', at('/login'), { body: { email, password }, headers, cookie })
    for (const place of [home, elsewhere]) {
      const reply = await login(place)
      expect([reply.status, recognitionOf(reply)]).toEqual([200, undefined])
      await host.auth.close()
    }
    const app = await host.send('POST', at('/mobile/login'), { body: { email, password } })
    expect([app.status, app.json()['recognitionId']]).toEqual([200, undefined])
    expect(newDevices(host)[0]).toBe(`${who.id} newDevice newNetwork`)
    const known = await knownOf(host, surface, who)
    expect(known.filter(({ recognitionHash }) => recognitionHash !== null)).toHaveLength(1)
  })

  it('goes with the account', async () => {
    const host = await openHost()
    const who = await person(host, surface)
    await loginHere(host, surface, who, home)
    await host.auth[surface].users.delete(who.id)
    expect(await knownOf(host, surface, who)).toEqual([])
  })

  it('one of the other surface counts for nothing', async () => {
    const other: Surface = surface === 'operator' ? 'client' : 'operator'
    const host = await openHost()
    const [who, foreign] = [await person(host, surface), await person(host, other)]
    const cookie = await loginHere(host, other, foreign, home)
    const ids = idsIn(await loginHere(host, surface, who, home, cookie))
    expect(ids).toHaveLength(1)
    expect(idsIn(cookie)).not.toEqual(ids)
    expect((await signIn(host, surface, who)).cookie).not.toContain('recognition')
  })
})
