import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { enrolled } from '../../support/people/authenticator.js'
import {
  otherPassword,
  type SignedIn,
  signedInPerson,
  signIn,
} from '../../support/people/people.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { sweepOnce } from './deletions.js'

const both = { settings: { accountDeletionMode: 'both' } } as const

function deleteMe(
  host: ContractHost,
  surface: Surface,
  { bearer, password }: Pick<SignedIn, 'bearer'> & { readonly password?: string },
) {
  const body = password === undefined ? {} : { body: { currentPassword: password } }
  return host.send('DELETE', `/v1/auth/${surface}/me`, { bearer, ...body })
}

const me = (host: ContractHost, surface: Surface, bearer: string) =>
  host.send('GET', `/v1/auth/${surface}/me`, { bearer })

eachHost.describe('deleting one’s own account', (kind) => {
  eachSurface.it('ends every session and leaves nothing', async (surface) => {
    const host = await openHost(both, kind)
    const who = await signedInPerson(host, surface)
    const other = await signIn(host, surface, who)
    const reply = await deleteMe(host, surface, who)
    expect([reply.status, reply.text]).toEqual([204, ''])
    expect(reply.setCookies).toEqual([expect.stringMatching(/_device=;.*Max-Age=0/)])
    for (const { bearer, refreshToken } of [who, other]) {
      expectProblem(await me(host, surface, bearer), 401, 'session_revoked')
      const refreshed = await host.send('POST', `/v1/auth/${surface}/refresh`, {
        body: { refreshToken },
      })
      expectProblem(refreshed, 401, 'session_revoked')
    }
    const { email, password } = who
    const login = await host.send('POST', `/v1/auth/${surface}/login`, {
      body: { email, password },
    })
    expectProblem(login, 401, 'invalid_credentials')
    expect(await host.auth[surface].users.findByEmail(email)).toBeNull()
    expect(await storedIn(host, surface).sessions.find({ userId: who.id }, { limit: 9 })).toEqual(
      [],
    )
  })
})

eachSurface.describe('deleting one’s own account', (surface) => {
  it('is off for operators unless the setting says both', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    const reply = await deleteMe(host, surface, who)
    expect(outcomeOf(reply)).toBe(surface === 'client' ? '204' : '403 account_deletion_disabled')
    const after = await host.auth[surface].users.get(who.id)
    expect(after === null).toBe(surface === 'client')
  })

  it('where it is off it is off, and a password is not even looked at', async () => {
    const settings = { accountDeletionMode: 'off', lockoutThreshold: 3 } as const
    const host = await openHost({ settings })
    const who = await signedInPerson(host, surface)
    for (const password of [otherPassword, otherPassword, otherPassword, who.password]) {
      const refused = await deleteMe(host, surface, { bearer: who.bearer, password })
      expectProblem(refused, 403, 'account_deletion_disabled')
    }
    expect((await me(host, surface, who.bearer)).status).toBe(200)
    await signIn(host, surface, who)
  })

  it('wants the current password', async () => {
    const host = await openHost(both)
    const who = await signedInPerson(host, surface)
    const { bearer } = who
    expectProblem(await deleteMe(host, surface, { bearer }), 401, 'invalid_credentials')
    const wrong = await deleteMe(host, surface, { bearer, password: otherPassword })
    expectProblem(wrong, 401, 'invalid_credentials')
    expect(wrong.setCookies).toEqual([])
    expect((await me(host, surface, bearer)).status).toBe(200)
  })

  it('wants a proof, and no password, of who has a factor', async () => {
    const host = await openHost(both)
    const who = await enrolled(host, surface)
    expect(outcomeOf(await deleteMe(host, surface, who))).toBe('403 step_up_required')
    const body = { method: 'totp', code: await who.nextCode() }
    const { bearer } = who
    await host.send('POST', `/v1/auth/${surface}/step-up`, { bearer, body })
    expect((await deleteMe(host, surface, { bearer })).status).toBe(204)
    const { totpFactors, backupCodes } = storedIn(host, surface)
    expect([await totpFactors.get(who.id), await backupCodes.get(who.id)]).toEqual([null, null])
  })

  it('is told, and mailed to the address it had', async () => {
    for (const notifySecurityChanges of [true, false]) {
      const host = await openHost({ settings: { ...both.settings, notifySecurityChanges } })
      const who = await signedInPerson(host, surface)
      await deleteMe(host, surface, who)
      const about = { surface, actorId: who.id, targetId: who.id }
      expect(eventsOf(host, 'account.deleted')).toMatchObject([about])
      await host.auth.close()
      const mails = host.mailer.sent.filter(({ to }) => to === who.email)
      expect(mails.map(({ template }) => template)).toEqual(
        notifySecurityChanges ? ['accountDeleted'] : [],
      )
    }
  })

  it('asked for twice at once, is mailed once', async () => {
    const store = faultyBackend(memory())
    const host = await openHost({ ...both, backend: store.backend })
    const who = await signedInPerson(host, surface)
    const other = { ...(await signIn(host, surface, who)), password: who.password }
    const outcomes: string[] = []
    store.onCall(`${surface}_users.update`, async () => {
      outcomes.push(outcomeOf(await deleteMe(host, surface, other)))
    })
    outcomes.push(outcomeOf(await deleteMe(host, surface, who)))
    expect(outcomes).toEqual(['204', '204'])
    await host.auth.close()
    const mails = host.mailer.sent.filter(({ template }) => template === 'accountDeleted')
    expect(mails.map(({ to }) => to)).toEqual([who.email])
    expect(eventsOf(host, 'account.deleted')).toHaveLength(1)
  })

  it('cut off half way leaves nobody signed in, and is completed by the sweep', async () => {
    const store = faultyBackend(memory())
    const host = await openHost({ ...both, backend: store.backend })
    const who = await signedInPerson(host, surface)
    store.failNext(`${surface}_oauth_identities.find`, 'before')
    const failed = await deleteMe(host, surface, who)
    expectProblem(failed, 503, 'service_unavailable')
    expect(failed.setCookies).toEqual([])
    expectProblem(await me(host, surface, who.bearer), 401, 'session_revoked')
    await host.auth.close()
    await host.clock.advance(60_000)
    await sweepOnce(host, surface)
    expect(await host.auth[surface].users.get(who.id)).toBeNull()
  })

  it('has no member that names somebody else', async () => {
    const host = await openHost(both)
    const who = await signedInPerson(host, surface)
    const other = await signedInPerson(host, surface)
    for (const more of [{ userId: other.id }, { id: other.id }, { email: other.email }]) {
      const body = { currentPassword: who.password, ...more }
      const { bearer } = who
      const reply = await host.send('DELETE', `/v1/auth/${surface}/me`, { bearer, body })
      expectProblem(reply, 400, 'invalid_request')
    }
  })
})
