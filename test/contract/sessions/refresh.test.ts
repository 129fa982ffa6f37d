import {
  compactVerify,
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  type JSONWebKeySet,
} from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { type SignedIn, signedInApp, signedInPerson } from '../../support/people/people.js'
import { heldAfter, signedInFor } from '../../support/people/refresh-doors.js'

const second = 1000
const day = 24 * 60 * 60 * second
/** The suite sends more refreshes from one address than people do. */
const roomy = { limit: 1_000_000, windowMs: 60_000 }
const rateLimits = { refreshPerIp: roomy, refreshFamily: roomy }
const unlimited = {
  operator: { baseUrl: 'https://admin.example.com', rateLimits },
  client: { baseUrl: 'https://app.example.com', rateLimits },
}

eachHost.describe('refresh', (kind) => {
  eachSurface.describe((surface) => {
    const at = (path: string): string => `/v1/auth/${surface}${path}`
    let host: ContractHost
    let strict: ContractHost
    beforeAll(async () => {
      host = await kind.start({ surfaces: unlimited })
      strict = await kind.start({ surfaces: unlimited, settings: { refreshReuseGrace: '0s' } })
    })
    afterAll(() => Promise.all([host.close(), strict.close()]))

    const byBody = (on: ContractHost, refreshToken: string) =>
      on.send('POST', at('/refresh'), { body: { refreshToken } })
    const byCookie = (on: ContractHost, cookie: string) =>
      on.send('POST', at('/refresh-cookie'), { cookie })
    const me = (on: ContractHost, bearer: string) => on.send('GET', at('/me'), { bearer })

    it('rotates: a new pair, both RS256 with one key', async () => {
      const who = await signedInApp(host, surface)
      const reply = await byBody(host, who.refreshToken)
      expect(reply.status).toBe(200)
      expect(reply.headers.get('x-refresh-outcome')).toBe('rotated')
      expect(reply.setCookies).toEqual([])
      const body = reply.json()
      expect(Object.keys(body).sort()).toEqual(
        ['accessToken', 'expiresIn', 'refreshExpiresIn', 'refreshToken', 'tokenType'].sort(),
      )
      const access = decodeProtectedHeader(textOf(body, 'accessToken'))
      const refresh = decodeProtectedHeader(textOf(body, 'refreshToken'))
      expect([access.alg, refresh.alg, access.typ, refresh.typ]).toEqual([
        'RS256',
        'RS256',
        'at+jwt',
        'rt+jwt',
      ])
      expect(access.kid).toBe(refresh.kid)
      const published = (await host.send('GET', at('/jwks'))).json() as unknown as JSONWebKeySet
      expect(published.keys).toHaveLength(1)
      const ring = createLocalJWKSet(published)
      for (const token of ['accessToken', 'refreshToken']) {
        await compactVerify(textOf(body, token), ring, { algorithms: ['RS256'] })
      }
      expect(decodeJwt(textOf(body, 'refreshToken'))).toMatchObject({ gen: 2 })
      expect((await me(host, textOf(body, 'accessToken'))).status).toBe(200)
    })

    it('the JWT exp, the row and Max-Age agree on now + idle window', async () => {
      const who = await signedInPerson(host, surface)
      await host.clock.advance(3 * day)
      const reply = await byCookie(host, who.cookie)
      const cookie = refreshCookieOf(reply, surface)
      const claims = decodeJwt(cookie.slice(cookie.indexOf('=') + 1))
      expect(claims.exp).toBe(host.clock.now() / second + (7 * day) / second)
      expect(reply.setCookies[0]).toContain(`Max-Age=${(7 * day) / second};`)
      expect(Object.keys(reply.json()).sort()).toEqual(['accessToken', 'expiresIn', 'tokenType'])
    })

    it('with no grace the predecessor is refused at once and the family dies', async () => {
      const who = await signedInApp(strict, surface)
      const next = await byBody(strict, who.refreshToken)
      expect(next.status).toBe(200)
      expect(textOf(next.json(), 'refreshToken')).not.toBe(who.refreshToken)
      const again = await byBody(strict, who.refreshToken)
      expect([again.status, again.code]).toEqual([401, 'refresh_token_reused'])
      const late = await byBody(strict, who.refreshToken)
      expect([late.status, late.code]).toEqual([401, 'session_revoked'])
      const newest = await byBody(strict, textOf(next.json(), 'refreshToken'))
      expect([newest.status, newest.code]).toEqual([401, 'session_revoked'])
      const bearer = textOf(next.json(), 'accessToken')
      expect((await me(strict, bearer)).code).toBe('session_revoked')
      const browser = await signedInPerson(strict, surface)
      const rotated = await byCookie(strict, browser.cookie)
      expect(refreshCookieOf(rotated, surface)).not.toBe(browser.cookie)
      expect((await byCookie(strict, browser.cookie)).code).toBe('refresh_token_reused')
    })

    it('within the grace the predecessor is re-issued a token of the current generation', async () => {
      const who = await signedInApp(host, surface)
      await byBody(host, who.refreshToken)
      await host.clock.advance(10 * second - 1)
      const again = await byBody(host, who.refreshToken)
      expect([again.status, again.headers.get('x-refresh-outcome')]).toEqual([200, 'reissued'])
      expect(decodeJwt(textOf(again.json(), 'refreshToken'))).toMatchObject({ gen: 2 })
      expect(host.events.at(-1)).toMatchObject({ type: 'refresh.reissued', generation: 2 })
      const on = await byBody(host, textOf(again.json(), 'refreshToken'))
      expect(on.headers.get('x-refresh-outcome')).toBe('rotated')
    })

    it('the grace window is not restarted by a re-issue, and after it there is replay', async () => {
      const who = await signedInApp(host, surface)
      const next = await byBody(host, who.refreshToken)
      await host.clock.advance(6 * second)
      expect((await byBody(host, who.refreshToken)).status).toBe(200)
      await host.clock.advance(4 * second)
      const late = await byBody(host, who.refreshToken)
      expect([late.status, late.code]).toEqual([401, 'refresh_token_reused'])
      expect(late.headers.get('x-refresh-outcome')).toBeNull()
      expect(
        host.events.filter(({ type }) => type === 'refresh.replayDetected').at(-1),
      ).toMatchObject({
        presentedGeneration: 1,
        currentGeneration: 2,
        ip: '127.0.0.1',
      })
      const newest = await byBody(host, textOf(next.json(), 'refreshToken'))
      expect(newest.code).toBe('session_revoked')
    })

    it('two generations old is replay even inside the window, through either door', async () => {
      const who = await signedInPerson(host, surface)
      const first = await byCookie(host, who.cookie)
      const cookie = refreshCookieOf(first, surface)
      const newest = refreshCookieOf(await byCookie(host, cookie), surface)
      expect((await byBody(host, who.refreshToken)).code).toBe('refresh_token_reused')
      expect((await byCookie(host, cookie)).code).toBe('session_revoked')
      const last = await byCookie(host, newest)
      expect([last.status, last.code]).toEqual([401, 'session_revoked'])
    })

    it('a token is good where it was handed out, and refused elsewhere without a consequence', async () => {
      const [browser, app] = [await signedInPerson(host, surface), await signedInApp(host, surface)]
      const cookie = browser.cookie.replace(browser.refreshToken, app.refreshToken)
      for (let round = 0; round < 2; round += 1) {
        for (const reply of [
          await byBody(host, browser.refreshToken),
          await byCookie(host, cookie),
          await host.send('GET', at('/session'), { cookie }),
        ]) {
          expect([reply.status, reply.code]).toEqual([401, 'refresh_token_invalid'])
        }
        await host.clock.advance(11 * second)
      }
      const next = [await byCookie(host, browser.cookie), await byBody(host, app.refreshToken)]
      const shown = next.map(({ headers }) => headers.get('x-refresh-outcome'))
      expect(shown).toEqual(['rotated', 'rotated'])
      // Within its window, a copy is exchanged in its own place alone.
      const moved = await byBody(host, browser.refreshToken)
      expect([moved.status, moved.code]).toEqual([401, 'refresh_token_invalid'])
      // A logout takes it either way.
      const token = textOf(next[1]?.json() ?? {}, 'refreshToken')
      const held = browser.cookie.replace(browser.refreshToken, token)
      expect((await host.send('POST', at('/logout'), { cookie: held })).status).toBe(204)
      expect((await me(host, app.bearer)).code).toBe('session_revoked')
    })

    it('a replay in one session leaves the user’s others alone', async () => {
      const who = await signedInApp(host, surface)
      const login = await host.send('POST', at('/login'), {
        body: { email: who.email, password: who.password },
      })
      await byBody(host, who.refreshToken)
      await host.clock.advance(11 * second)
      expect((await byBody(host, who.refreshToken)).code).toBe('refresh_token_reused')
      expect((await byCookie(host, refreshCookieOf(login, surface))).status).toBe(200)
    })

    it('an access token is no refresh token and a refresh token no bearer', async () => {
      const who = await signedInApp(host, surface)
      const swapped = await byBody(host, who.bearer)
      expect([swapped.status, swapped.code]).toEqual([401, 'refresh_token_invalid'])
      const browser = await signedInPerson(host, surface)
      const held = browser.cookie.replace(browser.refreshToken, browser.bearer)
      for (const reply of [
        await byCookie(host, held),
        await host.send('GET', at('/session'), { cookie: held }),
      ]) {
        expect([reply.status, reply.code]).toEqual([401, 'refresh_token_invalid'])
      }
      const bearer = await me(host, who.refreshToken)
      expect([bearer.status, bearer.code]).toEqual([401, undefined])
      expect((await byBody(host, who.refreshToken)).headers.get('x-refresh-outcome')).toBe(
        'rotated',
      )
    })

    it('at the deadline the token is expired, one second before it is not', async () => {
      const who = await signedInApp(host, surface)
      await host.clock.advance(7 * day - second)
      const next = await byBody(host, who.refreshToken)
      expect(next.status).toBe(200)
      await host.clock.advance(7 * day)
      const late = await byBody(host, textOf(next.json(), 'refreshToken'))
      expect([late.status, late.code]).toEqual([401, 'refresh_token_expired'])
    })

    /** The path of the surface, and the one that leaves it to host and credentials. */
    const both = (path: string) => [at(path), `/v1/auth${path}`]
    const view = (on: ContractHost, path: string, cookie: string) =>
      on.send('GET', path, { cookie })

    it('GET session mints a new access token each time, ten at once', async () => {
      const who = await signedInPerson(host, surface)
      for (const path of both('/session')) {
        const replies = await Promise.all(
          Array.from({ length: 10 }, () => view(host, path, who.cookie)),
        )
        const minted = replies.map((reply) => textOf(reply.json(), 'accessToken'))
        expect(new Set([who.bearer, ...minted].map((token) => decodeJwt(token).jti)).size).toBe(11)
        for (const token of minted) {
          const reply = await me(host, token)
          expect([reply.status, reply.json()['id']]).toEqual([200, who.id])
        }
      }
    })

    it('GET session does not rotate the refresh cookie, ten at once', async () => {
      const who = await signedInPerson(host, surface)
      const { families } = storedIn(host, surface)
      const sid = textOf(decodeJwt(who.refreshToken), 'sid')
      const row = await families.get(sid)
      for (const path of both('/session')) {
        const replies = await Promise.all(
          Array.from({ length: 10 }, () => view(host, path, who.cookie)),
        )
        for (const reply of replies) expect([reply.status, reply.setCookies]).toEqual([200, []])
      }
      expect(await families.get(sid)).toEqual(row)
      expect((await byCookie(host, who.cookie)).headers.get('x-refresh-outcome')).toBe('rotated')
    })

    it('GET session takes the refresh cookie alone, leaves it as it is, and enforces the cap', async () => {
      const settings = { sessionAbsoluteTTL: '1h', accessTokenTTL: '10m' }
      const capped = await openHost({ surfaces: unlimited, settings }, kind)
      const who = await signedInPerson(capped, surface)
      const other = await signedInPerson(capped, surface)
      const sid = textOf(decodeJwt(who.refreshToken), 'sid')
      const { families } = storedIn(capped, surface)
      const row = await families.get(sid)
      for (const path of both('/session')) {
        const { bearer } = other
        const reply = await capped.send('GET', path, { bearer, cookie: who.cookie })
        expect([reply.status, reply.setCookies]).toEqual([200, []])
        expect(reply.json()).toMatchObject({ user: { id: who.id }, session: { id: sid } })
        expect(decodeJwt(textOf(reply.json(), 'accessToken'))).toMatchObject({ sub: who.id, sid })
        const byBearer = await capped.send('GET', at('/session'), { bearer })
        expectProblem(byBearer, 401)
        expect(byBearer.setCookies).toEqual([])
      }
      expect(await families.get(sid)).toEqual(row)
      await capped.clock.advance(60 * 60 * second)
      for (const path of both('/session')) {
        expect((await view(capped, path, who.cookie)).status).toBe(200)
      }
      await capped.clock.advance(1)
      for (const [path = '', cookie] of [
        [both('/session')[1], who.cookie],
        [both('/session')[0], other.cookie],
      ]) {
        const ended = await view(capped, path, cookie ?? '')
        expectProblem(ended, 401, 'session_max_age_reached')
      }
    })

    it.each(['refresh', 'refresh-cookie'] as const)(
      '/%s rotates, and enforces the cap',
      async (door) => {
        const settings = { sessionAbsoluteTTL: '1h', refreshReuseGrace: '0s' }
        const capped = await openHost({ surfaces: unlimited, settings }, kind)
        for (const path of both(`/${door}`)) {
          const use = ({ cookie, refreshToken }: SignedIn) =>
            capped.send('POST', path, door === 'refresh' ? { body: { refreshToken } } : { cookie })
          const who = await signedInFor(door)(capped, surface)
          const reply = await use(who)
          expect([path, outcomeOf(reply)]).toEqual([path, '200'])
          const next = heldAfter(door, surface, who, reply)
          expect(decodeJwt(next.refreshToken)).toMatchObject({ gen: 2 })
          expect(outcomeOf(await use(next))).toBe('200')
          expect([path, outcomeOf(await use(next))]).toEqual([path, '401 refresh_token_reused'])

          const aged = await signedInFor(door)(capped, surface)
          await capped.clock.advance(60 * 60 * second)
          const exactly = await use(aged)
          expect([path, outcomeOf(exactly)]).toEqual([path, '200'])
          await capped.clock.advance(1)
          const ended = await use(heldAfter(door, surface, aged, exactly))
          expectProblem(ended, 401, 'session_max_age_reached')
        }
      },
    )

    it('GET session answers the predecessor within the window and takes it for replay after it', async () => {
      const who = await signedInPerson(host, surface)
      const next = await byCookie(host, who.cookie)
      const inside = await host.send('GET', at('/session'), { cookie: who.cookie })
      expect([inside.status, inside.setCookies]).toEqual([200, []])
      await host.clock.advance(10 * second)
      const outside = await host.send('GET', at('/session'), { cookie: who.cookie })
      expect([outside.status, outside.code]).toEqual([401, 'refresh_token_reused'])
      expect(outside.setCookies[0]).toContain('Max-Age=0')
      expect((await byCookie(host, refreshCookieOf(next, surface))).code).toBe('session_revoked')
    })

    it('without a cookie there is a plain 401, a bearer is none', async () => {
      const who = await signedInPerson(host, surface)
      for (const [method, path] of [
        ['GET', '/session'],
        ['POST', '/refresh-cookie'],
      ] as const) {
        const reply = await host.send(method, at(path), { bearer: who.bearer })
        expect([reply.status, reply.code]).toEqual([401, undefined])
        expect(reply.headers.get('www-authenticate')).toBe('Bearer')
        expect(reply.setCookies).toEqual([])
      }
    })

    it('a genuine token without a row is invalid', async () => {
      const who = await signedInApp(host, surface)
      const sid = textOf(decodeJwt(who.refreshToken), 'sid')
      await storedIn(host, surface).families.take(sid)
      const reply = await byBody(host, who.refreshToken)
      expect([reply.status, reply.code]).toEqual([401, 'refresh_token_invalid'])
    })

    // What stands in for MongoDB runs one command at a time: more rounds would show no more. Redis
    // runs one script at a time by its nature.
    const isLong = kind.name.startsWith('express') && !/(mongo|redis)$/.test(kind.name)
    const rounds = isLong && surface === 'client' ? 50 : 5

    it(`twenty at once: one rotated, nineteen re-issued, one generation (${rounds} rounds)`, async () => {
      let { refreshToken } = await signedInApp(host, surface)
      for (let round = 2; round < rounds + 2; round += 1) {
        const replies = await Promise.all(
          Array.from({ length: 20 }, () => byBody(host, refreshToken)),
        )
        const outcomes = replies.map((reply) => reply.headers.get('x-refresh-outcome'))
        expect(outcomes.toSorted()).toEqual([...new Array(19).fill('reissued'), 'rotated'])
        const generations = replies.map(
          (reply) => decodeJwt(textOf(reply.json(), 'refreshToken'))['gen'],
        )
        expect(new Set(generations)).toEqual(new Set([round]))
        const any = replies[round % 20]
        refreshToken = any === undefined ? '' : textOf(any.json(), 'refreshToken')
      }
    }, 120_000)

    it('twenty at once without grace: at most one 200, and the family is dead', async () => {
      for (let round = 0; round < 10; round += 1) {
        const { refreshToken } = await signedInApp(strict, surface)
        const replies = await Promise.all(
          Array.from({ length: 20 }, () => byBody(strict, refreshToken)),
        )
        const won = replies.filter(({ status }) => status === 200)
        expect(won.length).toBeLessThanOrEqual(1)
        expect(replies.filter(({ code }) => code === 'refresh_token_reused')).toHaveLength(1)
        for (const reply of won) {
          const next = await byBody(strict, textOf(reply.json(), 'refreshToken'))
          expect(next.code).toBe('session_revoked')
          expect((await me(strict, textOf(reply.json(), 'accessToken'))).code).toBe(
            'session_revoked',
          )
        }
      }
    }, 120_000)

    it(`a logout racing a refresh always wins (${rounds} rounds)`, async () => {
      const who = await signedInApp(host, surface)
      const credentials = { email: who.email, password: who.password }
      for (let round = 0; round < rounds; round += 1) {
        await host.clock.advance(61 * second)
        const login = await host.send('POST', at('/mobile/login'), { body: credentials })
        const refreshToken = textOf(login.json(), 'refreshToken')
        const bearer = textOf(login.json(), 'accessToken')
        const [refreshed, out] = await Promise.all([
          byBody(host, refreshToken),
          host.send('POST', at('/logout'), { bearer }),
        ])
        expect(out.status).toBe(204)
        const held = [bearer]
        const tokens = [refreshToken]
        if (refreshed.status === 200) {
          held.push(textOf(refreshed.json(), 'accessToken'))
          tokens.push(textOf(refreshed.json(), 'refreshToken'))
        }
        for (const token of held) expect((await me(host, token)).code).toBe('session_revoked')
        for (const token of tokens) expect((await byBody(host, token)).code).toBe('session_revoked')
      }
    }, 120_000)
  })
})
