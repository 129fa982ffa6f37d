import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import { eachStore, eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import { codeOf as appCodeOf } from '../../support/people/authenticator.js'
import { appVerifier, memberOf, type OauthHost, oauthHost } from './oauth-host.js'

const mallory: Account = { subject: '666', email: 'mallory@example.org', verified: true }
const minute = 60_000

async function codeOf(host: OauthHost, surface: Surface = 'client'): Promise<string> {
  const url = await host.departFromApp(surface, 'google')
  const back = await host.comeBack(surface, 'google', host.stub.agree(url, mallory))
  return memberOf(back, 'code')
}

describe('an app’s code', () => {
  it('opens nothing without its verifier, which is not used up by that', async () => {
    const host = await oauthHost()
    const code = await codeOf(host)
    for (const codeVerifier of [
      'x'.repeat(43),
      'short',
      `${appVerifier} `,
      appVerifier.toUpperCase(),
    ]) {
      expectProblem(await host.exchange('client', code, { codeVerifier }), 400, 'invalid_token')
    }
    expectProblem(await host.exchange('operator', code), 400, 'invalid_token')
    expect((await host.exchange('client', code)).status).toBe(200)
  })

  it('is good for a minute', async () => {
    const host = await oauthHost()
    const [first, second] = [await codeOf(host), await codeOf(host)]
    await host.clock.advance(minute - 1)
    expect((await host.exchange('client', first)).status).toBe(200)
    await host.clock.advance(1)
    expectProblem(await host.exchange('client', second), 400, 'invalid_token')
  })

  it('opens nothing once its account is disabled, its sessions are ended or its link is gone', async () => {
    const host = await oauthHost()
    const { users, oauthIdentities } = storedIn(host, 'client')
    await host.signIn('client', 'google', mallory)
    const [user] = await users.find({ email: 'mallory@example.org' }, { limit: 1 })
    const id = user?.id ?? ''
    const ended = await codeOf(host)
    await host.auth.client.terminateSessionsOf(id)
    expectProblem(await host.exchange('client', ended), 400, 'invalid_token')
    const unlinked = await codeOf(host)
    const [identity] = await oauthIdentities.find({ userId: id }, { limit: 1 })
    const moved = { userId: 'somebody-else' }
    await oauthIdentities.update(identity?.id ?? '', { userId: id }, moved)
    expectProblem(await host.exchange('client', unlinked), 400, 'invalid_token')
    await oauthIdentities.update(identity?.id ?? '', moved, { userId: id })
    const disabled = await codeOf(host)
    await host.auth.client.users.update(id, { enabled: false })
    expectProblem(await host.exchange('client', disabled), 400, 'invalid_token')
  })

  it.each([
    ['plain', { codeChallengeMethod: 'plain' }],
    ['no method', { codeChallengeMethod: undefined }],
    ['no challenge', { codeChallenge: undefined }],
    ['a challenge of another length', { codeChallenge: 'x'.repeat(42) }],
    ['a client secret', { clientSecret: 'x' }],
  ])('is not to be had with %s', async (_what, body) => {
    const host = await oauthHost()
    expectProblem(await host.startApp('client', 'google', body), 400, 'invalid_request')
  })
})

/** What an app can do with what it was given. */
async function uses(host: OauthHost, surface: Surface, given: Reply): Promise<readonly string[]> {
  const body = { refreshToken: textOf(given.json(), 'refreshToken') }
  const bearer = textOf(given.json(), 'accessToken')
  const refreshed = await host.send('POST', `/v1/auth/${surface}/refresh`, { body })
  return [
    outcomeOf(refreshed),
    outcomeOf(await host.send('GET', `/v1/auth/${surface}/me`, { bearer })),
  ]
}

const ended = ['401 session_revoked', '401 session_revoked']

async function endReasons(host: OauthHost, surface: Surface): Promise<readonly unknown[]> {
  const { families, sessions } = storedIn(host, surface)
  const all = await families.due(host.clock.now() + 1e12, 100)
  return Promise.all(
    all.map(async ({ id, revokedReason }) => {
      const { active, endReason } = (await sessions.get(id)) ?? {}
      return [revokedReason, active, endReason]
    }),
  )
}

const byReplay = ['replay', false, 'replay']

eachSurface.describe('an app’s code that comes again', (surface) => {
  it('ends what it gave, and is refused as before', async () => {
    const host = await oauthHost()
    const other = await host.exchange(surface, await codeOf(host, surface))
    const code = await codeOf(host, surface)
    const first = await host.exchange(surface, code)
    expect(first.status).toBe(200)
    const unknown = await host.exchange(surface, 'x'.repeat(43))
    const again = await host.exchange(surface, code)
    expect([outcomeOf(again), again.text]).toEqual(['400 invalid_token', unknown.text])
    expect(await uses(host, surface, first)).toEqual(ended)
    expect(await uses(host, surface, other)).toEqual(['200', '200'])
    const sessionId = decodeJwt(textOf(first.json(), 'accessToken'))['sid']
    expect(eventsOf(host, 'session.terminated')).toMatchObject([
      { surface, sessionId, reason: 'replay', actorId: null },
    ])
    expect(await endReasons(host, surface)).toContainEqual(byReplay)
    // However often: it is over, and said once.
    expect(outcomeOf(await host.exchange(surface, code))).toBe('400 invalid_token')
    expect(eventsOf(host, 'session.terminated')).toHaveLength(1)
  })

  it('ends nothing without the verifier, on the other surface or when it is no code', async () => {
    const host = await oauthHost()
    const code = await codeOf(host, surface)
    const first = await host.exchange(surface, code)
    const other = surface === 'operator' ? 'client' : 'operator'
    await host.exchange(surface, code, { codeVerifier: 'x'.repeat(43) })
    await host.exchange(surface, code, { codeVerifier: `${appVerifier}x` })
    await host.exchange(surface, `${code}x`)
    await host.exchange(other, code)
    expect(await uses(host, surface, first)).toEqual(['200', '200'])
  })

  it('is still known after its minute, and a code nobody used ends nothing then', async () => {
    const host = await oauthHost()
    const [code, unused] = [await codeOf(host, surface), await codeOf(host, surface)]
    const first = await host.exchange(surface, code)
    await host.clock.advance(5 * minute)
    await storedIn(host, surface).challenges.sweep(host.clock.now(), 100)
    for (let time = 0; time < 2; time += 1) {
      expect(outcomeOf(await host.exchange(surface, unused))).toBe('400 invalid_token')
    }
    expect(eventsOf(host, 'session.terminated')).toEqual([])
    expect(outcomeOf(await host.exchange(surface, code))).toBe('400 invalid_token')
    expect(await uses(host, surface, first)).toEqual(ended)
  })

  it('ends a login that waits, and the session such a login became', async () => {
    const policy = { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' } as const
    const host = await oauthHost({ settings: policy })
    const at = (path: string) => `/v1/auth/${surface}/mfa/totp${path}`
    const waitFor = async () => {
      const code = await codeOf(host, surface)
      const mfaToken = textOf((await host.exchange(surface, code)).json(), 'mfaToken')
      return { code, mfaToken }
    }
    const waiting = await waitFor()
    const confirmed = await waitFor()
    const begun = await host.send('POST', at(''), { body: { mfaToken: confirmed.mfaToken } })
    const secret = textOf(begun.json(), 'secret')
    await host.exchange(surface, waiting.code)
    for (const path of ['', '/confirm']) {
      const code = path === '' ? {} : { code: appCodeOf(host, secret) }
      const reply = await host.send('POST', at(path), {
        body: { mfaToken: waiting.mfaToken, ...code },
      })
      expect(outcomeOf(reply)).toBe('401 mfa_ticket_invalid')
    }
    await host.clock.advance(4 * minute)
    await storedIn(host, surface).challenges.sweep(host.clock.now(), 100)
    const body = { mfaToken: confirmed.mfaToken, code: appCodeOf(host, secret) }
    const done = await host.send('POST', at('/confirm'), { body })
    expect(outcomeOf(done)).toBe('200')
    await host.exchange(surface, confirmed.code)
    expect(await uses(host, surface, done)).toEqual(ended)
  })
})

eachStore.describe('an app’s code', (kind) => {
  it('that sixteen show at once opens one session, which does not outlast it', async () => {
    const host = await oauthHost({}, kind)
    for (let round = 0; round < 5; round += 1) {
      const code = await codeOf(host)
      const replies = await Promise.all(
        [...'0123456789abcdef'].map(() => host.exchange('client', code)),
      )
      const won = replies.filter(({ status }) => status === 200)
      expect(won.length).toBeLessThanOrEqual(1)
      expect(replies.filter(({ code: said }) => said === 'invalid_token')).toHaveLength(
        16 - won.length,
      )
      for (const reply of won) expect(await uses(host, 'client', reply)).toEqual(ended)
      expect(eventsOf(host, 'login.succeeded')).toHaveLength(round + 1)
      expect(await endReasons(host, 'client')).toEqual(Array(round + 1).fill(byReplay))
    }
  })
})
