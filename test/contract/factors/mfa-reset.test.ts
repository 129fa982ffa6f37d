import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { uuidv7 } from '../../../src/crypto/secrets.js'
import type { Surface } from '../../../src/ports/surface.js'
import { systemRandom } from '../../../src/system/machine.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import {
  eventsOf,
  openHost,
  outcomeOf,
  storedIn,
  storedUser,
} from '../../support/hosts/open-host.js'
import { granting, provedOperator } from '../../support/people/administrator.js'
import {
  codeOf,
  enrolled,
  finish,
  passwordLogin,
  ticketOf,
} from '../../support/people/authenticator.js'
import { passkeyHolder } from '../../support/people/passkey-people.js'
import { type Person, signedInPerson, signIn } from '../../support/people/people.js'
import {
  comesTo,
  deviceLogin,
  trusting,
  trustingPerson,
} from '../../support/people/trusted-device.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { pass } from '../events/event-scenario.js'

const other = (surface: Surface): Surface => (surface === 'operator' ? 'client' : 'operator')

const key = 'system.users.mfa_reset'

async function openFor(options: HostOptions = {}) {
  const { granted, options: authorization } = granting(key)
  const host = await openHost({ ...trusting, ...authorization, ...options })
  const admin = await provedOperator(host)
  granted.add(admin.id)
  const reset = (userId: string, body?: object, bearer = admin.bearer) =>
    host.send('POST', `/v1/auth/operator/users/${userId}/mfa-reset`, {
      bearer,
      ...(body === undefined ? {} : { body }),
    })
  return { host, admin, granted, reset }
}

async function statusOf(host: ContractHost, surface: Surface, who: Person): Promise<unknown> {
  return comesTo(await passwordLogin(host, surface, who))
}

eachSurface.describe('resetting the factors of somebody', (surface) => {
  const body = { surface }

  it('ends the session of a login by a factor that comes just before its removal', async () => {
    const faulty = faultyBackend(memory())
    const { host, reset } = await openFor({ backend: faulty.backend })
    const who = await enrolled(host, surface)
    await host.clock.advance(30_000)
    let login = ''
    faulty.onCall(`${surface}_totp_factors.take`, async () => {
      const mfaToken = await ticketOf(host, surface, who)
      const reply = await finish(host, surface, mfaToken, who.code())
      expect(outcomeOf(reply)).toBe('200')
      login = reply.setCookies[0]?.split(';')[0] ?? ''
    })
    expect(outcomeOf(await reset(who.id, body))).toBe('204')
    const path = `/v1/auth/${surface}/refresh-cookie`
    const refreshed = await host.send('POST', path, { cookie: login })
    expect(outcomeOf(refreshed)).toBe('401 session_revoked')
    expect(await statusOf(host, surface, who)).toBe('authenticated')
  })

  it('ends sessions, removes factors and trust, tells and mails', async () => {
    const { host, admin, reset } = await openFor()
    const who = await trustingPerson(host, surface)
    const half = await ticketOf(host, surface, who)
    const bystander = await enrolled(host, surface)
    await host.auth.close()
    host.events.splice(0)
    const reply = await reset(who.id, body)
    expect([reply.status, reply.text]).toEqual([204, ''])

    const me = await host.send('GET', `/v1/auth/${surface}/me`, { bearer: who.trustedBearer })
    expectProblem(me, 401, 'session_revoked')
    const { refreshToken } = who
    const refreshed = await host.send('POST', `/v1/auth/${surface}/refresh`, {
      body: { refreshToken },
    })
    expectProblem(refreshed, 401, 'session_revoked')
    const [code = ''] = who.backupCodes
    const late = await finish(host, surface, half, code, 'backupCode')
    expect(late.status).toBe(401)
    expect(await statusOf(host, surface, who)).toBe('authenticated')
    expect(await statusOf(host, surface, bystander)).toBe('mfaRequired')
    const { totpFactors, backupCodes } = storedIn(host, surface)
    expect(await totpFactors.get(who.id)).toBeNull()
    expect(await backupCodes.get(who.id)).toBeNull()

    const about = { surface, userId: who.id, actorId: admin.id }
    expect(eventsOf(host, 'mfa.changed')).toEqual([
      expect.objectContaining({ ...about, change: 'factorsReset' }),
    ])
    const ended = eventsOf(host, 'session.terminated').filter(({ userId }) => userId === who.id)
    expect(ended).toMatchObject([
      { ...about, reason: 'admin' },
      { ...about, reason: 'admin' },
    ])
    await host.auth.close()
    const { records } = await host.auth[surface].audit.ofTarget(who.id)
    expect(records).toContainEqual(
      expect.objectContaining({
        action: 'mfa.changed',
        outcome: 'success',
        actorId: admin.id,
        targetId: who.id,
        details: { change: 'factorsReset' },
      }),
    )
    const mail = host.mailer.last('mfaChanged', who.email)
    expect(mail.data).toEqual({ at: host.clock.now(), change: 'factorsReset' })
  })

  it('a device trusted before skips nothing once a factor is there again', async () => {
    const { host, reset } = await openFor()
    const who = await trustingPerson(host, surface)
    await reset(who.id, body)
    const { bearer } = await signIn(host, surface, who)
    const base = `/v1/auth/${surface}/mfa/totp`
    const begun = await host.send('POST', base, { bearer, body: { currentPassword: who.password } })
    const code = codeOf(host, String(begun.json()['secret']))
    await host.send('POST', `${base}/confirm`, { bearer, body: { code } })
    const login = await deviceLogin(host, surface, who, who.deviceToken, 'login')
    expect(comesTo(login)).toBe('mfaRequired')
  })

  it('takes passkeys as well, and nobody else’s', async () => {
    const { host, reset } = await openFor()
    const who = await passkeyHolder(host, surface)
    const bystander = await passkeyHolder(host, surface)
    expect(await statusOf(host, surface, who)).toBe('mfaRequired')
    expect((await reset(who.id, body)).status).toBe(204)
    expect(await statusOf(host, surface, who)).toBe('authenticated')
    expect(await statusOf(host, surface, bystander)).toBe('mfaRequired')
  })

  it('is done again without harm, also for somebody without factors', async () => {
    const { host, reset } = await openFor()
    const who = await signedInPerson(host, surface)
    expect([(await reset(who.id, body)).status, (await reset(who.id, body)).status]).toEqual([
      204, 204,
    ])
    expect(await statusOf(host, surface, who)).toBe('authenticated')
  })

  it('404 for nobody, for anything that is no id, for a machine, and for the other surface’s', async () => {
    const { host, reset } = await openFor()
    const elsewhere = await enrolled(host, other(surface))
    const machine = await signedInPerson(host, surface)
    const { users } = storedIn(host, surface)
    const stored = await storedUser(host, surface, machine.email)
    const robot = uuidv7(host.clock.now(), systemRandom)
    await users.insert({ ...stored, id: robot, kind: 'service', email: 'robot@m.invalid' })
    const nobody = uuidv7(host.clock.now(), systemRandom)
    for (const id of [nobody, robot, elsewhere.id, 'x', '%00', 'a'.repeat(3000)]) {
      const reply = await reset(id, body)
      expect([id, outcomeOf(reply)]).toEqual([id, '404 user_not_found'])
      expect(reply.json()['detail']).toContain(`on the ${surface} surface`)
    }
    const { totpFactors } = storedIn(host, other(surface))
    expect(await totpFactors.get(elsewhere.id)).not.toBeNull()
  })

  it('cut off at any write, it leaves nobody signed in, and the next attempt completes it', async () => {
    const writes = [
      'users.update',
      'denylist.put',
      'refresh_tokens.update',
      'sessions.update',
      'totp_factors.take',
      'backup_codes.take',
    ]
    for (const write of writes) {
      const store = faultyBackend(memory())
      const { host, reset } = await openFor({ backend: store.backend })
      const who = await trustingPerson(host, surface)
      const name = write === 'denylist.put' ? write : `${surface}_${write}`
      store.failNext(name, 'before')
      expect([write, (await reset(who.id, body)).status]).toEqual([write, 503])
      const cookie = { body: { refreshToken: who.refreshToken } }
      if (write !== 'users.update') {
        const refreshed = await host.send('POST', `/v1/auth/${surface}/refresh`, cookie)
        expect([write, refreshed.status]).toEqual([write, 401])
        const login = await deviceLogin(host, surface, who, who.deviceToken, 'login')
        if (write !== 'backup_codes.take')
          expect([write, comesTo(login)]).toEqual([write, 'mfaRequired'])
      }
      expect([write, (await reset(who.id, body)).status]).toEqual([write, 204])
      expect([write, await statusOf(host, surface, who)]).toEqual([write, 'authenticated'])
    }
  })

  it.each(['users.update', 'refresh_tokens.update'])(
    'of a person whose account is deleted meanwhile, at %s, there is nothing to tell',
    async (call) => {
      const store = faultyBackend(memory())
      const { host, reset } = await openFor({ backend: store.backend })
      const who = await trustingPerson(host, surface)
      await host.auth.close()
      host.events.splice(0)
      host.mailer.clear()
      store.onCall(`${surface}_${call}`, async () => {
        await host.auth[surface].users.delete(who.id)
      })
      expect(outcomeOf(await reset(who.id, body))).toBe('404 user_not_found')
      await host.auth.close()
      expect(eventsOf(host, 'mfa.changed')).toEqual([])
      expect(host.mailer.sent).toEqual([])
    },
  )

  it('a host’s own code does the same, on behalf of whom it names', async () => {
    const host = await openHost(trusting)
    const who = await trustingPerson(host, surface)
    const { users } = host.auth[surface]
    expect(await users.resetMfa(who.id, { actorId: 'ops-7' })).toBe(true)
    expect(await statusOf(host, surface, who)).toBe('authenticated')
    expect(eventsOf(host, 'mfa.changed').at(-1)).toMatchObject({
      userId: who.id,
      actorId: 'ops-7',
      change: 'factorsReset',
    })
    expect(await users.resetMfa('nobody')).toBe(false)
  })
})

describe('the permission to reset factors', () => {
  it('is used for an operator where no surface is named', async () => {
    const { host, reset } = await openFor()
    const who = await enrolled(host, 'operator')
    expect((await reset(who.id)).status).toBe(204)
    expect(await statusOf(host, 'operator', who)).toBe('authenticated')
  })

  it('is needed, with or without a proof of a second factor', async () => {
    const { host, granted, reset } = await openFor()
    const who = await enrolled(host, 'client')
    const another = await provedOperator(host)
    const refused = await reset(who.id, { surface: 'client' }, another.bearer)
    expectProblem(refused, 403, 'permission_denied')
    granted.add(another.id)
    expect((await reset(who.id, { surface: 'client' }, another.bearer)).status).toBe(204)
  })

  it('is of no use without a recent second factor', async () => {
    const { host, admin, granted, reset } = await openFor()
    const who = await enrolled(host, 'client')
    const plain = await signedInPerson(host, 'operator')
    granted.add(plain.id)
    const without = await reset(who.id, { surface: 'client' }, plain.bearer)
    expect(outcomeOf(without)).toBe('403 mfa_enrollment_required')
    await pass(host, 15 * 60_000 - 1 - 30_000)
    const still = await enrolled(host, 'client')
    expect((await reset(still.id, { surface: 'client' })).status).toBe(204)
    await pass(host, 30_001)
    // The token has lived as long; a refreshed one carries no newer proof.
    const cookie = admin.cookie
    const next = await host.send('POST', '/v1/auth/operator/refresh-cookie', { cookie })
    const late = await reset(who.id, { surface: 'client' }, textOf(next.json(), 'accessToken'))
    expect(outcomeOf(late)).toBe('403 step_up_required')
    expect(await statusOf(host, 'client', who)).toBe('mfaRequired')
  })

  it('a client’s token opens no such door', async () => {
    const { host, reset } = await openFor()
    const who = await enrolled(host, 'client')
    const client = await provedOperator(host, 'client')
    expectProblem(await reset(who.id, undefined, client.bearer), 401, 'audience_mismatch')
    const path = `/v1/auth/client/users/${who.id}/mfa-reset`
    const elsewhere = await host.send('POST', path, { bearer: client.bearer })
    expectProblem(elsewhere, 404, 'not_found')
  })
})
