import { decodeJwt } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { collectionsOf } from '../../../src/model/collections.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { type ContractHost, memoryHost } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachStore, eachSurface } from '../../support/hosts/matrix.js'
import { openHost, storedIn } from '../../support/hosts/open-host.js'
import { enrolled, finish, passwordLogin, ticketOf } from '../../support/people/authenticator.js'
import {
  otherPassword,
  type Person,
  refreshByCookie,
  type SignedIn,
  signedInApp,
  signedInPerson,
  signIn,
} from '../../support/people/people.js'
import { doorNames, refreshDoors } from '../../support/people/refresh-doors.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { settingsHost } from '../settings/settings-host.js'

const second = 1000
const hour = 60 * 60 * second
const day = 24 * hour
const roomy = { limit: 1_000_000, windowMs: 60_000 }
const rateLimits = { refreshPerIp: roomy, refreshFamily: roomy }
const surfaces = {
  operator: { baseUrl: 'https://admin.example.com', rateLimits },
  client: { baseUrl: 'https://app.example.com', rateLimits },
}

// Hundreds of refreshes, each of which waits for the disk: SQLite shows the same SQL in a tenth of the time.
const withoutMariadb = eachStore.only(({ name }) => !name.includes('mariadb'))

withoutMariadb.describe('sessions end exactly when they should', (kind) => {
  // In a hundred days the process checks in 28,000 times, which takes a server half a minute.
  const itOverMonths = /memory|sqlite/.test(kind.name) ? it : () => {}

  eachSurface.describe((surface) => {
    const at = (path: string): string => `/v1/auth/${surface}${path}`
    let host: ContractHost
    beforeAll(async () => {
      // A token would live longer than the cap, if it might.
      const settings = { sessionAbsoluteTTL: '3h', accessTokenTTL: '24h' }
      host = await kind.start({ surfaces, settings })
    })
    afterAll(() => host.close())

    const sidOf = ({ refreshToken }: SignedIn): string => textOf(decodeJwt(refreshToken), 'sid')
    const stored = () => collectionsOf(host.backend.store, surface, '')
    const refresh = (token: string) => refreshByCookie(host, surface, token)
    const me = (bearer: string) => host.send('GET', at('/me'), { bearer })

    it('a login writes an active document for 90 days, which a logout marks inactive', async () => {
      const who = await signedInPerson(host, surface)
      const session = await stored().sessions.get(sidOf(who))
      expect(session).toMatchObject({
        userId: who.id,
        loginAt: host.clock.now(),
        expiresAt: host.clock.now() + 90 * day,
        active: true,
        endReason: null,
        loginMethod: 'password',
        ip: '127.0.0.1',
      })
      expect(session?.userAgent).not.toBeNull()
      await host.send('POST', at('/logout'), { bearer: who.bearer })
      expect(await stored().sessions.get(sidOf(who))).toMatchObject({
        active: false,
        expiresAt: session?.expiresAt,
      })
    })

    it('nothing that is done in a session moves the end of its record', async () => {
      const own = await openHost({ surfaces }, kind)
      const who = await enrolled(own, surface)
      const { sessions } = storedIn(own, surface)
      const before = await sessions.get(sidOf(who))
      const body = { method: 'totp', code: await who.nextCode() }
      const acts = [
        () => own.send('POST', at('/step-up'), { bearer: who.bearer, body }),
        () => own.send('GET', at('/session'), { cookie: who.cookie }),
        () => refreshByCookie(own, surface, who.refreshToken),
        () => own.send('GET', at('/me'), { bearer: who.bearer }),
        () => own.send('PATCH', at('/me'), { bearer: who.bearer, body: { name: 'Ada' } }),
      ]
      for (const act of acts) {
        await own.clock.advance(1000)
        expect((await act()).status).toBe(200)
        expect(await sessions.get(sidOf(who))).toEqual(before)
      }
    })

    it('a denylist entry counts until its last millisecond', async () => {
      const settings = { accessTokenTTL: '24h', sessionAbsoluteTTL: '' }
      // A token is accepted for that much longer, so the last minute of an entry is needed too.
      const own = await openHost({ surfaces, settings, clockLeeway: 60 }, kind)
      const other = await signedInPerson(own, surface)
      const who = await signedInPerson(own, surface)
      const ended = await own.send('POST', at('/logout'), { bearer: who.bearer })
      expect(ended.status).toBe(204)
      const me = async ({ bearer }: SignedIn) => {
        const { status, code } = await own.send('GET', at('/me'), { bearer })
        return [status, code]
      }
      for (const wait of [0, 24 * hour - 1, 1, 59 * second, second - 1]) {
        await own.clock.advance(wait)
        expect(await me(who)).toEqual([401, 'session_revoked'])
        expect((await me(other))[0]).toBe(200)
      }
    })

    it('a login opens its session once all it asks for was shown, and not before', async () => {
      const own = await openHost({}, kind)
      const who = await enrolled(own, surface)
      const { sessions, families } = storedIn(own, surface)
      const of = { userId: who.id }
      const kept = async () => [
        await sessions.find(of, { limit: 10 }),
        await families.find(of, { limit: 10 }),
      ]
      const before = await kept()
      expect(before.map((rows) => rows.length)).toEqual([1, 1])
      const wrong = await passwordLogin(own, surface, { ...who, password: otherPassword })
      expect(wrong.code).toBe('invalid_credentials')
      const ticket = await ticketOf(own, surface, who)
      const refused = await finish(own, surface, ticket, '000000')
      expect(refused.code).toBe('invalid_mfa_code')
      expect(await kept()).toEqual(before)
      const done = await finish(own, surface, ticket, await who.nextCode())
      expect(done.status).toBe(200)
      const id = textOf(decodeJwt(textOf(done.json(), 'accessToken')), 'sid')
      const loginAt = own.clock.now()
      expect(await sessions.get(id)).toMatchObject({ ...of, loginAt, active: true })
      expect(await families.get(id)).toMatchObject({ ...of, loginAt, revokedAt: null })
      expect((await kept()).map((rows) => rows.length)).toEqual([2, 2])
    })

    it('a row ends an idle window after it was written, whatever the end of the document', async () => {
      const who = await signedInPerson(host, surface)
      const before = await stored().sessions.get(sidOf(who))
      expect(await stored().families.get(sidOf(who))).toMatchObject({
        expiresAt: host.clock.now() + 7 * day,
      })
      await host.clock.advance(2 * hour)
      const next = await refresh(who.refreshToken)
      await host.send('GET', at('/session'), {
        cookie: who.cookie.replace(who.refreshToken, textOf(next.json(), 'refreshToken')),
      })
      expect(await stored().sessions.get(sidOf(who))).toEqual(before)
      expect(await stored().families.get(sidOf(who))).toMatchObject({
        loginAt: before?.loginAt,
        expiresAt: host.clock.now() + 7 * day,
      })
    })

    it('a logout ends the access token with the very next request, and the refresh token', async () => {
      const who = await signedInPerson(host, surface)
      for (let look = 0; look < 2; look += 1) expect((await me(who.bearer)).status).toBe(200)
      const out = await host.send('POST', at('/logout'), { bearer: who.bearer })
      expect(out.status).toBe(204)
      expectProblem(await me(who.bearer), 401, 'session_revoked')
      expect((await refresh(who.refreshToken)).code).toBe('session_revoked')
    })

    it('an administrative end does the same three steps and is session_revoked', async () => {
      const who = await signedInPerson(host, surface)
      const other = await signIn(host, surface, who)
      expect(await host.auth[surface].terminateSession(sidOf(who))).toBe(true)
      expectProblem(await me(who.bearer), 401, 'session_revoked')
      for (const door of doorNames) {
        expectProblem(await refreshDoors[door](host, surface, who), 401, 'session_revoked')
      }
      expect(await stored().sessions.get(sidOf(who))).toMatchObject({
        active: false,
        endReason: 'admin',
      })
      expect(await stored().families.get(sidOf(who))).toMatchObject({ revokedReason: 'admin' })
      const listed = await host.backend.denylist.find([`${surface}:session:${sidOf(who)}`])
      expect(listed).toEqual([
        {
          id: `${surface}:session:${sidOf(who)}`,
          reason: 'revoked',
          expiresAt: host.clock.now() + 24 * hour + 60 * second,
        },
      ])
      expect(await host.auth[surface].terminateSession(sidOf(who))).toBe(false)
      expect((await me(other.bearer)).status).toBe(200)
      await host.auth[surface].terminateSessionsOf(who.id)
      expect((await me(other.bearer)).code).toBe('session_revoked')
      expect((await refresh(other.refreshToken)).code).toBe('session_revoked')
    })

    it('an entry is obeyed for 24 h and one minute and not a millisecond longer', async () => {
      const long = await kind.start({ surfaces, settings: { accessTokenTTL: '24h' } })
      try {
        const who: Person & SignedIn = await signedInPerson(long, surface)
        await long.auth[surface].terminateSession(sidOf(who))
        const id = `${surface}:session:${sidOf(who)}`
        const [entry] = await long.backend.denylist.find([id])
        expect(entry?.expiresAt).toBe(long.clock.now() + 86_460_000)
        await long.clock.advance(86_400_000 - 1)
        const refused = await long.send('GET', at('/me'), { bearer: who.bearer })
        expect(refused.code).toBe('session_revoked')
        await long.clock.advance(1)
        const expired = await long.send('GET', at('/me'), { bearer: who.bearer })
        expect([expired.status, expired.code]).toEqual([401, undefined])
      } finally {
        await long.close()
      }
    })

    it('the document grants nothing and stays readable after the end', async () => {
      const who = await signedInPerson(host, surface)
      await host.send('POST', at('/logout'), { bearer: who.bearer })
      const reopened = await stored().sessions.update(
        sidOf(who),
        { active: false },
        { active: true, endedAt: null, endReason: null },
      )
      expect(reopened).not.toBeNull()
      expect((await me(who.bearer)).code).toBe('session_revoked')
      expect((await refresh(who.refreshToken)).code).toBe('session_revoked')
    })

    itOverMonths('without a cap a session outlives its document', async () => {
      const uncapped = await kind.start({ surfaces, settings: { sessionAbsoluteTTL: '' } })
      try {
        const who = await signedInPerson(uncapped, surface)
        let token = who.refreshToken
        for (let week = 0; week < 16; week += 1) {
          await uncapped.clock.advance(6 * day)
          const reply = await refreshByCookie(uncapped, surface, token)
          expect(reply.status).toBe(200)
          token = textOf(reply.json(), 'refreshToken')
          if (week === 12) {
            await collectionsOf(uncapped.backend.store, surface, '').sessions.take(sidOf(who))
          }
        }
      } finally {
        await uncapped.close()
      }
    })

    itOverMonths('a cap that comes later ends what is older at its next refresh', async () => {
      const later = await settingsHost(
        { surfaces, settings: { sessionAbsoluteTTL: '', accessTokenTTL: '24h' } },
        kind,
      )
      const renew = (refreshToken: string) => refreshByCookie(later, surface, refreshToken)
      const who = await signedInPerson(later, surface)
      let token = who.refreshToken
      let bearer = who.bearer
      for (let week = 0; week < 16; week += 1) {
        await later.clock.advance(6 * day)
        const reply = await renew(token)
        token = textOf(reply.json(), 'refreshToken')
        bearer = textOf(reply.json(), 'accessToken')
      }
      await collectionsOf(later.backend.store, surface, '').sessions.take(sidOf(who))
      // It acts at refreshing alone, and the access token lives on until then (T-14).
      await later.set({ config: { sessionAbsoluteTTL: '720h' } })
      const alive = await later.send('GET', at('/me'), { bearer })
      expect(alive.status).toBe(200)
      const ended = await renew(token)
      expect([ended.status, ended.code]).toEqual([401, 'session_max_age_reached'])
      const refused = await later.send('GET', at('/me'), { bearer })
      expect(refused.code).toBe('session_max_age_reached')
      // Switched off again, what was ended stays ended.
      await later.set({ config: { sessionAbsoluteTTL: '' } })
      expect((await renew(token)).code).toBe('session_max_age_reached')
    })

    it('protected routes do not need the session documents', async () => {
      const store = faultyBackend(memory())
      const broken = await memoryHost.start({ backend: store.backend })
      try {
        const who = await signedInPerson(broken, surface)
        for (const call of ['get', 'find', 'update']) {
          store.failNext(`${surface}_sessions.${call}`, 'before', Number.POSITIVE_INFINITY)
        }
        const { bearer } = who
        expect((await broken.send('GET', at('/me'), { bearer })).status).toBe(200)
        const renamed = await broken.send('PATCH', at('/me'), { bearer, body: { name: 'Eve' } })
        expect(renamed.status).toBe(200)
      } finally {
        await broken.close()
      }
    })

    it('a token minted for the other surface is 401 audience_mismatch', async () => {
      const other = surface === 'operator' ? 'client' : 'operator'
      const who = await signedInPerson(host, other)
      const reply = await me(who.bearer)
      expect([reply.status, reply.code]).toEqual([401, 'audience_mismatch'])
    })

    it('the lifetime in force applies to every access token minted, whatever minted it', async () => {
      const short = await kind.start({ surfaces, settings: { accessTokenTTL: '10m' } })
      try {
        const who = await signedInPerson(short, surface)
        const app = await signedInApp(short, surface)
        const credentials = { email: who.email, password: who.password }
        const replies = [
          await short.send('POST', at('/login'), { body: credentials }),
          await short.send('POST', at('/mobile/login'), { body: credentials }),
          await short.send('GET', at('/session'), { cookie: who.cookie }),
          await short.send('POST', at('/refresh'), { body: { refreshToken: app.refreshToken } }),
          await short.send('POST', at('/refresh-cookie'), { cookie: who.cookie }),
        ]
        for (const reply of replies) {
          const body = reply.json()
          const { exp = 0, iat = 0 } = decodeJwt(textOf(body, 'accessToken'))
          expect([body['expiresIn'], exp - iat]).toEqual([600, 600])
        }
      } finally {
        await short.close()
      }
    })
  })
})
