import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { sessionDenylistId } from '../../../src/domain/context/open-collections.js'
import type { HostOptions } from '../../support/hosts/hosts.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { type SignedIn, signedInApp, signedInPerson } from '../../support/people/people.js'
import { refreshDoors } from '../../support/people/refresh-doors.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { sessionOf } from '../events/event-scenario.js'

/**
 * Reads of one request are made beside each other, and judged in the order in which they would have been
 * made one after the other.
 */
eachSurface.describe('reads beside each other', (surface) => {
  async function rig(options: HostOptions = {}) {
    const store = faultyBackend(memory())
    const host = await openHost({ ...options, backend: store.backend })
    const who = await signedInApp(host, surface)
    const sid = sessionOf(who.refreshToken)
    const { families, users } = storedIn(host, surface)
    const headers: Readonly<Record<string, string>> = { authorization: `Bearer ${who.bearer}` }
    const request = { remoteAddress: '192.0.2.1', header: (name: string) => headers[name] }
    return {
      ...{ store, host, who, families, users, sid },
      list: () =>
        host.backend.denylist.put([
          {
            id: sessionDenylistId(surface, sid),
            reason: 'revoked',
            expiresAt: host.clock.now() + 60_000,
          },
        ]),
      fail: (...calls: readonly string[]) => {
        for (const call of calls) store.failNext(call, 'before', Number.POSITIVE_INFINITY)
      },
      refresh: async () => outcomeOf(await refreshDoors.refresh(host, surface, who)),
      me: async () =>
        outcomeOf(await host.send('GET', `/v1/auth/${surface}/me`, { bearer: who.bearer })),
      guarded: async () => {
        const guard = host.auth[surface].guards.requirePermission('auth.self')
        const { refusal } = await guard(request, null)
        return refusal === null ? 'admitted' : outcomeIn(refusal.body)
      },
    }
  }

  function outcomeIn(body: string | null): string {
    const { status, code }: { status?: number; code?: string } = JSON.parse(body ?? '{}')
    return `${status} ${code}`
  }

  const users = `${surface}_users.get`
  const identities = `${surface}_oauth_identities.find`

  it('an ended session is 401, although its account cannot be read', async () => {
    const { list, fail, me, guarded, refresh, families, sid } = await rig()
    await list()
    fail(users, identities)
    expect(await me()).toBe('401 session_revoked')
    expect(await guarded()).toBe('401 session_revoked')
    expect(await refresh()).toBe('401 session_revoked')
    // The ending that had been begun was finished without the account.
    expect(await families.get(sid)).toMatchObject({ revokedReason: 'admin', generation: 1 })
  })

  it('a denylist that cannot be asked is 503, although the account is gone', async () => {
    const { users: stored, who, fail, me, guarded, refresh, families, sid } = await rig()
    await stored.take(who.id)
    fail('denylist.find')
    expect(await me()).toBe('503 session_enforcement_unavailable')
    expect(await guarded()).toBe('503 session_enforcement_unavailable')
    expect(await refresh()).toBe('503 session_enforcement_unavailable')
    expect(await families.get(sid)).toMatchObject({ revokedAt: null, generation: 1 })
  })

  it('each of the reads that fails alone is 503', async () => {
    for (const call of ['denylist.find', users, identities]) {
      const { fail, me } = await rig()
      fail(call)
      const code =
        call === 'denylist.find' ? 'session_enforcement_unavailable' : 'service_unavailable'
      expect(await me()).toBe(`503 ${code}`)
    }
  })

  it('a caller beyond a limit is 429, although the account cannot be read', async () => {
    const rateLimits = {
      refreshFamily: { limit: 1, windowMs: 60_000 },
      selfPerSession: { limit: 1, windowMs: 60_000 },
    }
    const { host, fail, me, refresh } = await rig({
      surfaces: {
        operator: { baseUrl: 'https://admin.example.com', rateLimits },
        client: { baseUrl: 'https://app.example.com', rateLimits },
      },
    })
    expect(await me()).toBe('200')
    expect(await refresh()).toBe('200')
    await host.auth.close()
    fail(users, identities)
    expect(await me()).toBe('429 rate_limited')
    expect(await refresh()).toBe('429 rate_limited')
  })
})

eachSurface.describe('a refresh, beside whose reads its token is signed', (surface) => {
  async function rig() {
    const store = faultyBackend(memory())
    const host = await openHost({ backend: store.backend })
    const who = await signedInApp(host, surface)
    return { store, host, who, sid: sessionOf(who.refreshToken), ...storedIn(host, surface) }
  }

  it('consumes nothing where a token cannot be minted', async () => {
    const { host, who, sid, families, users } = await rig()
    const before = await families.get(sid)
    const tenants = Array.from({ length: 1000 }, (_, n) => ({
      tenantId: `${n}`.padStart(64, 'tenant-'),
      roles: [],
    }))
    await users.update(who.id, { enabled: true }, { memberships: tenants })
    expect(outcomeOf(await refreshDoors.refresh(host, surface, who))).toBe('500 internal_error')
    expect(await families.get(sid)).toEqual(before)
  })

  it('is refused where the idle window ended while it was under way', async () => {
    const { store, host, who, sid, families } = await rig()
    const family = await families.get(sid)
    await host.clock.advance((family?.expiresAt ?? 0) - host.clock.now() - 500)
    store.onCall(`${surface}_users.get`, () => host.clock.advance(1000))
    const reply = await refreshDoors.refresh(host, surface, who)
    expect(outcomeOf(reply)).toBe('401 refresh_token_expired')
    expect(await families.get(sid)).toEqual(family)
  })
})

const credentials = {
  bearer: ({ bearer }: SignedIn) => ({ bearer }),
  cookie: ({ cookie }: SignedIn) => ({ cookie }),
  body: ({ refreshToken }: SignedIn) => ({ body: { refreshToken } }),
}

eachSurface.describe('an ending, step by step', (surface) => {
  async function rig() {
    const store = faultyBackend(memory())
    const host = await openHost({ backend: store.backend })
    const who = await signedInPerson(host, surface)
    const logout = async (by: keyof typeof credentials) =>
      outcomeOf(await host.send('POST', `/v1/auth/${surface}/logout`, credentials[by](who)))
    return {
      store,
      host,
      who,
      sid: sessionOf(who.refreshToken),
      logout,
      ...storedIn(host, surface),
    }
  }

  const steps = ['denylist.put', `${surface}_refresh_tokens.update`, `${surface}_sessions.update`]
  const shown = ['bearer', 'cookie', 'body'] as const

  it.each(shown.flatMap((by) => steps.map((step) => [by, step] as const)))(
    'by %s goes no further than %s, where that fails',
    async (by, step) => {
      const { store, host, sid, logout, families, sessions } = await rig()
      store.failNext(step, 'before', Number.POSITIVE_INFINITY)
      expect(await logout(by)).toBe('503 session_enforcement_unavailable')
      await host.auth.close()
      const isRevoked = step === steps[2]
      expect(await families.get(sid)).toMatchObject({ revokedReason: isRevoked ? 'logout' : null })
      expect(await sessions.get(sid)).toMatchObject({ active: true })
      store.heal()
      expect(await logout(by)).toBe('204')
      expect(await sessions.get(sid)).toMatchObject({ active: false, endReason: 'logout' })
    },
  )

  it.each(['cookie', 'body'] as const)(
    'a logout by the %s whose row cannot be read is refused, and lists the session for as long as the row lives',
    async (by) => {
      const { store, host, who, sid, logout, families } = await rig()
      store.failNext(`${surface}_refresh_tokens.get`, 'before', Number.POSITIVE_INFINITY)
      expect(await logout(by)).toBe('503 session_enforcement_unavailable')
      store.heal()
      const family = await families.get(sid)
      expect(family).toMatchObject({ revokedAt: null })
      const id = sessionDenylistId(surface, sid)
      const [entry] = await host.backend.denylist.find([id])
      expect(entry?.expiresAt).toBeGreaterThan(family?.expiresAt ?? Number.POSITIVE_INFINITY)
      const me = await host.send('GET', `/v1/auth/${surface}/me`, { bearer: who.bearer })
      expect(outcomeOf(me)).toBe('401 session_revoked')
      expect(await logout(by)).toBe('204')
    },
  )

  it('a logout that cannot list the session revokes nothing, whatever its row says', async () => {
    const { store, sid, who, host, logout, families } = await rig()
    const { cookie } = who
    expect((await host.send('POST', `/v1/auth/${surface}/refresh-cookie`, { cookie })).status).toBe(
      200,
    )
    store.failNext('denylist.put', 'before')
    expect(await logout('cookie')).toBe('503 session_enforcement_unavailable')
    expect(await families.get(sid)).toMatchObject({ revokedAt: null })
  })
})
