import { describe, expect, it } from 'vitest'
import { expectProblem } from '../../support/hosts/expectations.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachHost } from '../../support/hosts/matrix.js'
import { storedIn, storedUser } from '../../support/hosts/open-host.js'
import { tenants } from '../../support/outside/provider-stub/account.js'
import { codeOf, enrolled, passwordLogin } from '../../support/people/authenticator.js'
import { goodPassword, type Person, person } from '../../support/people/people.js'
import { trusting, trustingPerson } from '../../support/people/trusted-device.js'
import {
  bounced,
  bouncedInApp,
  confirm,
  inApp,
  linkCookieOf,
  offeringHost,
  signInWith,
  workspaceAccount,
} from './link-offers.js'
import {
  identityOf,
  locationOf,
  memberOf,
  type OauthHost,
  oauthHost,
  storeSettings,
  webTarget,
} from './oauth-host.js'

const offered = { linkOffer: { provider: 'google', expiresIn: 600 } }
const withPassword = { currentPassword: goodPassword }

/** How many offers the operator has. */
async function offers(host: OauthHost, { id: userId }: Person): Promise<number> {
  return (await storedIn(host, 'operator').linkOffers.find({ userId }, { limit: 9 })).length
}

/** An operator whose sign-in by Google bounced, and who then signed in with the password. */
async function offeredSession(host: OauthHost) {
  const who = await person(host, 'operator')
  const account = workspaceAccount(who)
  const cookie = await bounced(host, account)
  const login = (await signInWith(host, who, { cookie })).json()
  expect(login).toMatchObject(offered)
  return { who, account, cookie, bearer: textOf(login, 'accessToken') }
}

eachHost.describe('linking after a bounce', (kind) => {
  it('a sign-in by Google that bounced is linked by the session that signs in next', async () => {
    const told: string[] = []
    const host = await offeringHost({ onEvent: ({ type }) => void told.push(type) }, kind)
    const { who, account, cookie, bearer } = await offeredSession(host)
    expect(await identityOf(host, 'operator', 'google', account)).toBeNull()
    const reply = await confirm(host, { bearer, cookie, body: withPassword })
    expect([reply.status, reply.text]).toEqual([204, ''])
    expect(reply.setCookies).toEqual([expect.stringMatching(/^__Host-op_link=; Max-Age=0/)])
    expect(await identityOf(host, 'operator', 'google', account)).toMatchObject({ userId: who.id })
    const login = await host.signIn('operator', 'google', account)
    expect(locationOf(login)).toBe(webTarget.operator)
    await host.auth.close()
    expect(told.filter((type) => type === 'identity.linked')).toHaveLength(1)
    const mails = host.mailer.sent.filter(({ template }) => template === 'identityChanged')
    expect(mails).toMatchObject([{ to: who.email, data: { provider: 'google', change: 'linked' } }])
    const records = await storedIn(host, 'operator').auditRecords.find(
      { targetId: who.id },
      { limit: 100 },
    )
    expect(records.filter(({ action }) => action === 'identity.linked')).toMatchObject([
      { actorId: who.id, targetId: who.id },
    ])
  })

  it('an app shows the verifier of the flow that bounced', async () => {
    const host = await offeringHost({}, kind)
    const who = await person(host, 'operator')
    const account = workspaceAccount(who)
    await bouncedInApp(host, account)
    const login = (await signInWith(host, who, inApp)).json()
    expect(login).toMatchObject(offered)
    const bearer = textOf(login, 'accessToken')
    expectProblem(await confirm(host, { bearer, body: withPassword }), 409, 'link_not_offered')
    const body = { ...withPassword, ...inApp }
    expect((await confirm(host, { bearer, body })).status).toBe(204)
    expect(await identityOf(host, 'operator', 'google', account)).toMatchObject({ userId: who.id })
  })

  it('of two requests at once one links, and none after it', async () => {
    const host = await offeringHost({}, kind)
    const { account, cookie, bearer, who } = await offeredSession(host)
    const sent = { bearer, cookie, body: withPassword }
    const replies = await Promise.all([1, 2, 3, 4].map(() => confirm(host, sent)))
    const statuses = replies.map(({ status }) => status).sort()
    expect(statuses).toEqual([204, 409, 409, 409])
    expectProblem(await confirm(host, sent), 409, 'link_not_offered')
    expect(await identityOf(host, 'operator', 'google', account)).toMatchObject({ userId: who.id })
  })
})

describe('which sign-ins are offered', () => {
  it('without the option nothing is kept, offered or confirmed', async () => {
    const host = await oauthHost()
    const who = await person(host, 'operator')
    const account = workspaceAccount(who)
    expect(await bounced(host, account)).toBe('')
    expect(await offers(host, who)).toBe(0)
    const login = (await signInWith(host, who, { cookie: '__Host-op_link=any' })).json()
    expect(login).not.toHaveProperty('linkOffer')
    const bearer = textOf(login, 'accessToken')
    const sent = { bearer, cookie: '__Host-op_link=any', body: withPassword }
    expectProblem(await confirm(host, sent), 409, 'link_not_offered')
  })

  it('the client surface has neither the offer nor the route', async () => {
    const host = await offeringHost()
    const { id: userId, email } = await person(host, 'client')
    const account = workspaceAccount({ email })
    const reply = await host.signIn('client', 'google', account)
    expect(memberOf(reply, 'error')).toBe('account_exists_link_required')
    expect(reply.setCookies).toEqual([])
    expect(await storedIn(host, 'client').linkOffers.find({ userId }, { limit: 9 })).toEqual([])
    const path = '/v1/auth/client/oauth/google/link/confirm'
    expect((await host.send('POST', path, { body: {} })).status).toBe(404)
  })

  it.each([
    ['Google for an address of another provider', 'google', { hostedDomain: '' }],
    ['Microsoft with xms_edov', 'microsoft', { verified: true, tenant: tenants.acme }],
    ['Apple', 'apple', {}],
    ['GitHub, primary and verified', 'github', {}],
  ] as const)('%s', async (name, provider, more) => {
    const host = await offeringHost()
    const who = await person(host, 'operator')
    const cookie = await bounced(host, { ...workspaceAccount(who), ...more }, provider)
    const isAuthoritative = !name.startsWith('Google')
    expect([cookie !== '', await offers(host, who)]).toEqual([
      isAuthoritative,
      isAuthoritative ? 1 : 0,
    ])
    const login = (await signInWith(host, who, { cookie })).json()
    const offer = isAuthoritative ? { provider, expiresIn: 600 } : undefined
    expect(login['linkOffer']).toEqual(offer)
  })

  it.each(['acme', 'evil'] as const)('once a tenant is shut out, none of it: %s', async (name) => {
    const host = await offeringHost()
    const who = await person(host, 'operator')
    const account = { ...workspaceAccount(who), verified: true, tenant: tenants[name] }
    const cookie = await bounced(host, account, 'microsoft')
    await storeSettings(host, { microsoftTenant: tenants.acme })
    const login = (await signInWith(host, who, { cookie })).json()
    expect('linkOffer' in login).toBe(name === 'acme')
  })

  it('Microsoft without xms_edov names an address and is offered nothing', async () => {
    const host = await offeringHost()
    const who = await person(host, 'operator')
    const account = { subject: '77', email: who.email, tenant: tenants.evil }
    const reply = await host.signIn('operator', 'microsoft', account)
    expect(memberOf(reply, 'error')).toBe('oauth_email_unverified')
    expect([linkCookieOf(reply), await offers(host, who)]).toEqual([null, 0])
  })

  it.each([
    ['is disabled', { enabled: false }],
    ['never proved its mailbox', { emailVerifiedAt: null, selfRegistered: false }],
  ] as const)(
    'an account that %s: a cookie as for others, and nothing behind it',
    async (_, change) => {
      const host = await offeringHost()
      const who = await person(host, 'operator')
      const { users } = storedIn(host, 'operator')
      await users.update(who.id, { enabled: true }, change)
      expect(await bounced(host, workspaceAccount(who))).toMatch(/^__Host-op_link=[\w-]{43}$/)
      expect(await offers(host, who)).toBe(0)
    },
  )

  it('a user with an account of the provider linked already is offered no second one', async () => {
    const host = await offeringHost()
    const { who, cookie, bearer } = await offeredSession(host)
    expect((await confirm(host, { bearer, cookie, body: withPassword })).status).toBe(204)
    await bounced(host, workspaceAccount(who))
    expect(await offers(host, who)).toBe(0)
  })
})

describe('when it is offered', () => {
  it('a password alone is offered nothing: the second factor comes first', async () => {
    const host = await offeringHost()
    const who = await enrolled(host, 'operator')
    const cookie = await bounced(host, workspaceAccount(who))
    const half = (await signInWith(host, who, { cookie })).json()
    expect(half['status']).toBe('mfaRequired')
    expect(half).not.toHaveProperty('linkOffer')
    const mfaToken = textOf(half, 'mfaToken')
    // A ticket is no session, and a code without the cookie is of another browser.
    expect((await confirm(host, { bearer: mfaToken, cookie })).status).toBe(401)
    const code = await who.nextCode()
    const body = { mfaToken, method: 'totp', code }
    const login = await host.send('POST', '/v1/auth/operator/login/mfa', { cookie, body })
    expect(login.json()).toMatchObject({ linkOffer: { provider: 'google' } })
    const bearer = textOf(login.json(), 'accessToken')
    // The proof of the sign-in is fresh: the password is not asked for.
    expect((await confirm(host, { bearer, cookie })).status).toBe(204)
  })

  it('a sign-in that enrolls its factor is complete with it', async () => {
    const host = await offeringHost()
    const who = await person(host, 'operator')
    const cookie = await bounced(host, workspaceAccount(who))
    await storeSettings(host, { mfaPolicyOperator: 'required' })
    const mfaToken = textOf((await signInWith(host, who, { cookie })).json(), 'mfaToken')
    const base = '/v1/auth/operator/mfa/totp'
    const begun = await host.send('POST', base, { body: { mfaToken } })
    const body = { mfaToken, code: codeOf(host, textOf(begun.json(), 'secret')) }
    const login = await host.send('POST', `${base}/confirm`, { cookie, body })
    expect(login.json()).toMatchObject({ linkOffer: { provider: 'google' } })
    const bearer = textOf(login.json(), 'accessToken')
    expect((await confirm(host, { bearer, cookie })).status).toBe(204)
  })

  it('after a sign-in by another provider the page is told', async () => {
    const host = await offeringHost()
    const who = await person(host, 'operator')
    const { linkCookie, signIn } = await byGithub(host, who)
    const back = await signIn(linkCookie)
    expect(memberOf(back, 'linkOffer')).toBe('google')
  })

  it('the offer ends ten minutes after the bounce', async () => {
    const host = await offeringHost()
    const { cookie, bearer, who } = await offeredSession(host)
    await host.clock.advance(9 * 60_000)
    const late = (await signInWith(host, who, { cookie })).json()
    expect(late).toMatchObject({ linkOffer: { provider: 'google', expiresIn: 60 } })
    await host.clock.advance(60_000)
    const sent = { cookie, body: withPassword }
    const fresh = textOf(late, 'accessToken')
    expectProblem(await confirm(host, { ...sent, bearer: fresh }), 409, 'link_not_offered')
    expect(bearer).not.toBe(fresh)
    const after = (await signInWith(host, who, { cookie })).json()
    expect(after).not.toHaveProperty('linkOffer')
  })
})

/** An operator with GitHub linked, whose sign-in by Google bounced. */
async function byGithub(host: OauthHost, who: Awaited<ReturnType<typeof person>>) {
  const atGithub = { subject: '4711', email: 'elsewhere@example.net', verified: true }
  await host.signIn('operator', 'github', atGithub)
  const other = await storedUser(host, 'operator', atGithub.email)
  const { oauthIdentities } = storedIn(host, 'operator')
  const [identity] = await oauthIdentities.find({ userId: other.id }, { limit: 1 })
  await oauthIdentities.update(identity?.id ?? '', { userId: other.id }, { userId: who.id })
  const linkCookie = await bounced(host, workspaceAccount(who))
  return {
    linkCookie,
    async signIn(kept: string) {
      const { authorizationUrl, cookie } = await host.depart('operator', 'github')
      const answer = host.stub.agree(authorizationUrl, atGithub)
      return host.comeBack('operator', 'github', answer, `${cookie}; ${kept}`)
    },
  }
}

describe('what a link is bound to', () => {
  it('planted: the browser of the bounce is not that of the sign-in', async () => {
    const host = await offeringHost()
    const who = await person(host, 'operator')
    // A stranger who holds the address at the provider, in a browser of their own.
    const planted = await bounced(host, workspaceAccount(who))
    const login = (await signInWith(host, who, {})).json()
    expect(login).not.toHaveProperty('linkOffer')
    const bearer = textOf(login, 'accessToken')
    // Not even with the cookie: the victim's session signed in without it.
    const sent = { bearer, cookie: planted, body: withPassword }
    expectProblem(await confirm(host, sent), 409, 'link_not_offered')
  })

  it('a planted cookie of the name beside the own one counts for none', async () => {
    const host = await offeringHost()
    const who = await person(host, 'operator')
    const own = await bounced(host, workspaceAccount(who))
    const planted = await bounced(host, workspaceAccount(who))
    const login = (await signInWith(host, who, { cookie: `${own}; ${planted}` })).json()
    expect(login).not.toHaveProperty('linkOffer')
  })

  it('another user of the browser voids it, for both', async () => {
    const host = await offeringHost()
    const [who, other] = [await person(host, 'operator'), await person(host, 'operator')]
    const account = workspaceAccount(who)
    const cookie = await bounced(host, account)
    const others = (await signInWith(host, other, { cookie })).json()
    expect(others).not.toHaveProperty('linkOffer')
    expect(await offers(host, who)).toBe(0)
    const sent = { bearer: textOf(others, 'accessToken'), cookie, body: withPassword }
    expectProblem(await confirm(host, sent), 409, 'link_not_offered')
    expect((await signInWith(host, who, { cookie })).json()).not.toHaveProperty('linkOffer')
    expect(await identityOf(host, 'operator', 'google', account)).toBeNull()
  })

  it('another user voids one that was offered to a session as well', async () => {
    const host = await offeringHost()
    const { cookie, bearer } = await offeredSession(host)
    const other = await person(host, 'operator')
    await signInWith(host, other, { cookie })
    const sent = { bearer, cookie, body: withPassword }
    expectProblem(await confirm(host, sent), 409, 'link_not_offered')
  })

  it('another user whose sign-in is not complete voids nothing', async () => {
    const host = await offeringHost()
    const who = await person(host, 'operator')
    const other = await enrolled(host, 'operator')
    const cookie = await bounced(host, workspaceAccount(who))
    const half = (await signInWith(host, other, { cookie })).json()
    expect(half['status']).toBe('mfaRequired')
    expect((await signInWith(host, who, { cookie })).json()).toMatchObject(offered)
  })

  it('another session of the same user cannot confirm it', async () => {
    const host = await offeringHost()
    const { who, cookie } = await offeredSession(host)
    const elsewhere = (await passwordLogin(host, 'operator', who)).json()
    const sent = { bearer: textOf(elsewhere, 'accessToken'), cookie, body: withPassword }
    expectProblem(await confirm(host, sent), 409, 'link_not_offered')
  })

  it('the newest sign-in of the browser has it, and no older one', async () => {
    const host = await offeringHost()
    const { who, cookie, bearer: first } = await offeredSession(host)
    const second = (await signInWith(host, who, { cookie })).json()
    expect(second).toMatchObject(offered)
    const sent = { cookie, body: withPassword }
    expectProblem(await confirm(host, { ...sent, bearer: first }), 409, 'link_not_offered')
    const bearer = textOf(second, 'accessToken')
    expect((await confirm(host, { ...sent, bearer })).status).toBe(204)
  })

  it.each(['before', 'after'])(
    'a sign-out in the browser %s the sign-in voids it',
    async (when) => {
      const host = await offeringHost()
      const [who, other] = [await person(host, 'operator'), await person(host, 'operator')]
      const session = textOf((await passwordLogin(host, 'operator', other)).json(), 'accessToken')
      const cookie = await bounced(host, workspaceAccount(who))
      const mine = when === 'after' ? (await signInWith(host, who, { cookie })).json() : null
      const bearer = mine === null ? session : textOf(mine, 'accessToken')
      const reply = await host.send('POST', '/v1/auth/operator/logout', {
        bearer,
        cookie,
        body: {},
      })
      expect(reply.status).toBe(204)
      expect(reply.setCookies).toContainEqual(expect.stringMatching(/^__Host-op_link=; Max-Age=0/))
      expect(await offers(host, who)).toBe(0)
      expect((await signInWith(host, who, { cookie })).json()).not.toHaveProperty('linkOffer')
    },
  )

  it('a sign-out elsewhere leaves the cookie behind, and the offer is void', async () => {
    const host = await offeringHost()
    const { who, cookie, bearer } = await offeredSession(host)
    await host.send('POST', '/v1/auth/operator/logout', { bearer, body: {} })
    const sent = { bearer, cookie, body: withPassword }
    expectProblem(await confirm(host, sent), 401, 'session_revoked')
    expect(await offers(host, who)).toBe(1)
  })

  it('a cookie is no verifier, and a verifier no cookie', async () => {
    const host = await offeringHost()
    const who = await person(host, 'operator')
    const cookie = await bounced(host, workspaceAccount(who))
    const linkVerifier = cookie.slice(cookie.indexOf('=') + 1)
    expect((await signInWith(host, who, { linkVerifier })).json()).not.toHaveProperty('linkOffer')
    await bouncedInApp(host, workspaceAccount(who))
    const asCookie = { cookie: `__Host-op_link=${inApp.linkVerifier}` }
    expect((await signInWith(host, who, asCookie)).json()).not.toHaveProperty('linkOffer')
  })

  it('the provider in the path is the one that was offered', async () => {
    const host = await offeringHost()
    const { cookie, bearer } = await offeredSession(host)
    const sent = { bearer, cookie, body: withPassword }
    for (const provider of ['github', 'nobody']) {
      expectProblem(await confirm(host, { ...sent, provider }), 409, 'link_not_offered')
    }
    expect((await confirm(host, sent)).status).toBe(204)
  })
})

describe('what linking asks for', () => {
  it('a wrong or missing password leaves the offer', async () => {
    const host = await offeringHost()
    const { cookie, bearer } = await offeredSession(host)
    for (const body of [{}, { currentPassword: 'not the password of it' }]) {
      expectProblem(await confirm(host, { bearer, cookie, body }), 401, 'invalid_credentials')
    }
    expect((await confirm(host, { bearer, cookie, body: withPassword })).status).toBe(204)
  })

  it('a trusted device is no proof: the second factor is asked for', async () => {
    const host = await offeringHost(trusting)
    const who = await trustingPerson(host, 'operator')
    const device = `__Host-op_device=${who.deviceToken}`
    const cookie = await bounced(host, workspaceAccount(who))
    const login = (await signInWith(host, who, { cookie: `${device}; ${cookie}` })).json()
    expect(login).toMatchObject(offered)
    const bearer = textOf(login, 'accessToken')
    const refused = await confirm(host, { bearer, cookie, body: withPassword })
    expect([refused.status, refused.code]).toEqual([403, 'step_up_required'])
    const proof = { method: 'totp', code: await who.nextCode() }
    await host.send('POST', '/v1/auth/operator/step-up', { bearer, body: proof })
    expect((await confirm(host, { bearer, cookie })).status).toBe(204)
  })

  it('an account at the provider that was taken meanwhile is not linked', async () => {
    const host = await offeringHost()
    const { cookie, bearer, account } = await offeredSession(host)
    const thief = await person(host, 'operator')
    const { oauthIdentities } = storedIn(host, 'operator')
    await host.signIn('operator', 'google', { ...account, email: 'another@example.org' })
    const taken = await identityOf(host, 'operator', 'google', account)
    await oauthIdentities.update(taken?.id ?? '', { provider: 'google' }, { userId: thief.id })
    const sent = { bearer, cookie, body: withPassword }
    expectProblem(await confirm(host, sent), 409, 'identity_already_linked')
    expect(await identityOf(host, 'operator', 'google', account)).toMatchObject({
      userId: thief.id,
    })
  })

  it('pages of other origins cannot confirm', async () => {
    const host = await offeringHost()
    const { cookie, bearer } = await offeredSession(host)
    const path = '/v1/auth/operator/oauth/google/link/confirm'
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    const reply = await host.send('POST', path, { bearer, cookie, body: withPassword, headers })
    expectProblem(reply, 403, 'csrf_rejected')
  })
})
