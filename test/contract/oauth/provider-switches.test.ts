import { expect, it } from 'vitest'
import { type ProviderId, providerIds } from '../../../src/identity-providers/providers.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { refreshCookieOf } from '../../support/hosts/http-client.js'
import { surfaces } from '../../support/hosts/open-host.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import { allEnabled } from '../../support/outside/provider-stub/credentials.js'
import {
  appTarget,
  locationOf,
  memberOf,
  oauthHost,
  storeSettings,
  webTarget,
} from './oauth-host.js'

const switches = surfaces.flatMap((surface) =>
  providerIds.map((provider) => {
    const door = surface === 'operator' ? ('Operator' as const) : ('Client' as const)
    return { surface, provider, key: `${provider}${door}Enabled` as const }
  }),
)
const allOff = Object.fromEntries(Object.keys(allEnabled).map((key) => [key, false]))

/** Each of an address of its own: a second provider does not open the account of the first. */
const accountAt = (provider: ProviderId): Account => ({
  subject: '1815',
  email: `${provider}@example.org`,
  verified: true,
})

it('every provider signs in by a web flow and by a mobile flow, on both surfaces', async () => {
  const host = await oauthHost()
  for (const { surface, provider } of switches) {
    const account = accountAt(provider)
    const web = await host.signIn(surface, provider, account)
    expect([web.status, locationOf(web)], provider).toEqual([302, webTarget[surface]])
    expect(refreshCookieOf(web, surface)).not.toBe('')
    const url = await host.departFromApp(surface, provider)
    const back = await host.comeBack(surface, provider, host.stub.agree(url, account))
    expect(back.setCookies).toEqual([])
    expect(locationOf(back)).toBe(`${appTarget[surface]}?code=${memberOf(back, 'code')}`)
    const app = await host.exchange(surface, memberOf(back, 'code'))
    expect([app.status, app.setCookies], provider).toEqual([200, []])
    expect(Object.keys(app.json())).toEqual(
      expect.arrayContaining(['accessToken', 'refreshToken', 'tokenType']),
    )
  }
})

it('each of eight switches opens one provider on one surface, and closes it at once', async () => {
  for (const { surface, provider, key } of switches) {
    const host = await oauthHost({ settings: { ...allOff, [key]: true } })
    for (const each of surfaces) {
      const listed = (await host.send('GET', `/v1/auth/${each}/oauth/providers`)).json()
      const ids = (listed['providers'] as readonly { id: string }[]).map(({ id }) => id)
      expect(ids, key).toEqual(each === surface ? [provider] : [])
    }
    for (const closed of switches.filter((one) => one.key !== key)) {
      const web = await host.startWeb(closed.surface, closed.provider)
      expectProblem(web, 403, 'oauth_provider_disabled')
      const app = await host.startApp(closed.surface, closed.provider)
      expectProblem(app, 403, 'oauth_provider_disabled')
    }
    const who = accountAt(provider)
    expect(locationOf(await host.signIn(surface, provider, who))).toBe(webTarget[surface])
    expect((await host.signInApp(surface, provider, who)).status).toBe(200)

    // Between the start and the way back.
    const { authorizationUrl, cookie } = await host.depart(surface, provider)
    const url = await host.departFromApp(surface, provider)
    const sent = await host.departFromApp(surface, provider)
    const code = memberOf(
      await host.comeBack(surface, provider, host.stub.agree(sent, who)),
      'code',
    )
    await storeSettings(host, { [key]: 'false' })
    const web = await host.comeBack(
      surface,
      provider,
      host.stub.agree(authorizationUrl, who),
      cookie,
    )
    expect([memberOf(web, 'error'), web.setCookies]).toEqual(['oauth_provider_disabled', []])
    const app = await host.comeBack(surface, provider, host.stub.agree(url, who))
    expect(memberOf(app, 'error')).toBe('oauth_provider_disabled')
    expectProblem(await host.exchange(surface, code), 403, 'oauth_provider_disabled')
  }
})

it('a session that a provider opened goes on when the provider is switched off, until it is ended', async () => {
  const host = await oauthHost({ settings: allEnabled })
  for (const surface of surfaces) {
    const reply = await host.signIn(surface, 'google', accountAt('google'))
    const refresh = (cookie: string) =>
      host.send('POST', `/v1/auth/${surface}/refresh-cookie`, { cookie })
    const door = surface === 'operator' ? 'Operator' : 'Client'
    await storeSettings(host, { [`google${door}Enabled`]: 'false' })
    expectProblem(await host.startWeb(surface, 'google'), 403, 'oauth_provider_disabled')
    const refreshed = await refresh(refreshCookieOf(reply, surface))
    expect(refreshed.status, refreshed.text).toBe(200)
    const user = await host.auth[surface].users.findByEmail('google@example.org')
    await host.auth[surface].terminateSessionsOf(user?.id ?? '')
    expect((await refresh(refreshCookieOf(refreshed, surface))).status).toBe(401)
  }
})
