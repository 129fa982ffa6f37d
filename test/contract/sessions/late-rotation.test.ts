import { expect, it } from 'vitest'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { type Reply, refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { otherPassword, type Person, person } from '../../support/people/people.js'
import { recognitionCookie, recognitionOf } from '../../support/people/recognition-steps.js'

const grace = 10_000
const hour = 3_600_000

eachHost.describe('a refresh whose reply is lost', (kind) => {
  eachSurface.describe((surface) => {
    const at = (path: string): string => `/v1/auth/${surface}${path}`

    /** What a browser or app holds: its refresh token, and the recognition id that its login granted. */
    interface Holder {
      readonly token: string
      readonly id: string | null
    }

    interface Way {
      readonly signIn: (host: ContractHost, who: Person, kept?: string) => Promise<Holder>
      readonly refresh: (host: ContractHost, held: Holder) => Promise<Reply>
      readonly tokenOf: (reply: Reply) => string
    }

    const shown = (held: Holder): string => {
      const name = surface === 'operator' ? '__Host-op_refresh' : '__Host-cl_refresh'
      const refresh = `${name}=${held.token}`
      return held.id === null ? refresh : `${refresh}; ${recognitionCookie(surface, held.id)}`
    }
    const cookieToken = (reply: Reply): string => {
      const cookie = refreshCookieOf(reply, surface)
      return cookie.slice(cookie.indexOf('=') + 1)
    }
    const browser: Way = {
      async signIn(host, { email, password }, kept) {
        const cookie = kept === undefined ? {} : { cookie: recognitionCookie(surface, kept) }
        const reply = await host.send('POST', at('/login'), {
          body: { email, password },
          ...cookie,
        })
        const id = recognitionOf(reply) ?? ''
        return { token: cookieToken(reply), id: id.slice(id.indexOf('=') + 1) || null }
      },
      refresh: (host, held) => host.send('POST', at('/refresh-cookie'), { cookie: shown(held) }),
      tokenOf: cookieToken,
    }
    const app: Way = {
      async signIn(host, { email, password }) {
        const reply = await host.send('POST', at('/mobile/login'), { body: { email, password } })
        const { recognitionId } = reply.json()
        const id = typeof recognitionId === 'string' ? recognitionId : null
        return { token: textOf(reply.json(), 'refreshToken'), id }
      },
      refresh: (host, { token: refreshToken, id }) =>
        host.send('POST', at('/refresh'), {
          body: { refreshToken, ...(id === null ? {} : { recognitionId: id }) },
        }),
      tokenOf: (reply) => textOf(reply.json(), 'refreshToken'),
    }

    /** Signs in and refreshes once; the reply gets lost, and the grace passes. */
    async function lost(host: ContractHost, way: Way) {
      const who = await person(host, surface)
      const held = await way.signIn(host, who)
      const reply = await way.refresh(host, held)
      expect(reply.status).toBe(200)
      await host.clock.advance(grace)
      return { who, held, unseen: { ...held, token: way.tokenOf(reply) } }
    }

    const reissued = (host: ContractHost) =>
      eventsOf(host, 'refresh.reissued').map(({ generation, late }) => ({ generation, late }))

    for (const [name, way] of Object.entries({ browser, app })) {
      it(`signs no ${name} out: the same device is answered by a rotation, however late and often`, async () => {
        const host = await openHost({}, kind)
        const { held } = await lost(host, way)
        await host.clock.advance(hour)
        const second = await way.refresh(host, held)
        expect([second.status, second.headers.get('x-refresh-outcome')]).toEqual([200, 'rotated'])
        await host.clock.advance(hour)
        const third = await way.refresh(host, held)
        expect([third.status, third.headers.get('x-refresh-outcome')]).toEqual([200, 'rotated'])
        expect(reissued(host)).toEqual([
          { generation: 3, late: true },
          { generation: 4, late: true },
        ])
        const on = await way.refresh(host, { ...held, token: way.tokenOf(third) })
        expect([on.status, on.headers.get('x-refresh-outcome')]).toEqual([200, 'rotated'])
        expect(eventsOf(host, 'refresh.replayDetected')).toEqual([])
      })

      it(`… but retires what the ${name} was handed and never showed, once the grace of the late rotation is over`, async () => {
        const host = await openHost({}, kind)
        const { held, unseen } = await lost(host, way)
        const late = await way.refresh(host, held)
        // Replies may cross: within the grace each of the two is answered.
        expect((await way.refresh(host, unseen)).headers.get('x-refresh-outcome')).toBe('reissued')
        expect((await way.refresh(host, held)).headers.get('x-refresh-outcome')).toBe('reissued')
        await host.clock.advance(grace)
        expect(outcomeOf(await way.refresh(host, unseen))).toEqual('401 refresh_token_reused')
        const newest = { ...held, token: way.tokenOf(late) }
        expect(outcomeOf(await way.refresh(host, newest))).toEqual('401 session_revoked')
      })

      it.each([
        ['without the id', null],
        ['with the id of another device', 'an-id-of-a-thiefs-own0'],
      ])(`… and ends the session of the ${name} %s`, async (_what, id) => {
        const host = await openHost({}, kind)
        const { held } = await lost(host, way)
        expect(outcomeOf(await way.refresh(host, { ...held, id }))).toEqual(
          '401 refresh_token_reused',
        )
        expect(outcomeOf(await way.refresh(host, held))).toEqual('401 session_revoked')
      })
    }

    it('ends the session if the rotation was not made by the device', async () => {
      const host = await openHost({}, kind)
      const held = await browser.signIn(host, await person(host, surface))
      await browser.refresh(host, { ...held, id: null })
      await host.clock.advance(grace)
      expect(outcomeOf(await browser.refresh(host, held))).toEqual('401 refresh_token_reused')
    })

    it('ends the session if a newer token was shown, also to GET session', async () => {
      const host = await openHost({}, kind)
      const { held, unseen } = await lost(host, browser)
      expect((await host.send('GET', at('/session'), { cookie: shown(unseen) })).status).toBe(200)
      expect(outcomeOf(await browser.refresh(host, held))).toEqual('401 refresh_token_reused')
    })

    it('… but not if GET session refused the newer one', async () => {
      const host = await openHost({}, kind)
      const { held, unseen } = await lost(host, app)
      // A token of a body is refused in a cookie, and its session goes on.
      const asCookie = await host.send('GET', at('/session'), { cookie: shown(unseen) })
      expect(outcomeOf(asCookie)).toBe('401 refresh_token_invalid')
      expect((await app.refresh(host, held)).status).toBe(200)
    })

    it('goes by the id of this account alone, wherever it stands among those of the browser', async () => {
      const host = await openHost({}, kind)
      const { who, held } = await lost(host, browser)
      const others = ['an-id-of-someone-else0', 'another-id-of-others00']
      const crowded = { ...held, id: [...others, held.id].join('.') }
      expect((await browser.refresh(host, crowded)).status).toBe(200)
      const [row] = await storedIn(host, surface).families.find({ userId: who.id }, { limit: 1 })
      expect(row).toMatchObject({ generation: 3, shown: 1, byDevice: true })
    })

    it('notes the device of each rotation, whatever other ids stand before its own', async () => {
      const host = await openHost({}, kind)
      const who = await person(host, surface)
      const held = await browser.signIn(host, who)
      const row = async () =>
        (await storedIn(host, surface).families.find({ userId: who.id }, { limit: 1 }))[0]
      const { device } = (await row()) ?? {}
      expect(await row()).toMatchObject({ shown: 0, byDevice: false })
      let { token } = held
      for (const [id, byDevice] of [
        [held.id, true],
        [null, false],
        ['an-id-of-someone-else0', false],
        [`an-id-of-someone-else0.${held.id}`, true],
      ] as const) {
        const reply = await browser.refresh(host, { token, id })
        expect([reply.status, await row()]).toMatchObject([200, { byDevice, device }])
        token = cookieToken(reply)
      }
      expect(await row()).toMatchObject({ generation: 5, shown: 4 })
    })

    it('stays strict after a password change, without a grace, and where recognition is off', async () => {
      for (const options of [
        { settings: { refreshReuseGrace: '0s' } },
        { deviceRecognition: false },
      ]) {
        const host = await openHost(options, kind)
        const held = await browser.signIn(host, await person(host, surface))
        await browser.refresh(host, held)
        await host.clock.advance(grace)
        expect(outcomeOf(await browser.refresh(host, held))).toEqual('401 refresh_token_reused')
      }
      const host = await openHost({}, kind)
      const { who, held, unseen } = await lost(host, browser)
      const view = await host.send('GET', at('/session'), { cookie: shown(held) })
      const body = { currentPassword: who.password, newPassword: otherPassword }
      const bearer = textOf(view.json(), 'accessToken')
      expect((await host.send('POST', at('/me/password'), { bearer, body })).status).toBe(204)
      expect(outcomeOf(await browser.refresh(host, held))).toEqual('401 refresh_token_reused')
      expect(outcomeOf(await browser.refresh(host, unseen))).toEqual('401 session_revoked')
    })

    it('leaves the session live for GET session and sessionOf, which rotate and write nothing', async () => {
      const host = await openHost({}, kind)
      const { who, held } = await lost(host, browser)
      const row = async () =>
        (await storedIn(host, surface).families.find({ userId: who.id }, { limit: 1 }))[0]
      const before = await row()
      const cookie = shown(held)
      for (let page = 0; page < 2; page += 1) {
        expect((await host.send('GET', at('/session'), { cookie })).status).toBe(200)
      }
      const head = { method: 'GET', headers: { cookie } }
      expect(await host.auth[surface].sessionOf(head, { use: 'page' })).not.toBeNull()
      expect(await row()).toEqual(before)
      // Once an hour for each place, as of other views: the host's page gave no address.
      expect(reissued(host)).toEqual([
        { generation: 2, late: true },
        { generation: 2, late: true },
      ])
      const stranger = await host.send('GET', at('/session'), {
        cookie: shown({ ...held, id: null }),
      })
      expect(outcomeOf(stranger)).toEqual('401 refresh_token_reused')
    })

    it('lets its owner sign out without an alarm', async () => {
      const host = await openHost({}, kind)
      const { held } = await lost(host, browser)
      expect((await host.send('POST', at('/logout'), { cookie: shown(held) })).status).toBe(204)
      expect(eventsOf(host, 'refresh.replayDetected')).toEqual([])
      expect(eventsOf(host, 'session.terminated').map(({ reason }) => reason)).toEqual(['logout'])
    })
  })
})
