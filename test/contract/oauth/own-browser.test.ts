import assert from 'node:assert/strict'
import { expect, it } from 'vitest'
import type { ProviderId } from '../../../src/identity-providers/providers.js'
import type { Surface } from '../../../src/ports/surface.js'
import { type Reply, refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import { codeOf } from '../../support/people/authenticator.js'
import { softwareAuthenticator } from '../../support/people/passkey-authenticator.js'
import { origins, passkeysOn } from '../../support/people/passkey-people.js'
import {
  flowCookieOf,
  locationOf,
  memberOf,
  type OauthHost,
  oauthHost,
  waitingOf,
  webTarget,
} from './oauth-host.js'

const ada: Account = { subject: '1815', email: 'ada@example.org', verified: true }
const required = {
  mfaPolicyOperator: 'required',
  mfaPolicyClient: 'required',
  webauthnMode: 'secondFactor',
} as const
/** One comes back by a link, the other by a form, each with a cookie of its own. */
const ways = ['google', 'apple'] as const

interface Place {
  readonly host: OauthHost
  readonly surface: Surface
  readonly provider: ProviderId
}

/** A browser, as far as it matters here: whoever has the ticket sends it with these cookies. */
function browser({ host, surface }: Place, cookie?: string) {
  const known = cookie === undefined ? {} : { cookie }
  const send: OauthHost['send'] = (method, path, options = {}) =>
    host.send(method, path, { ...options, ...known })
  const post = (path: string, body: object) => send('POST', `/v1/auth/${surface}${path}`, { body })
  return { post, passkeys: passkeysOn({ send }, surface) }
}

/** Whoever else might have the address: another browser on a flow of its own, and one on none. */
async function strangers(place: Place, own: string) {
  const other = await place.host.depart(place.surface, place.provider)
  const name = own.slice(0, own.indexOf('='))
  const cookies = [undefined, other.cookie, `${name}=`, `${name}=x`, `${own}; ${own}`]
  return cookies.map((cookie) => browser(place, cookie))
}

/** A ticket there is, told apart from none by nothing. */
function expectUnknown(reply: Reply, unknown: Reply): void {
  expect(outcomeOf(reply)).toBe('401 mfa_ticket_invalid')
  expect([reply.text, reply.setCookies]).toEqual([unknown.text, []])
}

const nobodys = { mfaToken: 'x'.repeat(43) }
const code = '000000'

eachHost.describe('a login by a provider that waits', (kind) => {
  const places = eachSurface.cells.flatMap((surface) =>
    ways.map((provider) => ({ surface, provider })),
  )

  it.each(places)(
    'enrolls an app, and uses it, in the browser it began in alone: $provider [$surface]',
    async ({ surface, provider }) => {
      const place = { host: await oauthHost({ settings: required }, kind), surface, provider }
      const arrived = await place.host.signIn(surface, provider, ada)
      expect(memberOf(arrived, 'status')).toBe('mfaEnrollmentRequired')
      const { mfaToken, cookie } = waitingOf(arrived)
      const own = browser(place, cookie)
      const unknown = await own.post('/mfa/totp', nobodys)
      for (const { post } of await strangers(place, cookie)) {
        expectUnknown(await post('/mfa/totp', { mfaToken }), unknown)
      }
      const secret = textOf((await own.post('/mfa/totp', { mfaToken })).json(), 'secret')
      const shown = { mfaToken, code: codeOf(place.host, secret) }
      for (const { post } of await strangers(place, cookie)) {
        expectUnknown(await post('/mfa/totp/confirm', shown), unknown)
      }
      const done = await own.post('/mfa/totp/confirm', shown)
      expect(outcomeOf(done)).toBe('200')
      refreshCookieOf(done, surface)

      const again = waitingOf(await place.host.signIn(surface, provider, ada))
      await place.host.clock.advance(30_000)
      const next = { mfaToken: again.mfaToken, method: 'totp', code: codeOf(place.host, secret) }
      for (const { post } of await strangers(place, again.cookie)) {
        expectUnknown(await post('/login/mfa', next), unknown)
      }
      const finished = await browser(place, again.cookie).post('/login/mfa', next)
      expect(outcomeOf(finished)).toBe('200')
      refreshCookieOf(finished, surface)
    },
  )

  it.each(places)(
    'registers and shows a passkey there alone: $provider [$surface]',
    async ({ surface, provider }) => {
      const place = { host: await oauthHost({ settings: required }, kind), surface, provider }
      const authenticator = softwareAuthenticator({ origin: origins[surface] })
      const first = waitingOf(await place.host.signIn(surface, provider, ada))
      const at = browser(place, first.cookie)
      const unknown = await at.post('/mfa/totp', nobodys)
      const begun = await at.passkeys.startRegistration({ mfaToken: first.mfaToken })
      assert.equal(begun.status, 200, begun.text)
      const { challengeId, options } = JSON.parse(begun.text)
      const made = authenticator.create(options)
      const who = { mfaToken: first.mfaToken }
      for (const { passkeys } of await strangers(place, first.cookie)) {
        expectUnknown(await passkeys.startRegistration(who), unknown)
        expectUnknown(await passkeys.finishRegistration(who, challengeId, made), unknown)
      }
      const registered = await at.passkeys.finishRegistration(who, challengeId, made)
      expect(outcomeOf(registered)).toBe('201')
      refreshCookieOf(registered, surface)

      const arrived = await place.host.signIn(surface, provider, ada)
      expect(memberOf(arrived, 'methods')).toBe('webauthn')
      const { mfaToken, cookie } = waitingOf(arrived)
      const own = browser(place, cookie)
      const asked = await own.passkeys.begunLogin(mfaToken)
      const response = authenticator.get(asked.options)
      for (const { post, passkeys } of await strangers(place, cookie)) {
        expectUnknown(await passkeys.startLogin(mfaToken), unknown)
        expectUnknown(await passkeys.finishLogin(asked.challengeId, response, mfaToken), unknown)
        expectUnknown(await post('/login/mfa', { mfaToken, method: 'totp', code }), unknown)
      }
      const done = await own.passkeys.finishLogin(asked.challengeId, response, mfaToken)
      expect(outcomeOf(done)).toBe('200')
      refreshCookieOf(done, surface)
    },
  )
})

eachSurface.describe('the way back of a login that waits', (surface) => {
  it.each(ways)('carries its ticket in the fragment alone: %s', async (provider) => {
    const host = await oauthHost({ settings: required })
    const arrived = await host.signIn(surface, provider, ada)
    const [page = '', hash] = locationOf(arrived).split('#')
    expect(page).toBe(webTarget[surface])
    const members = new URLSearchParams(hash)
    expect([...members.keys()]).toEqual(['status', 'ticket'])
    const { mfaToken, cookie } = waitingOf(arrived)
    const own = browser({ host, surface, provider }, cookie)
    const { secret } = (await own.post('/mfa/totp', { mfaToken })).json()
    await own.post('/mfa/totp/confirm', { mfaToken, code: codeOf(host, String(secret)) })
    const again = locationOf(await host.signIn(surface, provider, ada))
    expect(again.replace(/ticket=[\w-]+/, 'ticket')).toBe(
      `${webTarget[surface]}#status=mfaRequired&ticket&methods=totp%2CbackupCode`,
    )
  })

  it('tells an error in the query: it is no secret, and the page’s server may read it', async () => {
    const host = await oauthHost()
    const failed = new URL(locationOf(await host.signIn(surface, 'google', { subject: '7' })))
    expect(failed.searchParams.get('error')).toBe('oauth_email_unverified')
    expect(failed.hash).toBe('')
  })
})

eachSurface.describe('what a browser keeps of a flow', (surface) => {
  it('lasts as long as the ticket, however late the answer came, and nobody else’s attempts count', async () => {
    const host = await oauthHost({ settings: required })
    const { authorizationUrl, cookie } = await host.depart(surface, 'google')
    await host.clock.advance(10 * 60_000 - 1)
    const arrived = await host.comeBack(
      surface,
      'google',
      host.stub.agree(authorizationUrl, ada),
      cookie,
    )
    expect(arrived.setCookies.map((one) => one.replace(/^[^;]*; /, ''))).toEqual([
      'Max-Age=600; Path=/; HttpOnly; SameSite=Lax; Secure',
    ])
    expect(flowCookieOf(arrived)).toBe(cookie)
    const { mfaToken } = waitingOf(arrived)
    const place = { host, surface, provider: 'google' } as const
    for (let guess = 0; guess < 10; guess += 1) {
      await browser(place).post('/mfa/totp/confirm', { mfaToken, code })
    }
    expect((await browser(place, cookie).post('/mfa/totp', { mfaToken })).status).toBe(201)
  })

  it('is not kept on of a login that is complete, nor of one that failed', async () => {
    const host = await oauthHost()
    const complete = await host.signIn(surface, 'google', ada)
    expect(complete.setCookies.filter((one) => one.includes('_oauth'))).toEqual([])
    const failed = await host.signIn(surface, 'google', { subject: '7' })
    expect([memberOf(failed, 'error'), failed.setCookies]).toEqual(['oauth_email_unverified', []])
  })

  it('is sent by pages of another site where the other cookies are', async () => {
    const host = await oauthHost({ settings: { ...required, cookieSameSite: 'none' } })
    const begun = await host.startWeb(surface, 'google')
    expect(begun.setCookies[0]).toContain('SameSite=None; Secure')
    const arrived = await host.signIn(surface, 'google', ada)
    expect(arrived.setCookies[0]).toContain('Max-Age=600; Path=/; HttpOnly; SameSite=None; Secure')
  })

  it('is nothing an app needs, whose ticket came in a body', async () => {
    const host = await oauthHost({ settings: required })
    const reply = await host.signInApp(surface, 'google', ada)
    expect(reply.json()['status']).toBe('mfaEnrollmentRequired')
    const mfaToken = textOf(reply.json(), 'mfaToken')
    const place = { host, surface, provider: 'google' } as const
    expect((await browser(place).post('/mfa/totp', { mfaToken })).status).toBe(201)
  })
})
