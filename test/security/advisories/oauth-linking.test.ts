import assert from 'node:assert/strict'
import { describe, expect, it } from 'vitest'
import { type ProviderId, providerIds } from '../../../src/identity-providers/providers.js'
import {
  flowCookieOf,
  identityOf,
  locationOf,
  memberOf,
  type OauthHost,
  oauthHost,
  webTarget,
} from '../../contract/oauth/oauth-host.js'
import { textOf } from '../../support/hosts/http-client.js'
import { storedIn, storedUser } from '../../support/hosts/open-host.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import { type Person, person, type SignedIn, signedInPerson } from '../../support/people/people.js'

const evil: Account = { subject: '666', email: 'eve@gmail.com', verified: true }

/** All that could name another account than the one that the flow began for. */
const otherNames = ({ id, email }: Person) => ({
  ...{ email, newEmail: email, login_hint: email, username: email },
  ...{ userId: id, user_id: id, sub: id, accountId: id, linkTo: id },
})

function startLink(host: OauthHost, who: Person & SignedIn, provider: ProviderId, more = {}) {
  const body = { redirectUri: webTarget.operator, currentPassword: who.password, ...more }
  return host.send('POST', `/v1/auth/operator/oauth/${provider}/link`, { bearer: who.bearer, body })
}

describe.each(providerIds)('a flow to %s whose requests name somebody else', (provider) => {
  it('a link is of the account that began it, whatever the requests and the browser say', async () => {
    const host = await oauthHost()
    const eve = await signedInPerson(host, 'operator')
    const victim = await signedInPerson(host, 'operator')
    const names = otherNames(victim)
    for (const [name, value] of Object.entries(names)) {
      const refused = await startLink(host, eve, provider, { [name]: value })
      expect([name, refused.status]).toEqual([name, 400])
    }
    const begun = await startLink(host, eve, provider)
    const url = new URL(textOf(begun.json(), 'authorizationUrl'))
    const brought = { ...names, ...host.stub.agree(url.href, evil) }
    // The browser is by now one in which the victim is signed in.
    const cookie = `${flowCookieOf(begun)}; ${victim.cookie}`
    const back = await host.comeBack('operator', provider, brought, cookie)
    expect(memberOf(back, 'status')).toBe('linked')
    expect((await identityOf(host, 'operator', provider, evil))?.userId).toBe(eve.id)
    const { oauthIdentities } = storedIn(host, 'operator')
    expect(await oauthIdentities.find({ userId: victim.id }, { limit: 9 })).toEqual([])
    expect((await storedUser(host, 'operator', eve.email)).id).toBe(eve.id)
    await host.auth.close()
    const to = host.mailer.sent.map((mail) => mail.to)
    expect(to).not.toContain(victim.email)
    expect(to).not.toContain(evil.email)
  })

  it('a first sign-in makes the account that the provider spoke of, whatever came along', async () => {
    const host = await oauthHost()
    const victim = await person(host, 'client')
    const { authorizationUrl, cookie } = await host.depart('client', provider)
    const brought = { ...otherNames(victim), ...host.stub.agree(authorizationUrl, evil) }
    const back = await host.comeBack('client', provider, brought, cookie)
    expect(locationOf(back)).toBe(webTarget.client)
    const made = await storedUser(host, 'client', evil.email ?? '')
    expect(made.id).not.toBe(victim.id)
    expect((await identityOf(host, 'client', provider, evil))?.userId).toBe(made.id)
    const { oauthIdentities } = storedIn(host, 'client')
    expect(await oauthIdentities.find({ userId: victim.id }, { limit: 9 })).toEqual([])
  })
})

it('of sixteen uses of one signed refresh token, of any kind, one rotates and the others end it', async () => {
  const settings = { refreshReuseGrace: '0s' }
  const host = await oauthHost({ settings })
  for (const surface of ['operator', 'client'] as const) {
    const { cookie } = await signedInPerson(host, surface)
    const path = `/v1/auth/${surface}/refresh-cookie`
    const replies = await Promise.all(
      Array.from({ length: 16 }, () => host.send('POST', path, { cookie })),
    )
    const won = replies.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    const next = won[0]?.setCookies.find((one) => /_refresh=/.test(one)) ?? assert.fail('no cookie')
    const after = await host.send('POST', path, { cookie: next.split(';')[0] ?? '' })
    expect([after.status, after.code]).toEqual([401, 'session_revoked'])
  }
})
