import { describe, expect, it } from 'vitest'
import type { Principal } from '../../../src/domain/context/actor.js'
import { eachHost } from '../../support/hosts/matrix.js'
import { eventsOf } from '../../support/hosts/open-host.js'
import { enrolled } from '../../support/people/authenticator.js'
import { goodPassword, person, signedInPerson, signIn } from '../../support/people/people.js'
import { locationOf, memberOf, type OauthHost, oauthHost, webTarget } from '../oauth/oauth-host.js'

const atGoogle = { subject: '1815', email: 'countess@example.net', verified: true }
const redirectUri = webTarget.client

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => Object(error).code ?? Object(error).name,
  )

async function customer(host: OauthHost) {
  const who = await signedInPerson(host, 'client')
  return { ...who, principal: await host.auth.client.authenticate(`Bearer ${who.bearer}`) }
}

/** The host's page sends the browser on, and keeps what the reply set. */
async function link(host: OauthHost, principal: Principal<'client'>, currentPassword?: string) {
  const given = { provider: 'google', redirectUri, currentPassword }
  const begun = await host.auth.client.identities.startLink(principal, given)
  const [cookie = ''] = begun.headers['set-cookie']
  const brought = host.stub.agree(begun.authorizationUrl, atGoogle)
  return host.comeBack('client', 'google', brought, cookie.split(';')[0])
}

eachHost.describe('a customer, by routes of the host', (kind) => {
  it('links an account of a provider, signs in with it, and unlinks it', async () => {
    const host = await oauthHost({}, kind)
    const who = await customer(host)
    const { identities } = host.auth.client
    // The dead end that this leads out of.
    const blocked = await host.signIn('client', 'google', { ...atGoogle, email: who.email })
    expect(memberOf(blocked, 'error')).toBe('account_exists_link_required')
    const back = await link(host, who.principal, who.password)
    expect([back.status, memberOf(back, 'status')]).toEqual([302, 'linked'])
    expect(await identities.list(who.id)).toMatchObject([{ provider: 'google', subject: '1815' }])
    const login = await host.signIn('client', 'google', atGoogle)
    expect([locationOf(login), login.setCookies.length > 1]).toEqual([redirectUri, true])
    const given = { provider: 'google', currentPassword: who.password }
    await identities.unlink(who.principal, given, { ip: '192.0.2.7', userAgent: 'Shop' })
    expect(await identities.list(who.id)).toEqual([])
    expect(eventsOf(host, 'identity.unlinked')).toMatchObject([
      { actorId: who.id, targetId: who.id, ip: '192.0.2.7', userAgent: 'Shop' },
    ])
    expect(await codeOf(identities.unlink(who.principal, given))).toBe('not_found')
  })

  it('sees every session and ends one of them, but none of another person', async () => {
    const host = await oauthHost({}, kind)
    const [who, other] = [await customer(host), await customer(host)]
    const elsewhere = await signIn(host, 'client', who)
    const { sessions } = host.auth.client
    const isOwn = (id: string) => id === who.principal.sessionId
    const theOther = (await sessions.list(who.id)).find(({ id, active }) => active && !isOwn(id))
    await sessions.terminate(who.principal, theOther?.id ?? '')
    await sessions.terminate(who.principal, theOther?.id ?? '')
    const me = (bearer: string) => host.send('GET', '/v1/auth/client/me', { bearer })
    expect((await me(elsewhere.bearer)).code).toBe('session_revoked')
    expect((await me(who.bearer)).status).toBe(200)
    const foreign = sessions.terminate(who.principal, other.principal.sessionId ?? '')
    expect(await codeOf(foreign)).toBe('session_not_found')
    expect((await me(other.bearer)).status).toBe(200)
  })
})

describe('a route of the host for a customer’s own account', () => {
  it('shows again who it is, as operators do', async () => {
    const host = await oauthHost()
    const who = await customer(host)
    expect(await codeOf(link(host, who.principal))).toBe('invalid_credentials')
    expect(await codeOf(link(host, who.principal, 'another password'))).toBe('invalid_credentials')
    const strong = await enrolled(host, 'client')
    const principal = await host.auth.client.authenticate(`Bearer ${strong.bearer}`)
    await host.clock.advance(6 * 60 * 1000)
    expect(await codeOf(link(host, principal, strong.password))).toBe('step_up_required')
    const body = { method: 'totp', code: strong.code() }
    await host.send('POST', '/v1/auth/client/step-up', { bearer: strong.bearer, body })
    expect(memberOf(await link(host, principal), 'status')).toBe('linked')
  })

  it('takes no ended session, no principal of the other surface, no facts of a page', async () => {
    const host = await oauthHost()
    const who = await customer(host)
    const operator = await signedInPerson(host, 'operator')
    const foreign = await host.auth.operator.authenticate(`Bearer ${operator.bearer}`)
    const { identities, sessions } = host.auth.client
    const own = who.principal.sessionId ?? ''
    for (const [principal, code] of [
      [foreign, 'audience_mismatch'],
      [{ surface: 'client', user: { id: who.id } }, 'TypeError'],
      [null, 'TypeError'],
    ] as const) {
      // What JavaScript lets a host give.
      const given = principal as unknown as Principal<'client'>
      expect(await codeOf(link(host, given, goodPassword))).toBe(code)
      expect(await codeOf(sessions.terminate(given, own))).toBe(code)
      expect(await codeOf(identities.unlink(given, { provider: 'google' }))).toBe(code)
    }
    await host.auth.client.terminateSession(own)
    await host.clock.advance(1001)
    expect(await codeOf(link(host, who.principal, goodPassword))).toBe('session_revoked')
  })

  it('refuses what is no text, an address that is not listed, and an unknown provider', async () => {
    const host = await oauthHost()
    const { principal, password: currentPassword } = await customer(host)
    const { identities, sessions } = host.auth.client
    const start = (given: object) =>
      codeOf(
        identities.startLink(principal, {
          ...{ provider: 'google', redirectUri, currentPassword },
          ...given,
        }),
      )
    expect(await start({ redirectUri: { $ne: '' } })).toBe('invalid_request')
    expect(await start({ provider: ['google'] })).toBe('invalid_request')
    expect(await start({ currentPassword: 1 })).toBe('invalid_request')
    expect(await start({ provider: 'myspace' })).toBe('not_found')
    expect(await start({ redirectUri: 'https://evil.example/' })).toBe('redirect_not_allowed')
    // @ts-expect-error: some databases take an object for a query.
    expect(await codeOf(sessions.terminate(principal, { $ne: '' }))).toBe('invalid_request')
    const unproved = await person(host, 'client')
    expect(await identities.list(unproved.id)).toEqual([])
  })
})
