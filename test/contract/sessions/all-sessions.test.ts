import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSampleStore, eachStore } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { smallSigningKey, testSigningKey } from '../../support/keys.js'
import { finish, requireStepUp, ticketOf } from '../../support/people/authenticator.js'
import {
  otherPassword,
  type SignedIn,
  signedInPerson,
  signIn,
} from '../../support/people/people.js'
import { linkFor, reset } from '../../support/people/recovery-steps.js'
import {
  comesTo,
  deviceLogin,
  trusting,
  trustingPerson,
} from '../../support/people/trusted-device.js'
import { withCall } from '../../support/stores/faulty-backend.js'

const at = (path: string): string => `/v1/auth/client${path}`
const me = (host: ContractHost, bearer: string) => host.send('GET', at('/me'), { bearer })
const refresh = (host: ContractHost, { cookie }: SignedIn) =>
  host.send('POST', at('/refresh-cookie'), { cookie })
const options = { ...withoutLimits, settings: { ...withoutLimits.settings, ...trusting.settings } }

describe('one call ends what was issued to everybody', () => {
  eachStore.it('sessions and what hangs on epochs', async (kind) => {
    const host = await openHost(options, kind)
    const [ada, operator] = [
      await signedInPerson(host, 'client'),
      await signedInPerson(host, 'operator'),
    ]
    const bob = await trustingPerson(host, 'client')
    await requireStepUp(host, 'client', bob.trustedBearer, 3_600_000)
    const link = await linkFor(host, 'client', ada.email)
    const ticket = await ticketOf(host, 'client', bob)
    expect(comesTo(await deviceLogin(host, 'client', bob, bob.deviceToken, 'login'))).toBe(
      'authenticated',
    )
    expect((await me(host, ada.bearer)).status).toBe(200)

    expect(await host.auth.terminateAllSessions({ by: { actorId: 'ops' } })).toBe(3)

    expect(outcomeOf(await me(host, ada.bearer))).toBe('401 session_revoked')
    expect(outcomeOf(await refresh(host, ada))).toBe('401 session_revoked')
    expect(outcomeOf(await me(host, bob.trustedBearer))).toBe('401 session_revoked')
    const { bearer } = operator
    const others = await host.send('GET', '/v1/auth/operator/me', { bearer })
    expect(outcomeOf(others)).toBe('401 session_revoked')
    const device = await deviceLogin(host, 'client', bob, bob.deviceToken, 'login')
    expect(comesTo(device)).toBe('mfaRequired')
    expect((await reset(host, 'client', link, 'yet another passphrase')).code).toBe('invalid_token')
    const late = await finish(host, 'client', ticket, await bob.nextCode())
    expect(outcomeOf(late)).toBe('401 mfa_ticket_invalid')
    // Passwords are no sessions: everybody signs in as before.
    expect((await me(host, (await signIn(host, 'client', ada)).bearer)).status).toBe(200)
    await host.auth.close()
    const ended = eventsOf(host, 'session.allTerminated')
    expect(ended.map(({ actorId }) => actorId)).toEqual(['ops', 'ops', 'ops'])
  })

  it('the same time again ends nothing that was opened since, another time does', async () => {
    const host = await openHost(options)
    const who = await signedInPerson(host, 'client')
    const issuedBefore = host.clock.now()
    expect(await host.auth.terminateAllSessions({ issuedBefore })).toBe(1)
    const later = await signIn(host, 'client', who)
    expect(await host.auth.terminateAllSessions({ issuedBefore })).toBe(0)
    expect((await me(host, later.bearer)).status).toBe(200)
    // Nor a session that spared itself since, whose row is of an older epoch by then.
    const body = { currentPassword: who.password, newPassword: otherPassword }
    await host.send('POST', at('/me/password'), { bearer: later.bearer, body })
    expect(await host.auth.terminateAllSessions({ issuedBefore })).toBe(0)
    expect((await me(host, later.bearer)).status).toBe(200)
    await host.clock.advance(1000)
    expect(await host.auth.terminateAllSessions()).toBe(1)
    expect(outcomeOf(await me(host, later.bearer))).toBe('401 session_revoked')
  })

  it('one surface alone, where it is named', async () => {
    const host = await openHost(options)
    const client = await signedInPerson(host, 'client')
    await signedInPerson(host, 'operator')
    expect(await host.auth.terminateAllSessions({ surfaces: ['operator'] })).toBe(1)
    expect((await me(host, client.bearer)).status).toBe(200)
  })

  it('more users than a page holds, though one goes away while the first page is read', async () => {
    let gone: string | null = null
    const host = await openHost({
      ...options,
      // A store whose index still names a document that is not there any more answers a short page.
      wrapBackend: (backend) =>
        withCall(backend, async (name, work) => {
          const answer = await work()
          if (gone === null || name !== 'client_users.find' || !Array.isArray(answer)) return answer
          const [id, left] = [gone, answer.filter((user) => user.id !== gone)]
          gone = null
          await users.take(id)
          return left as typeof answer
        }),
    })
    const who = await signedInPerson(host, 'client')
    const { users } = storedIn(host, 'client')
    const user = await users.get(who.id)
    for (let n = 0; n < 450; n += 1) {
      const email = `n${n}@example.org`
      if (user) await users.insert({ ...user, id: `a${`${n}`.padStart(4, '0')}`, email })
    }
    gone = 'a0003'
    expect(await host.auth.terminateAllSessions({ surfaces: ['client'] })).toBe(450)
    expect(outcomeOf(await me(host, who.bearer))).toBe('401 session_revoked')
  })

  eachSampleStore.it(
    'a crash at any call is completed by the next one',
    async (kind) => {
      let calls = Number.POSITIVE_INFINITY
      const host = await openHost(
        {
          ...options,
          wrapBackend: (backend) =>
            withCall(backend, (_name, work) => {
              calls -= 1
              return calls < 0 ? Promise.reject(new Error('the process ended here')) : work()
            }),
        },
        kind,
      )
      let crashes = 0
      for (let isDone = false; !isDone; crashes += 1) {
        const ada = await signedInPerson(host, 'client')
        const bob = await signedInPerson(host, 'client')
        await host.auth.close()
        const issuedBefore = host.clock.now()
        calls = crashes
        isDone = await host.auth.terminateAllSessions({ issuedBefore, surfaces: ['client'] }).then(
          () => true,
          () => false,
        )
        calls = Number.POSITIVE_INFINITY
        await host.auth.close()
        const since = await signedInPerson(host, 'client')
        const { users } = storedIn(host, 'client')
        const wasReached = (await users.get(ada.id))?.endedBefore === issuedBefore
        const early = wasReached ? await signIn(host, 'client', ada) : null
        await host.auth.terminateAllSessions({ issuedBefore, surfaces: ['client'] })
        for (const { bearer } of [ada, bob]) {
          expect(outcomeOf(await me(host, bearer)), `${crashes}`).toBe('401 session_revoked')
        }
        expect(outcomeOf(await refresh(host, bob))).toBe('401 session_revoked')
        if (early !== null) expect((await me(host, early.bearer)).status).toBe(200)
        const { sessions } = storedIn(host, 'client')
        const all = await sessions.find({ userId: bob.id }, { limit: 10 })
        expect(all.map(({ active }) => active)).toEqual(all.map(() => false))
        expect(all).not.toEqual([])
        for (const { id } of [ada, bob, since]) await host.auth.client.users.delete(id)
        await host.clock.advance(1000)
      }
      expect(crashes).toBeGreaterThan(8)
    },
    120_000,
  )

  it('rows that were not taken back with their users do not count again', async () => {
    const host = await openHost(options)
    const who = await signedInPerson(host, 'client')
    const { users } = storedIn(host, 'client')
    const backup = await users.get(who.id)
    await host.auth.client.terminateSessionsOf(who.id)
    const later = await signIn(host, 'client', who)
    await users.take(who.id)
    if (backup !== null) await users.insert(backup)
    await host.auth.terminateAllSessions()
    expect(outcomeOf(await refresh(host, later))).toBe('401 session_revoked')
    expect(outcomeOf(await me(host, later.bearer))).toBe('401 session_revoked')
  })

  it('a session that the backup does not know ends with the signing key alone', async () => {
    let keys = { current: await testSigningKey() }
    const host = await openHost({ ...options, backend: memory(), keys: async () => keys })
    const who = await signedInPerson(host, 'client')
    const { families, sessions } = storedIn(host, 'client')
    const id = textOf(decodeJwt(who.bearer), 'sid')
    await Promise.all([families.take(id), sessions.take(id)])
    await host.auth.terminateAllSessions()
    expect((await me(host, who.bearer)).status).toBe(200)
    expect(outcomeOf(await refresh(host, who))).toMatch(/^401 /)
    keys = { current: smallSigningKey() }
    await host.auth.keys.reload()
    expect(outcomeOf(await me(host, who.bearer))).toBe('401')
  })

  it.each([
    [{ issuedBefore: Number.NaN }],
    [{ issuedBefore: Date.UTC(2027, 0, 1) }],
    [{ surfaces: [] }],
    [{ surfaces: ['clients'] }],
    [{ surface: 'client' }],
  ])('refuses %o, and ends nothing', async (given) => {
    const host = await openHost(options)
    const who = await signedInPerson(host, 'client')
    const call = host.auth.terminateAllSessions(given as object)
    await expect(call).rejects.toMatchObject({ code: 'invalid_request' })
    expect((await me(host, who.bearer)).status).toBe(200)
  })
})
