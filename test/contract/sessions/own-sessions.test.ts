import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { refreshCookieOf } from '../../support/hosts/http-client.js'
import { eachHost, eachStore } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { person, type SignedIn, signedInPerson, signIn } from '../../support/people/people.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { sessionOf } from '../events/event-scenario.js'

const path = '/v1/auth/operator/sessions'
const day = 24 * 3_600_000
const idOf = ({ refreshToken }: Pick<SignedIn, 'refreshToken'>): string => sessionOf(refreshToken)

const list = (host: ContractHost, { bearer }: Pick<SignedIn, 'bearer'>) =>
  host.send('GET', path, { bearer })

const end = (host: ContractHost, { bearer }: Pick<SignedIn, 'bearer'>, id: string) =>
  host.send('DELETE', `${path}/${id}`, { bearer })

async function itemsOf(
  host: ContractHost,
  who: SignedIn,
): Promise<readonly Record<string, unknown>[]> {
  const { items } = (await list(host, who)).json()
  if (!Array.isArray(items)) throw new Error('items is no list')
  return items
}

/** Somebody signed in from three places, the newest last. */
async function threefold(host: ContractHost) {
  const who = await person(host, 'operator')
  const sessions: SignedIn[] = []
  for (let count = 0; count < 3; count += 1) {
    await host.auth.close()
    await host.clock.advance(1000)
    sessions.push(await signIn(host, 'operator', who))
  }
  const [first, second, third] = sessions
  if (!first || !second || !third) throw new Error('there are three')
  return { who, first, second, third }
}

eachHost.describe('one’s own sessions', (kind) => {
  it('are listed and ended on the operator surface', async () => {
    const host = await openHost({}, kind)
    const { first, second, third } = await threefold(host)
    await signedInPerson(host, 'operator')
    const items = await itemsOf(host, second)
    expect(items.map(({ id, active, current }) => [id, active, current])).toEqual([
      [idOf(third), true, false],
      [idOf(second), true, true],
      [idOf(first), true, false],
    ])
    const loginAt = host.clock.now()
    expect(items[0]).toEqual({
      id: idOf(third),
      loginAt: new Date(loginAt).toISOString(),
      expiresAt: new Date(loginAt + 90 * day).toISOString(),
      active: true,
      ip: expect.stringMatching(/^10\./),
      userAgent: 'node',
      current: false,
    })

    const ended = await end(host, second, idOf(first))
    expect([ended.status, ended.text, ended.setCookies]).toEqual([204, '', []])
    const me = await host.send('GET', '/v1/auth/operator/me', { bearer: first.bearer })
    expectProblem(me, 401, 'session_revoked')
    const refreshed = await host.send('POST', '/v1/auth/operator/refresh-cookie', {
      cookie: first.cookie,
    })
    expectProblem(refreshed, 401, 'session_revoked')
    const left = await itemsOf(host, second)
    expect(left.map(({ active }) => active)).toEqual([true, true, false])
    expect((await list(host, third)).status).toBe(200)
  })
})

describe('one’s own sessions', () => {
  it('are listed for operators; there is no such list for clients, with a good token of theirs', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, 'client')
    const { bearer } = who
    const id = idOf(who)
    const at = '/v1/auth/client/sessions'
    expectProblem(await host.send('GET', at, { bearer }), 404, 'not_found')
    expectProblem(await host.send('DELETE', `${at}/${id}`, { bearer }), 404, 'not_found')
    expectProblem(await list(host, who), 401, 'audience_mismatch')
    expectProblem(await end(host, who, id), 401, 'audience_mismatch')
    expect((await host.send('GET', '/v1/auth/client/me', { bearer })).status).toBe(200)
    expect(await itemsOf(host, await signedInPerson(host, 'operator'))).toHaveLength(1)
  })

  it('says of each whether it goes on, whatever its document says', async () => {
    const settings = { sessionAbsoluteTTL: '10d' } as const
    const host = await openHost({ settings })
    const { who, first, second } = await threefold(host)
    const { sessions, families } = storedIn(host, 'operator')
    const set = { revokedAt: host.clock.now(), revokedReason: 'admin' } as const
    // Its last step is still to come.
    await families.update(idOf(first), { revokedAt: null }, set)
    expect((await sessions.get(idOf(first)))?.active).toBe(true)
    // Its row was swept.
    await families.take(idOf(second))
    await host.auth.close()
    await host.clock.advance(7 * day)
    const late = await signIn(host, 'operator', who)
    const items = await itemsOf(host, late)
    // The third was not refreshed for the idle window.
    expect(items.map(({ active }) => active)).toEqual([true, false, false, false])
  })

  it('counts none that is older than the cap', async () => {
    const host = await openHost({ settings: { sessionAbsoluteTTL: '1h' } })
    const { who } = await threefold(host)
    await host.auth.close()
    await host.clock.advance(3_600_001)
    const items = await itemsOf(host, await signIn(host, 'operator', who))
    expect(items.map(({ active }) => active)).toEqual([true, false, false, false])
  })

  it('leaves out what is past its 90 days, swept or not', async () => {
    const host = await openHost()
    const { who } = await threefold(host)
    await host.auth.close()
    await host.clock.advance(90 * day - 1)
    const first = await signIn(host, 'operator', who)
    expect(await itemsOf(host, first)).toHaveLength(2)
    await host.auth.close()
    await host.clock.advance(1)
    expect(await itemsOf(host, first)).toHaveLength(1)
  })

  it('shows the newest hundred, and those beyond that go on', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, 'operator')
    const { sessions } = storedIn(host, 'operator')
    const own = await sessions.get(idOf(who))
    if (own === null) throw new Error('no session')
    for (let count = 0; count < 120; count += 1) {
      const id = `f${String(count).padStart(7, '0')}${own.id.slice(8)}`
      await sessions.insert({ ...own, id, active: false, endedAt: 0, endReason: 'logout' })
    }
    const items = await itemsOf(host, who)
    expect(items).toHaveLength(101)
    expect(items.at(-1)).toMatchObject({ id: own.id, active: true, current: true })
  })

  it('shows one that goes on, however many logins there were since', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, 'operator')
    const { sessions } = storedIn(host, 'operator')
    const own = await sessions.get(idOf(who))
    if (own === null) throw new Error('no session')
    // Left to their idle deadline, which no document hears of; their rows were swept.
    for (let count = 0; count < 230; count += 1) {
      const id = `f${String(count).padStart(7, '0')}${own.id.slice(8)}`
      await sessions.insert({ ...own, id })
    }
    const items = await itemsOf(host, who)
    expect(items).toHaveLength(101)
    expect(items.at(-1)).toMatchObject({ id: own.id, active: true, current: true })
  })

  eachStore.it(
    'one that outlives its 90 days is listed from its row, and ended as any other',
    async (kind) => {
      const host = await openHost({ settings: { sessionAbsoluteTTL: '' } }, kind)
      const who = await person(host, 'operator')
      const old = await signIn(host, 'operator', who)
      const loginAt = host.clock.now()
      let { cookie } = old
      for (let week = 0; week < 15; week += 1) {
        await host.auth.close()
        await host.clock.advance(6 * day)
        const path = '/v1/auth/operator/refresh-cookie'
        cookie = refreshCookieOf(await host.send('POST', path, { cookie }), 'operator')
      }
      const idleEnd = host.clock.now() + 7 * day
      const now = await signIn(host, 'operator', who)
      const listed = {
        id: idOf(old),
        loginAt: new Date(loginAt).toISOString(),
        expiresAt: new Date(idleEnd).toISOString(),
        active: true,
        ip: null,
        userAgent: null,
        current: false,
      }
      expect((await itemsOf(host, now)).at(-1)).toEqual(listed)
      const { current: _, ...shown } = listed
      const inCode = await host.auth.operator.sessions.list(who.id)
      expect(inCode.at(-1)).toEqual({ ...shown, loginAt, expiresAt: idleEnd })
      // Swept as well.
      await storedIn(host, 'operator').sessions.take(idOf(old))
      expect((await itemsOf(host, now)).at(-1)).toEqual(listed)
      expect((await end(host, now, idOf(old))).status).toBe(204)
      expect(await itemsOf(host, now)).toHaveLength(1)
      const refreshed = await host.send('POST', '/v1/auth/operator/refresh-cookie', { cookie })
      expectProblem(refreshed, 401, 'session_revoked')
      expect((await end(host, now, idOf(old))).status).toBe(204)
      const stranger = await signedInPerson(host, 'operator')
      expectProblem(await end(host, stranger, idOf(old)), 404, 'session_not_found')
    },
  )

  it.each(['operator', 'client'] as const)(
    'are listed in code, with times in milliseconds, on the %s surface',
    async (surface) => {
      const host = await openHost()
      const who = await signedInPerson(host, surface)
      await signedInPerson(host, surface)
      const loginAt = host.clock.now()
      const { terminateSession } = host.auth[surface]
      const listSessions = host.auth[surface].sessions.list
      const [one, ...more] = await listSessions(who.id)
      expect(more).toEqual([])
      expect(one).toEqual({
        id: idOf(who),
        loginAt,
        expiresAt: loginAt + 90 * day,
        active: true,
        ip: expect.stringMatching(/^[\d.]+$/),
        userAgent: 'node',
      })
      await terminateSession(idOf(who))
      expect(await listSessions(who.id)).toMatchObject([{ id: idOf(who), active: false }])
      expect(await listSessions('01940000-0000-7000-8000-000000000000')).toEqual([])
    },
  )

  it('are asked for in code by a text: anything else is told of, and is no failure of the store', async () => {
    const { auth } = await openHost()
    const { terminateSession, terminateSessionsOf } = auth.client
    const listSessions = auth.client.sessions.list
    for (const id of [undefined, null, 7, ['a'], 'a\0', '\ud800', 'a'.repeat(256)] as string[]) {
      const refused = (name: string) => ({
        code: 'invalid_request',
        message: `${name} must be a text of at most 255 characters, well-formed and without NUL.`,
      })
      await expect(listSessions(id)).rejects.toMatchObject(refused('userId'))
      await expect(terminateSessionsOf(id)).rejects.toMatchObject(refused('userId'))
      await expect(terminateSession(id)).rejects.toMatchObject(refused('sessionId'))
    }
  })

  it('a session of another user, and one that does not exist, are not found', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, 'operator')
    const other = await signedInPerson(host, 'operator')
    const client = await signedInPerson(host, 'client')
    const nobodys = ['01940000-0000-7000-8000-000000000000', 'x', '%00', 'a'.repeat(500)]
    for (const id of [idOf(other), idOf(client), ...nobodys]) {
      expectProblem(await end(host, who, id), 404, 'session_not_found')
    }
    expect((await list(host, other)).status).toBe(200)
  })

  it('one’s own leaves cookies alone; repeated, it changes nothing', async () => {
    const host = await openHost()
    const { first, second } = await threefold(host)
    const reply = await end(host, first, idOf(first))
    expect(reply.status).toBe(204)
    expect(reply.setCookies).toEqual([])
    expectProblem(await list(host, first), 401, 'session_revoked')
    expect((await end(host, second, idOf(first))).status).toBe(204)
    expect(eventsOf(host, 'session.terminated')).toMatchObject([
      { sessionId: idOf(first), reason: 'logout' },
    ])
  })

  it('cut off at any of its three steps it is completed by the same request', async () => {
    for (const call of [
      'denylist.put',
      'operator_refresh_tokens.update',
      'operator_sessions.update',
    ]) {
      const store = faultyBackend(memory())
      const host = await openHost({ backend: store.backend })
      const { first, second } = await threefold(host)
      store.failNext(call, 'before')
      expect(outcomeOf(await end(host, second, idOf(first)))).toBe('503 service_unavailable')
      const { bearer } = first
      const me = () => host.send('GET', '/v1/auth/operator/me', { bearer })
      if (call !== 'denylist.put') expectProblem(await me(), 401, 'session_revoked')
      expect((await end(host, second, idOf(first))).status).toBe(204)
      expectProblem(await me(), 401, 'session_revoked')
      const { families, sessions } = storedIn(host, 'operator')
      expect(await families.get(idOf(first))).toMatchObject({ revokedReason: 'logout' })
      expect(await sessions.get(idOf(first))).toMatchObject({ active: false, endReason: 'logout' })
    }
  })

  it('ends one whose row was swept', async () => {
    const host = await openHost()
    const { first, second } = await threefold(host)
    await storedIn(host, 'operator').families.take(idOf(first))
    expect((await end(host, second, idOf(first))).status).toBe(204)
    expectProblem(await list(host, first), 401, 'session_revoked')
  })
})
