import { expect, it } from 'vitest'
import { expectProblem } from '../../support/hosts/expectations.js'
import { refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { eachFramework, eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { signedInPerson } from '../../support/people/people.js'
import { spyBackend } from '../../support/stores/spy-backend.js'
import { sessionOf } from '../events/event-scenario.js'

const lifetime = 15 * 60 * 1000

eachFramework.describe('an expired access token', (kind) => {
  eachSurface.it('is a plain 401 from its very end on', async (surface) => {
    const host = await openHost({}, kind)
    const { bearer } = await signedInPerson(host, surface)
    const me = () => host.send('GET', `/v1/auth/${surface}/me`, { bearer })
    await host.clock.advance(lifetime - 1)
    expect((await me()).status).toBe(200)
    await host.clock.advance(1)
    expectProblem(await me(), 401)
  })

  eachSurface.it('is not helped by a good cookie', async (surface) => {
    const host = await openHost({}, kind)
    const { bearer, cookie } = await signedInPerson(host, surface)
    const at = (path: string): string => `/v1/auth/${surface}${path}`
    await host.clock.advance(lifetime)
    const refused = [
      await host.send('GET', at('/me'), { bearer, cookie }),
      await host.send('PATCH', at('/me'), { bearer, cookie, body: { name: 'Eve' } }),
      await host.send('POST', at('/me/password'), { bearer, cookie, body: {} }),
      await host.send('GET', at('/me'), { cookie }),
    ]
    for (const reply of refused) {
      expectProblem(reply, 401)
      expect(reply.setCookies).toEqual([])
    }
    const rotated = await host.send('POST', at('/refresh-cookie'), { cookie })
    expect([rotated.status, rotated.headers.get('x-refresh-outcome')]).toEqual([200, 'rotated'])
  })

  eachSurface.it('is answered by a refresh and one more try', async (surface) => {
    const host = await openHost({}, kind)
    const at = (path: string): string => `/v1/auth/${surface}${path}`
    let { bearer, cookie, id } = await signedInPerson(host, surface)
    for (let round = 0; round < 3; round += 1) {
      await host.clock.advance(lifetime)
      expectProblem(await host.send('GET', at('/me'), { bearer, cookie }), 401)
      // The client’s HTTP layer may well send the old bearer along.
      const refreshed = await host.send('POST', at('/refresh-cookie'), { bearer, cookie })
      expect(refreshed.status).toBe(200)
      bearer = textOf(refreshed.json(), 'accessToken')
      cookie = refreshCookieOf(refreshed, surface)
      const retried = await host.send('GET', at('/me'), { bearer, cookie })
      expect([retried.status, retried.json()['id']]).toEqual([200, id])
    }
  })
})

eachSurface.it(
  'a protected route neither reads nor rotates the refresh cookie',
  async (surface) => {
    const spy = spyBackend()
    const host = await openHost({ backend: spy.backend })
    const { bearer, cookie, refreshToken } = await signedInPerson(host, surface)
    const ended = await signedInPerson(host, surface)
    const at = (path: string): string => `/v1/auth/${surface}${path}`
    await host.send('POST', at('/logout'), { bearer: ended.bearer })
    await host.auth.close()
    const row = await storedIn(host, surface).families.get(sessionOf(refreshToken))
    const asked = async (given: { readonly bearer?: string }) => {
      spy.calls.length = 0
      const body = { name: 'Eve' }
      const replies = [
        await host.send('GET', at('/me'), { ...given, cookie }),
        await host.send('PATCH', at('/me'), { ...given, cookie, body }),
      ]
      for (const { setCookies, headers } of replies) {
        expect([setCookies, headers.get('x-refresh-outcome')]).toEqual([[], null])
      }
      expect(spy.calls.filter((call) => /refresh_tokens|sessions/.test(call))).toEqual([])
      return [...new Set(replies.map(outcomeOf))]
    }
    expect(await asked({ bearer })).toEqual(['200'])
    expect(await asked({})).toEqual(['401'])
    expect(await asked({ bearer: 'garbage' })).toEqual(['401'])
    expect(await asked({ bearer: ended.bearer })).toEqual(['401 session_revoked'])
    await host.auth.close()
    await host.clock.advance(lifetime)
    expect(await asked({ bearer })).toEqual(['401'])
    expect(await storedIn(host, surface).families.get(sessionOf(refreshToken))).toEqual(row)
    const rotated = await host.send('POST', at('/refresh-cookie'), { cookie })
    expect([rotated.status, rotated.headers.get('x-refresh-outcome')]).toEqual([200, 'rotated'])
  },
)

it('a protected route asks the store three things, and none of an expired token', async () => {
  const spy = spyBackend()
  const host = await openHost({ backend: spy.backend })
  const { bearer, cookie } = await signedInPerson(host, 'client')
  const me = () => host.send('GET', '/v1/auth/client/me', { bearer, cookie })
  spy.calls.length = 0
  expect((await me()).status).toBe(200)
  expect(spy.calls.sort()).toEqual([
    'client_oauth_identities.find',
    'client_users.get',
    'denylist.find',
  ])
  await host.clock.advance(lifetime)
  // A process says every five minutes that it runs, which is no request's.
  spy.calls.length = 0
  expectProblem(await me(), 401)
  expect(spy.calls).toEqual([])
})
