import { expect, it } from 'vitest'
import type { ProviderId } from '../../../src/identity-providers/providers.js'
import type { Surface } from '../../../src/ports/surface.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import { finish } from '../../support/people/authenticator.js'
import { idsIn, recognitionCookie, recognitionOf } from '../../support/people/recognition-steps.js'
import {
  flowCookieOf,
  locationOf,
  memberOf,
  type OauthHost,
  oauthHost,
  webTarget,
} from './oauth-host.js'

const ada: Account = { subject: '1815', email: 'ada@example.org', verified: true }
const bob: Account = { subject: '1791', email: 'bob@example.org', verified: true }

/** The way out with what the browser keeps, and the way back without, as from another site. */
async function signInWith(
  host: OauthHost,
  surface: Surface,
  { provider, account }: { readonly provider: ProviderId; readonly account: Account },
  cookie: string,
  from?: string,
) {
  const query = new URLSearchParams({ redirectUri: webTarget[surface] })
  const path = `/v1/auth/${surface}/oauth/${provider}/start?${query}`
  const begun = await host.send('GET', path, { cookie })
  expect(recognitionOf(begun)).toBeUndefined()
  const brought = host.stub.agree(locationOf(begun), account)
  const back = await host.comeBack(surface, provider, brought, flowCookieOf(begun), from)
  await host.auth.close()
  return back
}

eachHost.describe('a browser that signs in with a provider', (kind) => {
  eachSurface.it('is known by what it kept when it left', async (surface) => {
    const host = await oauthHost({}, kind)
    const planted = recognitionCookie(surface, 'planted-by-a-stranger0')
    for (const at of [
      { provider: 'google', account: ada },
      { provider: 'apple', account: bob },
    ] as const) {
      const first = await signInWith(host, surface, at, planted, '192.0.2.7')
      const cookie = recognitionOf(first) ?? ''
      expect(idsIn(cookie)).toEqual([
        expect.stringMatching(/^[\w-]{22}$/),
        'planted-by-a-stranger0',
      ])
      expect(idsIn(cookie)[0]).not.toBe('planted-by-a-stranger0')
      const told = eventsOf(host, 'login.newDevice').length
      const again = await signInWith(host, surface, at, cookie, '203.0.113.9')
      expect(recognitionOf(again)).toBe(cookie)
      expect(eventsOf(host, 'login.newDevice')).toHaveLength(told)
    }
  })
})

eachSurface.describe('a login by a provider', (surface) => {
  it('keeps what the browser sent out of sight while it is on its way', async () => {
    const host = await oauthHost()
    const id = 'the-id-of-this-browser'
    const query = new URLSearchParams({ redirectUri: webTarget[surface] })
    const begun = await host.send('GET', `/v1/auth/${surface}/oauth/google/start?${query}`, {
      cookie: `${recognitionCookie(surface, id)}.${'x'.repeat(4000)}`,
    })
    expect(begun.status).toBe(302)
    const flows = await storedIn(host, surface).challenges.find({ userId: null }, { limit: 9 })
    const stored = JSON.stringify(flows)
    expect(flows).toHaveLength(1)
    expect(stored).not.toContain(id)
    expect(stored.length).toBeLessThan(1500)
    expect(locationOf(begun)).not.toContain(id)
  })

  it('that fails or waits sets nothing', async () => {
    const host = await oauthHost()
    const { authorizationUrl, cookie } = await host.depart(surface, 'google')
    const { state = '' } = host.stub.agree(authorizationUrl, ada)
    const denied = await host.comeBack(surface, 'google', { state, error: 'access_denied' }, cookie)
    expect([memberOf(denied, 'error'), recognitionOf(denied)]).toEqual(['oauth_denied', undefined])
    const settings = { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' } as const
    const strict = await oauthHost({ settings })
    const waiting = await strict.signIn(surface, 'google', ada)
    expect(memberOf(waiting, 'ticket')).not.toBe('')
    expect(recognitionOf(waiting)).toBeUndefined()
    const refused = await finish(strict, surface, memberOf(waiting, 'ticket'), '000000')
    expect([outcomeOf(refused), refused.setCookies]).toEqual(['401 mfa_ticket_invalid', []])
  })

  it('from an app is known by what comes with the code', async () => {
    const host = await oauthHost()
    const signIn = async (more: object) => {
      const url = await host.departFromApp(surface, 'google')
      const back = await host.comeBack(surface, 'google', host.stub.agree(url, ada))
      expect(recognitionOf(back)).toBeUndefined()
      const reply = await host.exchange(surface, memberOf(back, 'code'), more)
      await host.auth.close()
      return textOf(reply.json(), 'recognitionId')
    }
    const recognitionId = await signIn({})
    expect(recognitionId).toMatch(/^[\w-]{22}$/)
    expect(await signIn({ recognitionId })).toBe(recognitionId)
    expect(await signIn({ recognitionId: 'planted-by-a-stranger0' })).not.toBe(
      'planted-by-a-stranger0',
    )
  })
})
