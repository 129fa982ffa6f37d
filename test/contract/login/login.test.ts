import { expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, outcomeOf, storedUser } from '../../support/hosts/open-host.js'
import { otherPassword, person, signIn } from '../../support/people/people.js'

const doors = ['login', 'mobile/login'] as const
const day = 24 * 60 * 60_000

interface Attempt {
  readonly email: string
  readonly password: string
}

function login(
  host: ContractHost,
  surface: Surface,
  { email, password }: Attempt,
  door: (typeof doors)[number] = 'login',
): Promise<Reply> {
  return host.send('POST', `/v1/auth/${surface}/${door}`, { body: { email, password } })
}

function me(host: ContractHost, surface: Surface, bearer: string): Promise<Reply> {
  return host.send('GET', `/v1/auth/${surface}/me`, { bearer })
}

eachSurface.describe('login', (surface) => {
  const cookieName = surface === 'operator' ? '__Host-op_refresh' : '__Host-cl_refresh'

  it('gives an access token in the body and the refresh token in a cookie', async () => {
    const host = await openHost()
    const who = await person(host, surface)
    const reply = await login(host, surface, who)
    const user = { id: who.id, email: who.email, name: 'Ada', emailVerified: true }
    expect([reply.status, reply.json()]).toEqual([
      200,
      {
        status: 'authenticated',
        accessToken: expect.any(String),
        tokenType: 'Bearer',
        expiresIn: 900,
        user,
      },
    ])
    expect(reply.setCookies).toHaveLength(3)
    expect(reply.setCookies[0]).toMatch(new RegExp(`^${cookieName}=[\\w-]+\\.[\\w-]+\\.[\\w-]+;`))
    expect((await me(host, surface, textOf(reply.json(), 'accessToken'))).status).toBe(200)
    expect(await storedUser(host, surface, who.email)).toMatchObject({
      lastLoginAt: host.clock.now(),
    })
    expect(eventsOf(host, 'login.succeeded')).toMatchObject([{ userId: who.id, surface }])
  })

  it('gives both tokens in the body and no cookie to a mobile app', async () => {
    const host = await openHost()
    const who = await person(host, surface)
    const reply = await login(host, surface, who, 'mobile/login')
    expect([reply.status, reply.setCookies, reply.json()]).toEqual([
      200,
      [],
      {
        status: 'authenticated',
        accessToken: expect.any(String),
        tokenType: 'Bearer',
        expiresIn: 900,
        refreshToken: expect.any(String),
        refreshExpiresIn: expect.any(Number),
        recognitionId: expect.any(String),
        user: { id: who.id, email: who.email, name: 'Ada', emailVerified: true },
      },
    ])
    const refreshed = await host.send('POST', `/v1/auth/${surface}/refresh`, {
      body: { refreshToken: textOf(reply.json(), 'refreshToken') },
    })
    expect([refreshed.status, refreshed.setCookies]).toEqual([200, []])
  })

  it('takes any spelling of the address, and the password as it is', async () => {
    const host = await openHost()
    const who = await person(host, surface)
    const spelled = { ...who, email: ` ${who.email.toUpperCase()}` }
    expect(outcomeOf(await login(host, surface, spelled))).toBe('200')
    const padded = { ...who, password: `${who.password} ` }
    expect(outcomeOf(await login(host, surface, padded))).toBe('401 invalid_credentials')
  })

  it('opens nothing with an account of the other surface', async () => {
    const host = await openHost()
    const who = await person(host, surface === 'operator' ? 'client' : 'operator')
    expect(outcomeOf(await login(host, surface, who))).toBe('401 invalid_credentials')
  })

  it.each(doors)(
    'asks for a new password when it is too old, and gives nothing else: %s',
    async (door) => {
      const host = await openHost({ settings: { passwordMaxAge: '30d' } })
      const who = await person(host, surface)
      await host.clock.advance(30 * day)
      const timely = await login(host, surface, who, door)
      expect(timely.json()).toMatchObject({ status: 'authenticated' })
      await host.clock.advance(1)
      const wrong = await login(host, surface, { ...who, password: otherPassword }, door)
      expect(outcomeOf(wrong)).toBe('401 invalid_credentials')
      const reply = await login(host, surface, who, door)
      expect([reply.status, reply.setCookies, reply.json()]).toEqual([
        200,
        [],
        { status: 'passwordChangeRequired', passwordToken: expect.any(String) },
      ])

      const reset = (token: string, newPassword: string) =>
        host.send('POST', `/v1/auth/${surface}/password/reset`, { body: { token, newPassword } })
      const token = textOf(reply.json(), 'passwordToken')
      expect(outcomeOf(await reset(token, who.password))).toBe('422 password_policy')
      expect((await reset(token, otherPassword)).status).toBe(204)
      expect(outcomeOf(await reset(token, 'yet another long passphrase'))).toBe('400 invalid_token')
      expect(outcomeOf(await login(host, surface, who, door))).toBe('401 invalid_credentials')
      const renewed = await login(host, surface, { ...who, password: otherPassword }, door)
      expect(renewed.json()).toMatchObject({ status: 'authenticated' })
    },
  )

  it('gives the token five minutes', async () => {
    const host = await openHost({ settings: { passwordMaxAge: '1d' } })
    const who = await person(host, surface)
    await host.clock.advance(2 * day)
    const reset = async (wait: number) => {
      const reply = await login(host, surface, who)
      await host.clock.advance(wait)
      const token = textOf(reply.json(), 'passwordToken')
      return host.send('POST', `/v1/auth/${surface}/password/reset`, {
        body: { token, newPassword: otherPassword },
      })
    }
    expect(outcomeOf(await reset(5 * 60_000))).toBe('400 token_expired')
    expect(outcomeOf(await reset(5 * 60_000 - 1))).toBe('204')
  })

  it('never asks for a new password by default', async () => {
    const host = await openHost()
    const who = await person(host, surface)
    // A process that starts then: on the way there, a clock would fire the timers of five years.
    const later = await openHost({
      backend: host.backend,
      clock: fakeClock(host.clock.now() + 5 * 365 * day),
    })
    const reply = await login(later, surface, who)
    expect(reply.json()).toMatchObject({ status: 'authenticated' })
  })

  it('ends everything of a disabled account and lets it back in when enabled', async () => {
    const host = await openHost()
    const who = await person(host, surface)
    const { bearer, cookie } = await signIn(host, surface, who)
    await host.auth[surface].users.update(who.id, { enabled: false })
    expect(outcomeOf(await me(host, surface, bearer))).toBe('401 session_revoked')
    const refreshed = await host.send('POST', `/v1/auth/${surface}/refresh-cookie`, { cookie })
    expect(outcomeOf(refreshed)).toBe('401 session_revoked')
    expect(outcomeOf(await login(host, surface, who))).toBe('401 invalid_credentials')
    const ended = { reason: 'admin', userId: who.id, surface }
    expect(eventsOf(host, 'session.terminated')).toMatchObject([ended])
    expect(eventsOf(host, 'login.failed')).toMatchObject([{ userId: who.id, surface }])
    await host.auth[surface].users.update(who.id, { enabled: true })
    expect(outcomeOf(await me(host, surface, bearer))).toBe('401 session_revoked')
    expect(outcomeOf(await login(host, surface, who))).toBe('200')
  })

  it('ends the oldest session when one too many begins', async () => {
    const host = await openHost({ settings: { maxConcurrentSessions: 2 } })
    const who = await person(host, surface)
    const signedIn = []
    for (let count = 0; count < 4; count += 1) {
      signedIn.push(await signIn(host, surface, who))
      await host.clock.advance(1)
    }
    const outcomes = []
    for (const { bearer, cookie } of signedIn) {
      const reply = await me(host, surface, bearer)
      const refreshed = await host.send('POST', `/v1/auth/${surface}/refresh-cookie`, { cookie })
      outcomes.push([outcomeOf(reply), outcomeOf(refreshed)])
    }
    const ended = ['401 session_revoked', '401 session_revoked']
    expect(outcomes).toEqual([ended, ended, ['200', '200'], ['200', '200']])
    const reasons = eventsOf(host, 'session.terminated').map(({ reason }) => reason)
    expect(reasons).toEqual(['limit', 'limit'])
  })

  it('sets no limit by default', async () => {
    const host = await openHost()
    const who = await person(host, surface)
    const signedIn = []
    for (let count = 0; count < 12; count += 1) signedIn.push(await signIn(host, surface, who))
    const replies = await Promise.all(signedIn.map(({ bearer }) => me(host, surface, bearer)))
    expect(replies.map(outcomeOf)).toEqual(signedIn.map(() => '200'))
  })
})
