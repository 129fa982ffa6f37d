import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import { providerIds } from '../../../src/identity-providers/providers.js'
import { refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import { storedUser } from '../../support/hosts/open-host.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import { appTarget, locationOf, memberOf, oauthHost, webTarget } from './oauth-host.js'

const ada: Account = {
  subject: '1815',
  email: 'Ada@example.org',
  verified: true,
  name: 'Ada Lovelace',
}

const all = eachSurface.cells.flatMap((surface) =>
  providerIds.map((provider) => ({ surface, provider })),
)

eachHost.describe('signing in with a provider', (kind) => {
  it.each(all)('in a browser: $provider [$surface]', async ({ surface, provider }) => {
    const host = await oauthHost({}, kind)
    const reply = await host.signIn(surface, provider, ada)
    expect([reply.status, locationOf(reply), reply.text]).toEqual([302, webTarget[surface], ''])
    const cookie = refreshCookieOf(reply, surface)
    const session = await host.send('GET', `/v1/auth/${surface}/session`, { cookie })
    expect(session.json()['user']).toMatchObject({
      email: 'Ada@example.org',
      name: 'Ada Lovelace',
      emailVerified: true,
    })
    const bearer = textOf(session.json(), 'accessToken')
    const me = await host.send('GET', `/v1/auth/${surface}/me`, { bearer })
    const linkedAt = new Date(host.clock.now()).toISOString()
    expect(me.json()).toMatchObject({
      hasPassword: false,
      identities: [{ provider, linkedAt }],
      kind: '',
    })
    expect(decodeJwt(bearer)['amr']).toEqual([])

    // The same account again, whatever its address is by now.
    const again = await host.signIn(surface, provider, { ...ada, email: 'countess@example.org' })
    const later = await host.send('GET', `/v1/auth/${surface}/session`, {
      cookie: refreshCookieOf(again, surface),
    })
    expect(later.json()['user']).toEqual(session.json()['user'])
    const elsewhere = surface === 'operator' ? 'client' : 'operator'
    expect(await host.auth[elsewhere].users.findByEmail('ada@example.org')).toBeNull()
  })

  it.each(all)('in an app: $provider [$surface] (RFC 8252)', async ({ surface, provider }) => {
    const host = await oauthHost({}, kind)
    const url = await host.departFromApp(surface, provider, { appState: 'from the app' })
    const back = await host.comeBack(surface, provider, host.stub.agree(url, ada))
    expect([back.status, back.setCookies]).toEqual([302, []])
    expect(locationOf(back).startsWith(`${appTarget[surface]}?code=`)).toBe(true)
    expect(memberOf(back, 'state')).toBe('from the app')
    expect(locationOf(back)).not.toMatch(/eyJ[\w-]+\.|token/)
    const code = memberOf(back, 'code')
    const reply = await host.exchange(surface, code)
    expect([reply.status, reply.setCookies]).toEqual([200, []])
    expect(reply.json()).toMatchObject({
      status: 'authenticated',
      tokenType: 'Bearer',
      user: { email: 'Ada@example.org' },
    })
    const refreshToken = textOf(reply.json(), 'refreshToken')
    const next = await host.send('POST', `/v1/auth/${surface}/refresh`, { body: { refreshToken } })
    expect(next.status).toBe(200)
    expect((await host.exchange(surface, code)).code).toBe('invalid_token')
    const user = await storedUser(host, surface, 'ada@example.org')
    expect(user).toMatchObject({
      kind: '',
      systemRole: 'guest',
      memberships: [],
      passwordHash: null,
    })
  })
})
