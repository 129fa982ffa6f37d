import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import {
  goodPassword,
  otherPassword,
  type Person,
  person,
  refreshByCookie,
  type SignedIn,
  signedInPerson,
  signIn,
} from '../../support/people/people.js'
import { linkFor } from '../../support/people/recovery-steps.js'
import {
  administrator,
  grant,
  peopleMay,
  serviceAccount,
  tokenOf,
} from '../../support/people/service-account-steps.js'
import { trusting, trustingPerson } from '../../support/people/trusted-device.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { afterwards, deleteUser, sweepOnce } from './deletions.js'

type Caller = Person & SignedIn

const nobody = '01940000-0000-7000-8000-000000000000'

eachSurface.describe('auth.{surface}.users.delete', (surface) => {
  const at = (path: string): string => `/v1/auth/${surface}${path}`
  const me = (host: ContractHost, bearer: string) => host.send('GET', at('/me'), { bearer })

  it('ends every session at once, and nothing opens it any more', async () => {
    const host = await openHost(trusting)
    const who = await trustingPerson(host, surface)
    const bystander = await signedInPerson(host, surface)
    expect(await deleteUser(host, surface, who.id)).toBe(true)
    expectProblem(await me(host, who.trustedBearer), 401, 'session_revoked')
    const { email, password, refreshToken } = who
    const refreshed = await refreshByCookie(host, surface, refreshToken)
    expectProblem(refreshed, 401, 'session_revoked')
    const login = await host.send('POST', at('/login'), { body: { email, password } })
    expectProblem(login, 401, 'invalid_credentials')
    expect((await me(host, bystander.bearer)).status).toBe(200)
    expect(await deleteUser(host, surface, who.id)).toBe(false)
  })

  it('is told of with who did it, also where there is nobody', async () => {
    const host = await openHost()
    const who = await person(host, surface)
    await deleteUser(host, surface, who.id)
    const about = { surface, actorId: 'ops-7', targetId: who.id }
    expect(eventsOf(host, 'account.deleted')).toMatchObject([about])
    for (const id of [nobody, 'nobody', '']) {
      expect(await deleteUser(host, surface, id)).toBe(false)
    }
    expect(eventsOf(host, 'account.deleteFailed')).toMatchObject(
      [nobody, 'nobody', ''].map((targetId) => ({ targetId, reason: 'not_found' })),
    )
    await host.auth.close()
    const { records } = await host.auth[surface].audit.ofTarget(who.id)
    expect(records.map(({ action }) => action).sort()).toEqual([
      'account.created',
      'account.deleted',
    ])
    expect(JSON.stringify(records)).not.toMatch(/@|\bAda\b/)
  })

  it('frees the address for somebody else, of whom nothing was known before', async () => {
    const host = await openHost({ settings: { lockoutThreshold: 3 } })
    const { id, email, bearer } = await signedInPerson(host, surface)
    const wrong = { email, password: 'not the password at all' }
    for (let guess = 0; guess < 3; guess += 1)
      await host.send('POST', at('/login'), { body: wrong })
    await deleteUser(host, surface, id)
    const again = { email, password: goodPassword, emailVerified: true }
    const { id: newId } = await host.auth[surface].users.create(again)
    expect(newId).not.toBe(id)
    // Guesses at the password of who had the address before do not count.
    await signIn(host, surface, { id: newId, email, password: goodPassword })
    expectProblem(await me(host, bearer), 401, 'session_revoked')
    expect(await host.auth[surface].users.get(id)).toBeNull()
  })

  const begun = [
    'denylist.put',
    'refresh_tokens.update',
    'sessions.take',
    'oauth_identities.find',
    'users.take',
    'account_deletions.update',
  ]

  /** Somebody signed in, whose deletion was cut off at this call. */
  async function cutOff(call: string) {
    const store = faultyBackend(memory())
    const host = await openHost({ backend: store.backend })
    const who = await signedInPerson(host, surface)
    store.failNext(call.startsWith('denylist') ? call : `${surface}_${call}`, 'before')
    const failing = deleteUser(host, surface, who.id)
    await expect(failing).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(eventsOf(host, 'account.deleteFailed')).toMatchObject([
      { actorId: 'ops-7', targetId: who.id, reason: 'service_unavailable' },
    ])
    return { host, store, who }
  }

  async function doorsOf(host: ContractHost, { email, password, refreshToken }: Caller) {
    const login = await host.send('POST', at('/login'), { body: { email, password } })
    const refreshed = await refreshByCookie(host, surface, refreshToken)
    return [login.status, refreshed.status]
  }

  it.each(begun)(
    'cut off at %s it leaves nobody signed in, and the same call completes it',
    async (call) => {
      const { host, who } = await cutOff(call)
      expect(await doorsOf(host, who)).toEqual([401, 401])
      expect(await host.auth[surface].users.update(who.id, { enabled: true })).toBeNull()
      expect(await deleteUser(host, surface, who.id)).toBe(true)
      expect(await host.auth[surface].users.get(who.id)).toBeNull()
      expectProblem(await me(host, who.bearer), 401, 'session_revoked')
      expect(eventsOf(host, 'account.deleted')).toHaveLength(1)
    },
  )

  it.each(begun)('cut off at %s it is completed by the process that sweeps', async (call) => {
    const { host, who } = await cutOff(call)
    await host.auth.close()
    await host.clock.advance(60_000)
    const events = await sweepOnce(host, surface)
    expect(await host.auth[surface].users.get(who.id)).toBeNull()
    expectProblem(await me(host, who.bearer), 401, 'session_revoked')
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'account.deleted',
        actorId: 'ops-7',
        targetId: who.id,
        ip: null,
      }),
    )
  })

  it('cut off at its note, it never began', async () => {
    const { host, who } = await cutOff('account_deletions.insert')
    expect(await doorsOf(host, who)).toEqual([200, 200])
    await host.auth.close()
    await host.clock.advance(60_000)
    await sweepOnce(host, surface)
    expect((await me(host, who.bearer)).status).toBe(200)
    expect(await deleteUser(host, surface, who.id)).toBe(true)
  })

  it('cut off between its note and the end of the account, it is gone on with', async () => {
    const { host, who } = await cutOff('users.update')
    expect(await doorsOf(host, who)).toEqual([200, 200])
    await host.auth.close()
    await host.clock.advance(60_000)
    const events = await sweepOnce(host, surface)
    expect(await host.auth[surface].users.get(who.id)).toBeNull()
    expectProblem(await me(host, who.bearer), 401, 'session_revoked')
    expect(events.filter(({ type }) => type === 'account.deleted')).toMatchObject([
      { actorId: 'ops-7', targetId: who.id },
    ])
  })

  it('cut off there, it is given up once the owner has reset the password', async () => {
    const { host, who } = await cutOff('users.update')
    const token = await linkFor(host, surface, who.email)
    const body = { token, newPassword: otherPassword }
    expect((await host.send('POST', at('/password/reset'), { body })).status).toBe(204)
    await host.auth.close()
    await host.clock.advance(60_000)
    expect(await sweepOnce(host, surface)).toEqual([])
    expect(await host.auth[surface].users.get(who.id)).toMatchObject({ enabled: true })
    expect(await storedIn(host, surface).accountDeletions.get(who.id)).toBeNull()
  })

  it('cut off there, and asked for by another administrator after the reset, it is done in the name of the other', async () => {
    const { host, store, who } = await cutOff('users.update')
    const token = await linkFor(host, surface, who.email)
    const body = { token, newPassword: otherPassword }
    expect((await host.send('POST', at('/password/reset'), { body })).status).toBe(204)
    await host.clock.advance(30_000)
    store.failNext(`${surface}_users.update`, 'before')
    const again = host.auth[surface].users.delete(who.id, { actorId: 'ops-8' })
    await expect(again).rejects.toMatchObject({ code: 'service_unavailable' })
    await host.auth.close()
    // The note of the first attempt would be due by now.
    await host.clock.advance(20_000)
    expect(await sweepOnce(host, surface)).toEqual([])
    await host.clock.advance(60_000)
    const events = await sweepOnce(host, surface)
    expect(events.filter(({ type }) => type === 'account.deleted')).toMatchObject([
      { actorId: 'ops-8', targetId: who.id },
    ])
  })

  it('tells of itself once, though the answer to its last write was lost', async () => {
    const store = faultyBackend(memory())
    const host = await openHost({ backend: store.backend })
    const who = await person(host, surface)
    store.failNext(`${surface}_account_deletions.update`, 'after')
    expect(await deleteUser(host, surface, who.id)).toBe(true)
    expect(eventsOf(host, 'account.deleted')).toHaveLength(1)
  })

  it('asked for twice at once is done once', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    const both = [deleteUser(host, surface, who.id), deleteUser(host, surface, who.id)]
    await Promise.all(both)
    expect(eventsOf(host, 'account.deleted')).toHaveLength(1)
    expectProblem(await me(host, who.bearer), 401, 'session_revoked')
  })

  it('looks once more after what a request under way left behind', async () => {
    const store = faultyBackend(memory())
    const host = await openHost({ backend: store.backend })
    const { id, email, password } = await person(host, surface)
    store.onCall(`${surface}_sessions.insert`, async () => {
      await deleteUser(host, surface, id)
    })
    const body = { email, password }
    const login = await host.send('POST', at('/login'), { body })
    expect([outcomeOf(login), login.setCookies]).toEqual(['401 invalid_credentials', []])
    const { sessions, families } = storedIn(host, surface)
    const left = async () => [
      ...(await sessions.find({ userId: id }, { limit: 9 })),
      ...(await families.find({ userId: id }, { limit: 9 })),
    ]
    expect((await left()).length).toBeGreaterThan(0)
    await host.auth.close()
    await host.clock.advance(afterwards)
    await sweepOnce(host, surface)
    expect(await left()).toEqual([])
  })
})

it('users.delete takes a service account and its credentials away', async () => {
  const host = await openHost({ authorizer: peopleMay })
  const admin = await administrator(host)
  const account = await serviceAccount(host, admin)
  const bearer = await tokenOf(host, account)
  expect(await deleteUser(host, 'operator', account.id)).toBe(true)
  expectProblem(await grant(host, account), 401, 'invalid_client')
  const refused = await host.send('GET', '/v1/admin/modules', { bearer })
  expectProblem(refused, 403, 'permission_denied')
})
