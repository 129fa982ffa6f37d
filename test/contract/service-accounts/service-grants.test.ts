import { decodeJwt, decodeProtectedHeader } from 'jose'
import { describe, expect, it } from 'vitest'
import type { PermissionQuestion } from '../../../src/ports/host.js'
import { expectHouseHeaders, expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachHost } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { rawClient } from '../../support/hosts/raw-client.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { signedInPerson } from '../../support/people/people.js'
import {
  accountsPath,
  administrator,
  grant,
  issuedIn,
  peopleMay,
  revoke,
  rotate,
  serviceAccount,
  tokenOf,
  tokenPath,
} from '../../support/people/service-account-steps.js'
import { spyBackend } from '../../support/stores/spy-backend.js'

const minute = 60_000
const open = (options: HostOptions = {}) => openHost({ authorizer: peopleMay, ...options })

async function pass(host: ContractHost, ms: number): Promise<void> {
  await host.auth.close()
  await host.clock.advance(ms)
}

const setEnabled = (
  host: ContractHost,
  { bearer }: { readonly bearer: string },
  id: string,
  enabled: boolean,
) => host.send('PATCH', `${accountsPath}/${id}`, { bearer, body: { enabled } })

eachHost.describe('the client-credentials grant', (kind) => {
  it('gives a token for each active credential', async () => {
    const host = await openHost({ authorizer: peopleMay }, kind)
    const who = await administrator(host)
    const first = await serviceAccount(host, who)
    const second = issuedIn(await rotate(host, who, first.id))
    for (const credential of [first, second, first]) {
      const reply = await grant(host, credential)
      expect(reply.status).toBe(200)
      expect(decodeJwt(textOf(reply.json(), 'accessToken')).sub).toBe(first.id)
    }
  })

  it('answers POST /v1/auth/token with 200 and three members', async () => {
    const host = await openHost({ authorizer: peopleMay }, kind)
    const { clientId, clientSecret, id } = await serviceAccount(host, await administrator(host))
    const body = { grantType: 'client_credentials', clientId, clientSecret }
    const reply = await host.send('POST', '/v1/auth/token', { body })
    expect([reply.status, reply.json()]).toEqual([
      200,
      { accessToken: expect.any(String), tokenType: 'Bearer', expiresIn: 900 },
    ])
    expectHouseHeaders(reply)
    const bearer = textOf(reply.json(), 'accessToken')
    const known = await host.auth.operator.authenticate(`Bearer ${bearer}`)
    expect(known).toMatchObject({ userId: id, kind: 'service' })
  })

  it('stops at once while the account is disabled', async () => {
    const host = await openHost({ authorizer: peopleMay }, kind)
    const who = await administrator(host)
    const account = await serviceAccount(host, who)
    const second = issuedIn(await rotate(host, who, account.id))
    const outcomes = async () => [
      outcomeOf(await grant(host, account)),
      outcomeOf(await grant(host, second)),
    ]
    const no = '401 invalid_client'
    expect(await outcomes()).toEqual(['200', '200'])
    await setEnabled(host, who, account.id, false)
    expect(await outcomes()).toEqual([no, no])
    await setEnabled(host, who, account.id, true)
    expect(await outcomes()).toEqual(['200', '200'])
    await host.auth.operator.users.update(account.id, { enabled: false })
    expect(await outcomes()).toEqual([no, no])
  })

  it('enabled again, an account gets tokens, and an older token its permissions', async () => {
    const host = await openHost({ authorizer: { check: async () => true } }, kind)
    const who = await administrator(host)
    const account = await serviceAccount(host, who)
    const bearer = await tokenOf(host, account)
    const now = async () => [
      outcomeOf(await host.send('GET', '/v1/admin/modules', { bearer })),
      outcomeOf(await grant(host, account)),
    ]
    for (let round = 0; round < 2; round += 1) {
      expect(await now()).toEqual(['200', '200'])
      await setEnabled(host, who, account.id, false)
      expect(await now()).toEqual(['403 permission_denied', '401 invalid_client'])
      await setEnabled(host, who, account.id, true)
    }
    expect(await now()).toEqual(['200', '200'])
  })

  it('stops at once for the credential that is revoked, and for no other', async () => {
    const host = await openHost({ authorizer: peopleMay }, kind)
    const who = await administrator(host)
    const first = await serviceAccount(host, who)
    const second = issuedIn(await rotate(host, who, first.id))
    const outcomes = async () => [
      outcomeOf(await grant(host, first)),
      outcomeOf(await grant(host, second)),
    ]
    expect(await outcomes()).toEqual(['200', '200'])
    await revoke(host, who, first.id, first.credentialId)
    expect(await outcomes()).toEqual(['401 invalid_client', '200'])
    await revoke(host, who, first.id, second.credentialId)
    expect(await outcomes()).toEqual(['401 invalid_client', '401 invalid_client'])
  })
})

describe('the token', () => {
  it('is for the audience service, with the claims of any other', async () => {
    const host = await open()
    const who = await administrator(host)
    const account = await serviceAccount(host, who)
    const memberships = [{ tenantId: 'acme' }, { tenantId: 'globex' }]
    for (const id of [account.id, who.id]) {
      await host.auth.operator.users.update(id, { memberships, systemRole: 'developer' })
    }
    const token = await tokenOf(host, account)
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'RS256', typ: 'at+jwt' })
    const now = host.clock.now() / 1000
    const { jti, ...claims } = decodeJwt(token)
    expect(claims).toEqual({
      iss: 'https://admin.example.com',
      aud: 'service',
      sub: account.id,
      iat: now,
      exp: now + 900,
      tokenUse: 'access',
      memberships,
      amr: [],
      authTime: now,
      auth_time: now,
      client_id: account.clientId,
    })
    const session = await host.send('POST', '/v1/auth/operator/login', {
      body: { email: who.email, password: who.password },
    })
    expect(session.status).toBe(200)
    expect(JSON.stringify(claims)).not.toMatch(/developer|auth\.|system\.|perm|scope|role/)
    expect(decodeJwt(await tokenOf(host, account)).jti).not.toBe(jti)
  })

  it('lives as many seconds as any other, and says how many', async () => {
    for (const [settings, env, seconds] of [
      [{}, {}, 900],
      [{ accessTokenTTL: '10m' }, {}, 600],
      [{ accessTokenTTL: '48h' }, {}, 86_400],
      [{}, { JWT_ACCESS_TOKEN_EXPIRY: '5m' }, 300],
    ] as const) {
      const host = await open({ settings, env })
      const account = await serviceAccount(host, await administrator(host))
      const reply = await grant(host, account)
      expect(reply.json()['expiresIn']).toBe(seconds)
      const { exp = 0, iat = 0 } = decodeJwt(String(reply.json()['accessToken']))
      expect(exp - iat).toBe(seconds)
    }
  })

  it('comes with no cookie, no session and nothing to refresh', async () => {
    const host = await open()
    const account = await serviceAccount(host, await administrator(host))
    const reply = await grant(host, account)
    expect([reply.status, reply.setCookies]).toEqual([200, []])
    expect(Object.keys(reply.json()).sort()).toEqual(['accessToken', 'expiresIn', 'tokenType'])
    const { families, sessions } = storedIn(host, 'operator')
    const page = { limit: 10 }
    expect(await families.find({ userId: account.id }, page)).toEqual([])
    expect(await sessions.find({ userId: account.id }, page)).toEqual([])
  })

  it('opens operator routes its account is permitted, and no other', async () => {
    const allowed = new Set<string>()
    const asked: PermissionQuestion[] = []
    const host = await open({
      authorizer: {
        async check(question) {
          asked.push(question)
          return question.kind === '' || allowed.has(question.permission)
        },
      },
    })
    const account = await serviceAccount(host, await administrator(host))
    const memberships = [{ tenantId: 'acme' }]
    await host.auth.operator.users.update(account.id, { memberships, systemRole: 'developer' })
    const bearer = await tokenOf(host, account)
    const modules = () => host.send('GET', '/v1/admin/modules', { bearer })
    expectProblem(await modules(), 403, 'permission_denied')
    expect(asked.at(-1)).toEqual({
      surface: 'operator',
      sessionId: null,
      proofAge: expect.any(Function),
      userId: account.id,
      kind: 'service',
      systemRole: 'developer',
      memberships,
      permission: 'system.modules.read',
      tenantId: null,
    })
    allowed.add('system.modules.read')
    expect((await modules()).status).toBe(200)
    allowed.clear()
    expectProblem(await modules(), 403, 'permission_denied')
    const client = await host.send('GET', '/v1/auth/client/me', { bearer })
    expectProblem(client, 401, 'audience_mismatch')
    await expect(host.auth.client.authenticate(`Bearer ${bearer}`)).rejects.toMatchObject({
      code: 'audience_mismatch',
    })
  })

  it('what a machine does is told of and recorded as done by its account', async () => {
    const host = await open({ authorizer: { check: async () => true } })
    const account = await serviceAccount(host, await administrator(host))
    const bearer = await tokenOf(host, account)
    const body = { config: { totpIssuer: 'Machines' } }
    const path = '/v1/admin/modules/auth/environments/production'
    expect((await host.send('PATCH', path, { bearer, body })).status).toBe(200)
    await host.auth.close()
    expect(host.events.at(-1)).toMatchObject({ type: 'config.changed', actorId: account.id })
    const { records } = await host.auth.operator.audit.ofActor(account.id)
    expect(records.map(({ action }) => action).sort()).toEqual([
      'config.changed',
      'serviceToken.issued',
    ])
  })

  it('outlives the credential it came by, for as long as it was to live', async () => {
    const host = await open({ authorizer: { check: async () => true } })
    const who = await administrator(host)
    const account = await serviceAccount(host, who)
    const bearer = await tokenOf(host, account)
    const known = { userId: account.id, kind: 'service', sessionId: null }
    const expectGood = async () => {
      expect(await host.auth.operator.authenticate(`Bearer ${bearer}`)).toMatchObject(known)
      expect(outcomeOf(await host.send('GET', '/v1/admin/modules', { bearer }))).toBe('200')
    }
    expect((await revoke(host, who, account.id, account.credentialId)).status).toBe(204)
    expect(outcomeOf(await grant(host, account))).toBe('401 invalid_client')
    await expectGood()
    await pass(host, 15 * minute - 1)
    await expectGood()
    await pass(host, 1)
    expectProblem(await host.send('GET', '/v1/admin/modules', { bearer }), 401)
  })
})

describe('the request', () => {
  it('an access token that comes along changes nothing, whoever’s it is', async () => {
    const host = await open()
    const account = await serviceAccount(host, await administrator(host))
    const { bearer: operator } = await signedInPerson(host, 'operator')
    const { bearer: client } = await signedInPerson(host, 'client')
    const own = await tokenOf(host, account)
    await pass(host, 16 * minute)
    const { bearer: fresh } = await signedInPerson(host, 'client')
    const headers = [operator, client, own, fresh, 'garbage', 'a.b.c'].map(
      (token) => `Bearer ${token}`,
    )
    for (const authorization of [...headers, 'Basic c2E6c2Fz', 'Bearer', '']) {
      const reply = await grant(host, account, { headers: { authorization } })
      expect([authorization, reply.status]).toEqual([authorization, 200])
    }
  })

  it('is JSON of the three names, or no credential is looked up', async () => {
    const spy = spyBackend()
    const host = await open({ ...withoutLimits, backend: spy.backend })
    const account = await serviceAccount(host, await administrator(host))
    await host.auth.close()
    spy.calls.splice(0)
    const { clientId, clientSecret } = account
    const form = new URLSearchParams({ grantType: 'client_credentials', clientId, clientSecret })
    const json = JSON.stringify({ grantType: 'client_credentials', clientId, clientSecret })
    const typed = (type: string, body: string) =>
      host.send('POST', tokenPath, { body, headers: { 'content-type': type } })
    const unsupported = [
      await typed('application/x-www-form-urlencoded', form.toString()),
      await typed('application/x-www-form-urlencoded', json),
      await typed('text/json', json),
      await typed('text/plain', json),
      await host.send('POST', tokenPath),
      // Without any content type.
      await rawClient(host.url)('POST', tokenPath, { body: json }),
      await rawClient(host.url)('POST', tokenPath, { body: form.toString() }),
    ]
    for (const reply of unsupported) expectProblem(reply, 415, 'unsupported_media_type')
    const names = { client_id: clientId, client_secret: clientSecret }
    const snake = { grant_type: 'client_credentials', ...names }
    const malformed = [
      await host.send('POST', tokenPath, { body: snake }),
      await host.send('POST', tokenPath, { body: { ...names, grantType: 'client_credentials' } }),
      await grant(host, account, { given: snake }),
      await grant(host, account, { given: { client_id: clientId } }),
      await grant(host, account, { given: { clientId: undefined } }),
      await grant(host, account, { given: { clientSecret: undefined } }),
      await grant(host, account, { given: { clientSecret: 7 } }),
      await grant(host, account, { given: { clientId: [clientId] } }),
      await grant(host, account, { given: { clientSecret: null } }),
      await grant(host, account, { given: { scope: 'all' } }),
      await grant(host, account, { given: { grantType: 7 } }),
    ]
    for (const reply of malformed) expectProblem(reply, 400, 'invalid_request')
    for (const grantType of [undefined, '', 'CLIENT_CREDENTIALS', 'password', 'refresh_token']) {
      const reply = await grant(host, account, { given: { grantType } })
      expectProblem(reply, 400, 'unsupported_grant_type')
    }
    expect(spy.calls.filter((call) => call.startsWith('service_account'))).toEqual([])
    expect((await typed('application/json; charset=utf-8', json)).status).toBe(200)
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expectProblem(await host.send(method, tokenPath), 405, 'method_not_allowed')
    }
  })

  it('is limited per address, also while it succeeds', async () => {
    const host = await open()
    const account = await serviceAccount(host, await administrator(host))
    const headers = { 'x-forwarded-for': '192.0.2.9' }
    const statuses: number[] = []
    for (let n = 0; n < 60; n += 1) statuses.push((await grant(host, account, { headers })).status)
    expect(new Set(statuses)).toEqual(new Set([200]))
    expectProblem(await grant(host, account, { headers }), 429, 'rate_limited')
    expect((await grant(host, account)).status).toBe(200)
    await pass(host, minute)
    expect((await grant(host, account, { headers })).status).toBe(200)
  })

  it('belongs to the operator surface, however the surfaces are mounted', async () => {
    const both = await open({ defaultSurface: 'client' })
    const account = await serviceAccount(both, await administrator(both))
    expect((await grant(both, account)).status).toBe(200)
    const cookie = '__Host-cl_refresh=x'
    expect((await grant(both, account, { cookie })).status).toBe(200)
    const operator = await open({ backend: both.backend, mount: 'operator' })
    expect((await grant(operator, account)).status).toBe(200)
    const client = await open({ backend: both.backend, mount: 'client' })
    const absent = await grant(client, account)
    expect([absent.status, absent.code]).toEqual([404, undefined])
    for (const path of ['/v1/auth/client/token', '/v1/auth/operator/token']) {
      expectProblem(await both.send('POST', path, { body: {} }), 404, 'not_found')
    }
  })
})
