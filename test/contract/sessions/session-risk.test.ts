import { describe, expect, it } from 'vitest'
import type { Backend } from '../../../src/ports/backend.js'
import type {
  SessionRiskOutcome,
  SessionRiskQuestion,
  SessionRiskScorer,
} from '../../../src/ports/risk-scorers.js'
import type { Surface } from '../../../src/ports/surface.js'
import { deferred } from '../../support/deferred.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { type Reply, refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { eachHost, eachSampleStore, eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { enrolled, requireStepUp } from '../../support/people/authenticator.js'
import { type Person, person } from '../../support/people/people.js'
import { withCall } from '../../support/stores/faulty-backend.js'
import { spyBackend } from '../../support/stores/spy-backend.js'

const home = { 'x-forwarded-for': '192.0.2.7', 'user-agent': 'Browser/1.0 (Laptop)' }
const nextDoor = { ...home, 'x-forwarded-for': '192.0.2.99', 'user-agent': 'Browser/2.7 (Laptop)' }
const travelling = { ...home, 'x-forwarded-for': '203.0.113.9' }
const otherAgent = { ...home, 'user-agent': 'App (Phone)' }
type Headers = typeof home

/** A scorer that answers this, and what it was asked. */
function answering(answer: () => Promise<unknown>) {
  const asked: SessionRiskQuestion[] = []
  const sessionRiskScorer: SessionRiskScorer = {
    assess(question) {
      asked.push(question)
      return answer() as ReturnType<SessionRiskScorer['assess']>
    },
  }
  return { sessionRiskScorer, asked }
}

const saying = (outcome: SessionRiskOutcome) => answering(async () => ({ outcome }))

async function login(
  host: ContractHost,
  surface: Surface,
  { email, password }: Person,
  headers: Headers = home,
): Promise<Reply> {
  const body = { email, password }
  const reply = await host.send('POST', `/v1/auth/${surface}/login`, { body, headers })
  expect(reply.status, reply.text).toBe(200)
  return reply
}

const refresh = (host: ContractHost, surface: Surface, cookie: string, headers: Headers) =>
  host.send('POST', `/v1/auth/${surface}/refresh-cookie`, { cookie, headers })

/** Refreshes from one place after the other; the last reply. */
async function through(
  host: ContractHost,
  surface: Surface,
  first: Reply,
  places: readonly Headers[],
): Promise<Reply> {
  let last = first
  for (const place of places) {
    last = await refresh(host, surface, refreshCookieOf(last, surface), place)
    expect(last.status, last.text).toBe(200)
  }
  return last
}

/** A user with an app who showed a code just now, and the refresh cookie. */
async function steppedUp(host: ContractHost) {
  const who = await enrolled(host, 'client')
  const body = { method: 'totp', code: await who.nextCode() }
  await host.send('POST', '/v1/auth/client/step-up', { bearer: who.bearer, body })
  await requireStepUp(host, 'client', who.bearer)
  const cookie = `__Host-cl_refresh=${who.refreshToken}`
  return { who, cookie }
}

/** What a scorer does, and whether that is an answer. */
const voiding: readonly (readonly [string, () => Promise<unknown>, boolean])[] = [
  ['says so', async () => ({ outcome: 'stepUp' }), true],
  ['rejects', async () => Promise.reject(new Error('canary')), false],
  [
    'throws',
    () => {
      throw new Error('canary')
    },
    false,
  ],
  ['answers nothing', async () => undefined, false],
  ['answers another outcome', async () => ({ outcome: 'admit' }), false],
]

eachSampleStore.describe('refreshes from another place', (kind) => {
  eachSurface.describe((surface) => {
    it('are put to the scorer once for each change, with what changed and the login', async () => {
      const { sessionRiskScorer, asked } = saying('none')
      const host = await openHost({ sessionRiskScorer }, kind)
      const who = await person(host, surface)
      const begun = await login(host, surface, who)
      const at = host.clock.now()
      const [session] = await storedIn(host, surface).sessions.find(
        { userId: who.id },
        { limit: 1 },
      )
      const ofLogin = { at, ip: '192.0.2.7', userAgent: home['user-agent'] }
      const about = {
        ...{ surface, userId: who.id, sessionId: session?.id, at },
        login: { ...ofLogin, method: 'password', mfaMethod: null },
      }
      await through(host, surface, begun, [home, nextDoor, travelling, travelling, otherAgent])
      expect(asked).toEqual([
        { ...about, ip: '203.0.113.9', userAgent: home['user-agent'], changed: ['network'] },
        {
          ...about,
          ip: '192.0.2.7',
          userAgent: 'App (Phone)',
          changed: ['network', 'userAgent'],
        },
      ])
      expect(eventsOf(host, 'refresh.unusual')).toEqual([])
    })

    it('end the session where the scorer says so, before anything is spent', async () => {
      const { sessionRiskScorer } = saying('end')
      const host = await openHost({ sessionRiskScorer }, kind)
      const who = await person(host, surface)
      const begun = await login(host, surface, who)
      const bearer = textOf(begun.json(), 'accessToken')
      const cookie = refreshCookieOf(begun, surface)
      const reply = await refresh(host, surface, cookie, travelling)
      expect(outcomeOf(reply)).toBe('401 session_revoked')
      const me = await host.send('GET', `/v1/auth/${surface}/me`, { bearer })
      expect(outcomeOf(me)).toBe('401 session_revoked')
      expect(outcomeOf(await refresh(host, surface, cookie, home))).toBe('401 session_revoked')
      expect(eventsOf(host, 'session.terminated')).toMatchObject([{ reason: 'risk' }])
      expect(eventsOf(host, 'refresh.unusual')).toMatchObject([
        { userId: who.id, changed: ['network'], outcome: 'end', assessed: true },
      ])
      expect(eventsOf(host, 'refresh.rotated')).toEqual([])
    })

    it.each(voiding)(
      'go on without the proof of a second factor where the scorer %s',
      async (_, answer, assessed) => {
        const { sessionRiskScorer } = answering(answer)
        const host = await openHost({ sessionRiskScorer }, kind)
        const who = await enrolled(host, surface)
        const code = await who.nextCode()
        const body = { method: 'totp', code }
        const shown = await host.send('POST', `/v1/auth/${surface}/step-up`, {
          bearer: who.bearer,
          body,
        })
        expect(shown.status, shown.text).toBe(200)
        await requireStepUp(host, surface, who.bearer)
        const cookie = `${surface === 'operator' ? '__Host-op_refresh' : '__Host-cl_refresh'}=${who.refreshToken}`
        const reply = await refresh(host, surface, cookie, otherAgent)
        expect(reply.status, reply.text).toBe(200)
        const bearer = textOf(reply.json(), 'accessToken')
        for (const token of [bearer, who.bearer]) {
          await expect(requireStepUp(host, surface, token)).rejects.toMatchObject({
            code: 'step_up_required',
          })
        }
        expect(eventsOf(host, 'refresh.unusual').at(-1)).toMatchObject({
          outcome: 'stepUp',
          assessed,
        })
        expect(JSON.stringify(host.logger.lines)).not.toContain('canary')
      },
    )
  })
})

describe('the scorer of sessions', () => {
  it('a client between two places leaves one event an hour of each', async () => {
    const { sessionRiskScorer, asked } = saying('stepUp')
    const host = await openHost({ sessionRiskScorer })
    let last = await login(host, 'client', await person(host, 'client'))
    for (let round = 0; round < 3; round += 1) {
      last = await through(host, 'client', last, [travelling, home])
    }
    expect([asked.length, eventsOf(host, 'refresh.unusual').length]).toEqual([6, 2])
    await host.clock.advance(3_599_999)
    last = await through(host, 'client', last, [travelling, home])
    expect(eventsOf(host, 'refresh.unusual')).toHaveLength(2)
    await host.clock.advance(1)
    await through(host, 'client', last, [travelling])
    expect(eventsOf(host, 'refresh.unusual')).toHaveLength(3)
  })

  it('a client of ever new user agents leaves eight events an hour, and hides no other', async () => {
    const { sessionRiskScorer } = saying('stepUp')
    const host = await openHost({ sessionRiskScorer })
    const begun = await login(host, 'client', await person(host, 'client'))
    const cookie = refreshCookieOf(begun, 'client')
    const viewBy = (userAgent: string) =>
      host.send('GET', '/v1/auth/client/session', {
        cookie,
        headers: { ...home, 'user-agent': userAgent },
      })
    for (const letter of 'abcdefghijkl') expect((await viewBy(`App (${letter})`)).status).toBe(200)
    expect(eventsOf(host, 'refresh.unusual')).toHaveLength(8)
    const other = await login(host, 'client', await person(host, 'client'))
    await through(host, 'client', other, [travelling])
    expect(eventsOf(host, 'refresh.unusual')).toHaveLength(9)
  })

  it('that ends a session is told of, whatever was told before', async () => {
    let outcome: SessionRiskOutcome = 'stepUp'
    const { sessionRiskScorer } = answering(async () => ({ outcome }))
    const host = await openHost({ sessionRiskScorer })
    const begun = await login(host, 'client', await person(host, 'client'))
    const cookie = refreshCookieOf(begun, 'client')
    const viewBy = (userAgent: string) =>
      host.send('GET', '/v1/auth/client/session', {
        cookie,
        headers: { ...home, 'user-agent': userAgent },
      })
    for (const letter of 'abcdefgh') expect((await viewBy(`App (${letter})`)).status).toBe(200)
    outcome = 'end'
    expect(outcomeOf(await viewBy('App (z)'))).toBe('401 session_revoked')
    expect(eventsOf(host, 'refresh.unusual').at(-1)).toMatchObject({ outcome: 'end' })
  })

  it('judges `GET session` from another place, and its answer `none` stands for a minute', async () => {
    let outcome: SessionRiskOutcome = 'none'
    const { sessionRiskScorer, asked } = answering(async () => ({ outcome }))
    const host = await openHost({ sessionRiskScorer })
    const begun = await login(host, 'client', await person(host, 'client'))
    const cookie = refreshCookieOf(begun, 'client')
    const view = (headers: Headers) =>
      host.send('GET', '/v1/auth/client/session', { cookie, headers })
    for (const place of [home, nextDoor, travelling, travelling]) {
      expect((await view(place)).status).toBe(200)
    }
    expect(asked).toMatchObject([{ changed: ['network'], ip: '203.0.113.9' }])
    outcome = 'end'
    expect(outcomeOf(await view(otherAgent))).toBe('401 session_revoked')
    expect(eventsOf(host, 'session.terminated')).toMatchObject([{ reason: 'risk' }])
    expect(outcomeOf(await view(home))).toBe('401 session_revoked')
  })

  it('is asked again about a view a minute later, and after a refresh', async () => {
    const { sessionRiskScorer, asked } = saying('none')
    const host = await openHost({ sessionRiskScorer })
    const begun = await login(host, 'client', await person(host, 'client'))
    const view = (reply: Reply) =>
      host.send('GET', '/v1/auth/client/session', {
        cookie: refreshCookieOf(reply, 'client'),
        headers: travelling,
      })
    await view(begun)
    await host.clock.advance(59_999)
    await view(begun)
    expect(asked).toHaveLength(1)
    await host.clock.advance(1)
    await view(begun)
    expect(asked).toHaveLength(2)
    const next = await through(host, 'client', begun, [otherAgent])
    await view(next)
    expect(asked).toHaveLength(4)
  })

  it('a view from elsewhere voids the proof of a second factor', async () => {
    const { sessionRiskScorer } = saying('stepUp')
    const host = await openHost({ sessionRiskScorer })
    const { who, cookie } = await steppedUp(host)
    const seen = await host.send('GET', '/v1/auth/client/session', { cookie, headers: otherAgent })
    expect(seen.status, seen.text).toBe(200)
    await expect(requireStepUp(host, 'client', who.bearer)).rejects.toMatchObject({
      code: 'step_up_required',
    })
  })

  it('hides the session from `sessionOf` elsewhere, which ends nothing', async () => {
    const { sessionRiskScorer } = saying('end')
    const host = await openHost({ sessionRiskScorer })
    const begun = await login(host, 'client', await person(host, 'client'))
    const cookie = refreshCookieOf(begun, 'client')
    const seenFrom = (place: Headers) => {
      const headers = { ...place, cookie, 'sec-fetch-site': 'same-origin' }
      const request = { method: 'GET', headers, socket: { remoteAddress: '127.0.0.1' } }
      return host.auth.client.sessionOf(request, { use: 'page' })
    }
    expect(await seenFrom(home)).not.toBeNull()
    expect(await seenFrom(travelling)).toBeNull()
    expect(eventsOf(host, 'session.overdue')).toMatchObject([{ reason: 'risk' }])
    expect(eventsOf(host, 'session.terminated')).toEqual([])
    expect(await seenFrom(home)).not.toBeNull()
  })

  it('shows the session to `sessionOf` elsewhere where it voids the proof of a second factor', async () => {
    const { sessionRiskScorer } = saying('stepUp')
    const host = await openHost({ sessionRiskScorer })
    const { who, cookie } = await steppedUp(host)
    const headers = { ...otherAgent, cookie, 'sec-fetch-site': 'same-origin' }
    const request = { method: 'GET', headers, socket: { remoteAddress: '127.0.0.1' } }
    expect(await host.auth.client.sessionOf(request, { use: 'page' })).not.toBeNull()
    expect(eventsOf(host, 'refresh.unusual')).toMatchObject([{ outcome: 'stepUp' }])
    await expect(requireStepUp(host, 'client', who.bearer)).rejects.toMatchObject({
      code: 'step_up_required',
    })
  })

  it('that does not answer within two seconds signs out no session', async () => {
    const { sessionRiskScorer, asked } = answering(() => new Promise(() => {}))
    const host = await openHost({ sessionRiskScorer })
    const begun = await login(host, 'client', await person(host, 'client'))
    const pending = refresh(host, 'client', refreshCookieOf(begun, 'client'), travelling)
    await expect.poll(() => asked.length).toBe(1)
    await host.clock.advance(2000)
    expect((await pending).status).toBe(200)
    expect(eventsOf(host, 'refresh.unusual')).toMatchObject([
      { outcome: 'stepUp', assessed: false },
    ])
  })

  it('that answers just within two seconds is heard', async () => {
    const { promise: answer, resolve: say } = deferred<unknown>()
    const { sessionRiskScorer, asked } = answering(() => answer)
    const host = await openHost({ sessionRiskScorer })
    const begun = await login(host, 'client', await person(host, 'client'))
    const pending = refresh(host, 'client', refreshCookieOf(begun, 'client'), travelling)
    await expect.poll(() => asked.length).toBe(1)
    await host.clock.advance(1999)
    say({ outcome: 'end' })
    expect(outcomeOf(await pending)).toBe('401 session_revoked')
  })

  it('is not asked about a token that is refused anyway', async () => {
    const { sessionRiskScorer, asked } = saying('none')
    const host = await openHost({ sessionRiskScorer, settings: { refreshReuseGrace: '0s' } })
    const begun = await login(host, 'client', await person(host, 'client'))
    const retired = refreshCookieOf(begun, 'client')
    await through(host, 'client', begun, [home])
    const reply = await refresh(host, 'client', retired, travelling)
    expect(outcomeOf(reply)).toBe('401 refresh_token_reused')
    expect(asked).toEqual([])
  })

  it('is asked about a second client that follows within the grace', async () => {
    const { sessionRiskScorer } = saying('end')
    const host = await openHost({ sessionRiskScorer })
    const begun = await login(host, 'client', await person(host, 'client'))
    const copy = refreshCookieOf(begun, 'client')
    await through(host, 'client', begun, [home])
    expect(outcomeOf(await refresh(host, 'client', copy, travelling))).toBe('401 session_revoked')
  })

  it('a session from before there was one is judged from its second refresh on', async () => {
    const spy = spyBackend()
    const before = await openHost({ backend: spy.backend })
    const who = await person(before, 'client')
    const begun = await login(before, 'client', who)
    const { sessionRiskScorer, asked } = saying('none')
    const after = await openHost({ backend: spy.backend, sessionRiskScorer })
    const next = await through(after, 'client', begun, [travelling])
    expect(asked).toEqual([])
    await through(after, 'client', next, [home])
    expect(asked).toMatchObject([{ changed: ['network'] }])
  })
})

eachSurface.describe('a user with neither password nor factor', (surface) => {
  const verdicts = [
    ['none', '201'],
    ['stepUp', '403 step_up_required'],
  ] as const
  const cases = eachHost.cells.flatMap((kind) => verdicts.map((verdict) => ({ kind, verdict })))

  it.each(cases)(
    'cannot enrol by the login of before where the scorer doubts the session: $verdict [$kind.name]',
    async ({ kind, verdict: [outcome, enrols] }) => {
      const { sessionRiskScorer } = saying(outcome)
      const host = await openHost({ sessionRiskScorer }, kind)
      const who = await person(host, surface)
      const last = await through(host, surface, await login(host, surface, who), [home])
      await storedIn(host, surface).users.update(who.id, { enabled: true }, { passwordHash: null })
      const elsewhere = await through(host, surface, last, [travelling])
      const bearer = textOf(elsewhere.json(), 'accessToken')
      const begin = async () =>
        outcomeOf(await host.send('POST', `/v1/auth/${surface}/mfa/totp`, { bearer, body: {} }))
      expect(await begin()).toBe(enrols)
      const seen = await host.send('GET', `/v1/auth/${surface}/mfa`, { bearer })
      expect(seen.json()).toMatchObject({ stepUp: { provedAt: null } })
      const exported = await host.auth[surface].users.export(who.id)
      expect(exported?.collections).toMatchObject({ step_up_proofs: [] })
    },
  )

  it('has no moment in which another doubt lets the login count as recent', async () => {
    const { sessionRiskScorer } = saying('stepUp')
    const calls: string[] = []
    const wrapBackend = (backend: Backend) =>
      withCall(backend, async (called, work) => {
        calls.push(called)
        return work()
      })
    const host = await openHost({ sessionRiskScorer, wrapBackend })
    const who = await person(host, surface)
    const last = await through(host, surface, await login(host, surface, who), [home, travelling])
    const { stepUpProofs } = storedIn(host, surface)
    const [doubted] = await stepUpProofs.find({ userId: who.id }, { limit: 9 })
    calls.length = 0
    await through(host, surface, last, [home, otherAgent])
    expect(calls.filter((called) => called.includes('step_up_proofs'))).not.toContain(
      `${surface}_step_up_proofs.take`,
    )
    expect(await stepUpProofs.find({ userId: who.id }, { limit: 9 })).toEqual([doubted])
  })
})
