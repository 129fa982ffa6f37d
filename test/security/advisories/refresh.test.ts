import { decodeJwt, decodeProtectedHeader } from 'jose'
import { expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import { encode, forge, rsaPair } from '../../crypto/forge.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { eachFramework, eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { rawClient } from '../../support/hosts/raw-client.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import {
  type Person,
  type SignedIn,
  signedInApp,
  signedInPerson,
  signIn,
} from '../../support/people/people.js'
import { devicesIn, trusting, trustingPerson } from '../../support/people/trusted-device.js'

const at = (surface: Surface, path: string): string => `/v1/auth/${surface}${path}`
const otherOf = { operator: 'client', client: 'operator' } as const
const sidOf = (token: string): string => textOf(decodeJwt(token), 'sid')

/** Whose session the reply's access token is of. */
const holderOf = (json: Record<string, unknown>) => decodeJwt(textOf(json, 'accessToken')).sub

const meOf = (host: ContractHost, surface: Surface, bearer: string) =>
  host.send('GET', at(surface, '/me'), { bearer })

eachSurface.describe('a refresh token', (surface) => {
  it('is good for the surface, the holder and the place that it was given to, and elsewhere nothing happens', async () => {
    const host = await openHost({ ...withoutLimits, ...trusting })
    const browser = await signedInPerson(host, surface)
    const app = await signedInApp(host, surface)
    const { families } = storedIn(host, surface)
    const before = await Promise.all([browser, app].map((one) => families.get(sidOf(one.bearer))))
    const foreign = otherOf[surface]
    const foreignName = foreign === 'operator' ? '__Host-op_refresh' : '__Host-cl_refresh'
    const refused = ['401 audience_mismatch', '401 refresh_token_invalid']
    for (const { refreshToken } of [browser, app]) {
      const cookie = `${foreignName}=${refreshToken}`
      const elsewhere = [
        await host.send('POST', at(foreign, '/refresh-cookie'), { cookie }),
        await host.send('GET', at(foreign, '/session'), { cookie }),
        await host.send('POST', at(foreign, '/refresh'), { body: { refreshToken } }),
      ]
      for (const reply of elsewhere) expect(refused).toContain(outcomeOf(reply))
    }
    const swapped = [
      await host.send('POST', at(surface, '/refresh'), {
        body: { refreshToken: browser.refreshToken },
      }),
      await host.send('POST', at(surface, '/refresh-cookie'), { cookie: app.cookie }),
      await host.send('GET', at(surface, '/session'), { cookie: app.cookie }),
    ]
    for (const reply of swapped) expect(outcomeOf(reply)).toBe('401 refresh_token_invalid')
    const after = await Promise.all([browser, app].map((one) => families.get(sidOf(one.bearer))))
    expect(after).toEqual(before)
    expect(eventsOf(host, 'refresh.replayDetected')).toEqual([])

    // Beside the device of another person it is its holder's, and that device stays the other's.
    const other = await trustingPerson(host, surface)
    const devices = await devicesIn(host, surface, other.id)
    const name = surface === 'operator' ? '__Host-op_device' : '__Host-cl_device'
    const cookie = `${browser.cookie}; ${name}=${other.deviceToken}`
    const own = await host.send('POST', at(surface, '/refresh-cookie'), { cookie })
    expect([own.status, holderOf(own.json())]).toEqual([200, browser.id])
    expect(await devicesIn(host, surface, browser.id)).toEqual([])
    expect(await devicesIn(host, surface, other.id)).toEqual(devices)
  })
})

/** What a stranger, who has a session too, could make of what is known of another's. */
function forgeries(victim: SignedIn, attacker: SignedIn): readonly string[] {
  return [victim.bearer, victim.refreshToken].flatMap((token) => {
    const [header = '', payload = '', signature = ''] = token.split('.')
    const own = (token === victim.bearer ? attacker.bearer : attacker.refreshToken).split('.')
    const claims = decodeJwt(token)
    const turned = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
    return [
      `${header}.${payload}.`,
      `${header}.${payload}.${turned}`,
      `${header}.${payload}.${own[2]}`,
      `${own[0]}.${payload}.${own[2]}`,
      `${encode({ ...decodeProtectedHeader(token), alg: 'none' })}.${payload}.`,
      forge(decodeProtectedHeader(token), claims, rsaPair().privateKey),
      textOf(claims, 'sid'),
    ]
  })
}

eachSurface.describe('a logout', (surface) => {
  const ways = (token: string, name: string) => [
    { bearer: token },
    { cookie: `${name}=${token}` },
    { body: { refreshToken: token } },
  ]

  it('ends no session for a token that was forged, alone or beside one that is good', async () => {
    const host = await openHost(withoutLimits)
    const victim = await signedInPerson(host, surface)
    const [name = ''] = victim.cookie.split('=')
    const attacker = await signedInPerson(host, surface)
    const logout = at(surface, '/logout')
    for (const token of forgeries(victim, attacker)) {
      for (const { body, ...shown } of ways(token, name)) {
        for (const everywhere of [false, true]) {
          const given = { ...shown, body: { ...body, everywhere } }
          expect(outcomeOf(await host.send('POST', logout, given))).toMatch(/^40[01]/)
        }
      }
    }
    expect((await meOf(host, surface, victim.bearer)).status).toBe(200)
    for (const token of forgeries(victim, attacker)) {
      const { bearer } = await signIn(host, surface, attacker)
      const body = { refreshToken: token }
      const beside = await host.send('POST', logout, { bearer, cookie: `${name}=${token}`, body })
      expect(outcomeOf(beside)).toBe('204')
      expect((await meOf(host, surface, bearer)).code).toBe('session_revoked')
    }
    expect((await meOf(host, surface, victim.bearer)).status).toBe(200)
    const next = await host.send('POST', at(surface, '/refresh-cookie'), victim)
    expect(next.headers.get('x-refresh-outcome')).toBe('rotated')
  })

  it('is as good the second time and sixteen at once, and refuses alike whatever proves nothing', async () => {
    const host = await openHost(withoutLimits)
    const logout = at(surface, '/logout')
    const who = await signedInPerson(host, surface)
    const [name = ''] = who.cookie.split('=')
    for (const shown of [{ cookie: who.cookie }, { bearer: who.bearer }]) {
      const again = await Promise.all(
        Array.from({ length: 16 }, () => host.send('POST', logout, shown)),
      )
      const seen = again.map((reply) => [reply.status, reply.text, ...reply.setCookies].join(' | '))
      expect(new Set(seen).size).toBe(1)
      expect(seen[0]).toMatch(new RegExp(`^204 \\|  \\|.*${name}=;.*Max-Age=0`))
    }
    expect(eventsOf(host, 'session.terminated')).toHaveLength(1)

    const late = await signedInPerson(host, surface)
    await host.clock.advance(8 * 24 * 3_600_000)
    const nothing = [late.cookie, `${name}=junk`, `${name}=${late.bearer}`, `${name}=a.b.c`]
    const refusals = [
      await host.send('POST', logout),
      await host.send('POST', logout, { bearer: late.bearer }),
      await host.send('POST', logout, { body: { refreshToken: 'junk' } }),
      ...(await Promise.all(nothing.map((cookie) => host.send('POST', logout, { cookie })))),
    ]
    expect(new Set(refusals.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(refusals[0]?.status).toBe(401)
  })
})

/** Two sessions of two people, each with what a browser and an app show. */
async function twoPeople(host: ContractHost, surface: Surface) {
  return {
    ada: await signedInPerson(host, surface),
    bob: await signedInPerson(host, surface),
    app: await signedInApp(host, surface),
  }
}

eachFramework.describe('two sessions in one request', (kind) => {
  eachSurface.it(
    'each route goes by the one it names, and no reply blends them',
    async (surface) => {
      const host = await openHost(withoutLimits, kind)
      const { ada, bob, app } = await twoPeople(host, surface)
      const send = (method: string, path: string, body?: object) =>
        host.send(method, at(surface, path), {
          cookie: ada.cookie,
          bearer: bob.bearer,
          ...(body === undefined ? {} : { body }),
        })
      expect((await send('GET', '/me')).json()).toMatchObject({ id: bob.id, email: bob.email })
      await send('PATCH', '/me', { name: 'Bob alone' })
      const names = await Promise.all([ada, bob].map((one) => nameOf(host, surface, one)))
      expect(names).toEqual(['Ada', 'Bob alone'])
      expect(holderOf((await send('GET', '/session')).json())).toBe(ada.id)
      const rotated = await send('POST', '/refresh-cookie')
      const token = refreshCookieOf(rotated, surface).split('=')[1] ?? ''
      const held = [holderOf(rotated.json()), decodeJwt(token).sub]
      expect(held).toEqual([ada.id, ada.id])
      const body = await send('POST', '/refresh', { refreshToken: app.refreshToken })
      expect([body.setCookies, holderOf(body.json())]).toEqual([[], app.id])
      // What a logout is shown, it ends, each of them: that is written down.
      expect(
        (
          await host.send('POST', at(surface, '/logout'), {
            bearer: bob.bearer,
            cookie: refreshCookieOf(rotated, surface),
          })
        ).status,
      ).toBe(204)
      const left = await Promise.all([ada, bob, app].map((one) => meOf(host, surface, one.bearer)))
      expect(left.map(outcomeOf)).toEqual(['401 session_revoked', '401 session_revoked', '200'])
    },
  )

  it('of two Authorization headers the first counts or neither, in either order', async () => {
    const host = await openHost(withoutLimits, kind)
    const { ada, bob } = await twoPeople(host, 'client')
    const raw = rawClient(host.url)
    for (const pair of [
      [ada, bob],
      [bob, ada],
    ] as const) {
      const authorization = pair.map(({ bearer }) => `Bearer ${bearer}`)
      for (const value of [authorization, authorization.join(', ')]) {
        const reply = await raw('GET', at('client', '/me'), { headers: { authorization: value } })
        const isFirst = reply.status === 200 && reply.json()['id'] === pair[0].id
        expect(isFirst || reply.status === 401, reply.text).toBe(true)
      }
    }
  })
})

const nameOf = async (host: ContractHost, surface: Surface, { id }: Person) =>
  (await host.auth[surface].users.get(id))?.name
