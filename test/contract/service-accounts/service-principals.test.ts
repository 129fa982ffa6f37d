import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { loadKeyRing } from '../../../src/crypto/key-ring.js'
import { signRefresh } from '../../../src/crypto/tokens.js'
import { operations } from '../../../src/operations/index.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import { openHost, outcomeOf, seenOf, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { testSigningKey } from '../../support/keys.js'
import { goodPassword, otherPassword, person, signedInPerson } from '../../support/people/people.js'
import {
  accountsPath,
  administrator,
  peopleMay,
  serviceAccount,
  tokenOf,
} from '../../support/people/service-account-steps.js'

const open = (options: HostOptions = {}) =>
  openHost({ authorizer: { check: async () => true }, ...withoutLimits, ...options })

async function rig(options: HostOptions = {}) {
  const host = await open(options)
  const account = await serviceAccount(host, await administrator(host))
  return { host, account, bearer: await tokenOf(host, account) }
}

const at = (path: string): string => `/v1/auth/operator${path}`

/** The account as somebody would plant it to make a person of it. */
async function withPassword(host: ContractHost, id: string) {
  const { users } = storedIn(host, 'operator')
  const owner = await users.get((await person(host, 'operator')).id)
  const planted = { passwordHash: owner?.passwordHash ?? null, emailVerifiedAt: 1 }
  const user = await users.update(id, { kind: 'service' }, planted)
  if (user === null) throw new Error('the account was not there')
  return user
}

describe('a service principal, permitted everything', () => {
  it('cannot administer service accounts: it has no second factor to show', async () => {
    const { host, account, bearer } = await rig()
    const path = `${accountsPath}/${account.id}`
    const before = await host.send('GET', path, { bearer })
    expect(before.status).toBe(200)
    const refused = [
      await host.send('POST', accountsPath, { bearer, body: { name: 'x' } }),
      await host.send('PATCH', path, { bearer, body: { name: 'x' } }),
      await host.send('POST', `${path}/credentials`, { bearer }),
      await host.send('DELETE', `${path}/credentials/${account.credentialId}`, { bearer }),
    ]
    expect(refused.map(outcomeOf)).toEqual(refused.map(() => '403 step_up_required'))
    expect((await host.send('GET', path, { bearer })).json()).toEqual(before.json())
    const list = await host.send('GET', accountsPath, { bearer })
    expect(list.json()['items']).toHaveLength(1)
    const principal = await host.auth.operator.authenticate(`Bearer ${bearer}`)
    const proof = host.auth.operator.requireStepUp(principal, { maxAgeMs: 60 * 60_000 })
    await expect(proof).rejects.toMatchObject({ code: 'step_up_required' })
  })

  it('has no proof of a second factor, neither under its token’s id nor under its own', async () => {
    const { host, account, bearer } = await rig()
    const { jti = '' } = decodeJwt(bearer)
    const { stepUpProofs } = storedIn(host, 'operator')
    const now = host.clock.now()
    for (const id of [jti, account.id, 'undefined', 'null']) {
      await stepUpProofs.insert({
        id,
        userId: account.id,
        method: 'totp',
        deviceEpoch: 0,
        provedAt: now,
        expiresAt: now + 60_000,
      })
    }
    const body = { name: 'x' }
    const reply = await host.send('POST', accountsPath, { bearer, body })
    expect(outcomeOf(reply)).toBe('403 step_up_required')
  })

  // Of administration, what touches accounts of providers.
  const ofPeople = operations.filter(
    ({ id, access, surfaces }) =>
      (access === 'guarded' || access === 'enrolling' || id === 'unlinkUserOauth') &&
      surfaces.includes('operator'),
  )

  it('knows of operations for people', () => {
    expect(ofPeople.length).toBeGreaterThan(8)
  })

  it.each(ofPeople.map((operation) => [operation.id, operation] as const))(
    'is no person to %s',
    async (_id, { method, path }) => {
      const { host, bearer } = await rig()
      const filled = path.replace('{surface}', 'operator').replaceAll(/\{\w+\}/g, 'google')
      const body = method === 'GET' ? {} : { body: {} }
      const reply = await host.send(method, filled, { bearer, ...body })
      expectProblem(reply, 403, 'human_principal_required')
    },
  )
})

describe('no way into a service account but the grant', () => {
  it('not by password, even with a hash', async () => {
    const { host, account } = await rig()
    const { email } = await withPassword(host, account.id)
    const somebody = await person(host, 'operator')
    for (const door of ['/login', '/mobile/login']) {
      const wrong = { email: somebody.email, password: otherPassword }
      const expected = seenOf(await host.send('POST', at(door), { body: wrong }))
      const reply = await host.send('POST', at(door), { body: { email, password: goodPassword } })
      expectProblem(reply, 401, 'invalid_credentials')
      expect(seenOf(reply)).toEqual(expected)
    }
  })

  it('not by a refresh token, even with a row', async () => {
    const { host, account } = await rig()
    const { refreshToken, id } = await signedInPerson(host, 'operator')
    const { sid = '', ...claims } = decodeJwt<{ sid: string; gen: number }>(refreshToken)
    const { families } = storedIn(host, 'operator')
    const row = await families.get(sid)
    if (row === null) throw new Error('there was no row')
    const forged = `${sid.slice(0, -4)}0000`
    await families.insert({ ...row, id: forged, userId: account.id })
    const ring = await loadKeyRing({ current: await testSigningKey() })
    const { iss = '', jti = '', iat = 0, exp = 0, gen } = claims
    const token = await signRefresh(
      {
        ...{ iss, jti, iat, exp, gen, aud: 'operator', tokenUse: 'refresh' },
        ...{ sub: account.id, sid: forged, amr: ['pwd'], authTime: iat },
      },
      ring,
    )
    const cookie = `__Host-op_refresh=${token}`
    const replies = [
      await host.send('POST', at('/refresh'), { body: { refreshToken: token } }),
      await host.send('POST', at('/refresh-cookie'), { cookie }),
      await host.send('GET', at('/session'), { cookie }),
    ]
    for (const reply of replies) {
      expect(reply.status).toBe(401)
      expect(reply.text).not.toContain('accessToken')
    }
    expect(id).not.toBe(account.id)
    expect((await families.get(forged))?.generation).toBe(row.generation)
  })

  it('not by a mailed link, even with an address that is not .invalid', async () => {
    const { host, account } = await rig({ authorizer: peopleMay })
    await withPassword(host, account.id)
    const email = 'machine@example.org'
    const { users } = storedIn(host, 'operator')
    await users.update(account.id, { kind: 'service' }, { email, emailAsTyped: email })
    for (const path of ['/password/forgot', '/email/verify/resend']) {
      expect((await host.send('POST', at(path), { body: { email } })).status).toBe(202)
    }
    await host.auth.close()
    expect(host.mailer.count(email)).toBe(0)
    expect(await users.get(account.id)).toMatchObject({ kind: 'service', enabled: true })
  })

  it('a new address of its own is mailed to nobody', async () => {
    const { host, account } = await rig()
    const { email } = (await host.auth.operator.users.get(account.id)) ?? { email: '' }
    const body = { email, password: goodPassword }
    expectProblem(await host.send('POST', at('/register'), { body }), 422, 'email_not_allowed')
    await host.auth.close()
    expect(host.mailer.count(email)).toBe(0)
  })
})

describe('sessions', () => {
  it('are listed on no surface for clients', async () => {
    const host = await open()
    const { bearer } = await signedInPerson(host, 'client')
    expectProblem(await host.send('GET', '/v1/auth/client/sessions', { bearer }), 404, 'not_found')
  })
})
