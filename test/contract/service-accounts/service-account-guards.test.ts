import { describe, expect, it } from 'vitest'
import { serviceCredentialsSpec } from '../../../src/model/user.js'
import { operations as operationTable } from '../../../src/operations/index.js'
import type { PermissionQuestion } from '../../../src/ports/host.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { enrolled } from '../../support/people/authenticator.js'
import { person, signedInPerson } from '../../support/people/people.js'
import {
  accountsPath,
  administrator,
  grant,
  issuedIn,
  peopleMay,
  prove,
  revoke,
  rotate,
  serviceAccount,
  tokenOf,
} from '../../support/people/service-account-steps.js'

const minute = 60_000
const unknownId = '01890a5d-ac96-774b-bcce-b302099a8057'
const open = (options: HostOptions = {}) => openHost({ authorizer: peopleMay, ...options })

const stored = (host: ContractHost) => host.backend.store.collection(serviceCredentialsSpec)

describe('the guards of the six operations', () => {
  /** Each operation, on an account that is there. */
  const operations = [
    { name: 'list', method: 'GET', path: '', key: 'read' },
    { name: 'get', method: 'GET', path: '/{id}', key: 'read' },
    { name: 'create', method: 'POST', path: '', body: { name: 'x' }, key: 'manage' },
    { name: 'update', method: 'PATCH', path: '/{id}', body: { name: 'x' }, key: 'manage' },
    { name: 'disable', method: 'PATCH', path: '/{id}', body: { enabled: false }, key: 'manage' },
    { name: 'issue', method: 'POST', path: '/{id}/credentials', key: 'manage' },
    { name: 'revoke', method: 'DELETE', path: '/{id}/credentials/{credential}', key: 'manage' },
  ] as const
  const mutations = operations.filter(({ key }) => key === 'manage')

  async function rig(options: HostOptions = {}) {
    const asked: PermissionQuestion[] = []
    let allowed: readonly string[] | Error = ['read', 'manage']
    const host = await open({
      authorizer: {
        async check(question) {
          const { permission } = question
          if (!permission.startsWith('auth.service')) return true
          asked.push(question)
          if (allowed instanceof Error) throw allowed
          return allowed.some((key) => permission === `auth.service_accounts.${key}`)
        },
      },
      ...options,
    })
    const who = await administrator(host)
    const made = await serviceAccount(host, who)
    asked.splice(0)
    const before = await pictureOf()

    async function pictureOf() {
      const users = await storedIn(host, 'operator').users.find({ kind: 'service' }, { limit: 100 })
      const { id: accountId } = made
      return { users, credentials: await stored(host).find({ accountId }, { limit: 100 }) }
    }
    return {
      host,
      who,
      made,
      asked,
      allow(...keys: readonly string[]) {
        allowed = keys
      },
      breakAuthorizer() {
        allowed = new Error('down')
      },
      send(one: (typeof operations)[number], bearer?: string, id = made.id) {
        const path = one.path.replace('{id}', id).replace('{credential}', made.credentialId)
        return host.send(one.method, accountsPath + path, {
          ...(bearer === undefined ? {} : { bearer }),
          ...('body' in one ? { body: one.body } : {}),
        })
      },
      pictureOf,
      expectNothingDone: async () => expect(await pictureOf()).toEqual(before),
    }
  }

  it('want a permission of their own, and none the other', async () => {
    const { who, send, allow, asked, expectNothingDone } = await rig()
    for (const one of operations) {
      const other = one.key === 'read' ? 'manage' : 'read'
      allow(other)
      expectProblem(await send(one, who.bearer), 403, 'permission_denied')
      expect(asked.at(-1)).toMatchObject({ permission: `auth.service_accounts.${one.key}` })
    }
    expect(asked).toHaveLength(operations.length)
    await expectNothingDone()
    allow('read')
    for (const one of operations.filter(({ key }) => key === 'read')) {
      expect((await send(one, who.bearer)).status).toBe(200)
    }
  })

  it('want a second-factor proof for what changes something', async () => {
    const { host, send, allow, expectNothingDone } = await rig()
    const unproven = await enrolled(host, 'operator')
    const { bearer: factorless } = await signedInPerson(host, 'operator')
    for (const one of mutations) {
      const reply = await send(one, unproven.bearer)
      expect([one.name, outcomeOf(reply)]).toEqual([one.name, '403 step_up_required'])
      expect(reply.json()['maxAgeSeconds']).toBe(300)
      expect(reply.headers.get('www-authenticate')).toContain('max_age=300')
      const never = await send(one, factorless)
      expect(outcomeOf(never)).toBe('403 mfa_enrollment_required')
    }
    for (const one of operations.filter(({ key }) => key === 'read')) {
      expect((await send(one, unproven.bearer)).status).toBe(200)
    }
    // Who may not is told so first.
    allow()
    for (const one of mutations) {
      expectProblem(await send(one, unproven.bearer), 403, 'permission_denied')
    }
    await expectNothingDone()
  })

  it('do nothing at all while any one of them refuses', async () => {
    const { host, who, made, send, allow, breakAuthorizer, pictureOf } = await rig()
    const unproven = await enrolled(host, 'operator')
    const { bearer: foreign } = await signedInPerson(host, 'client')
    const machine = await tokenOf(host, made)
    const ended = await administrator(host)
    await host.send('POST', '/v1/auth/operator/logout', { bearer: ended.bearer })
    await host.auth.close()
    const before = await pictureOf()

    async function expectRefused(bearer: string | undefined, outcome: string): Promise<void> {
      for (const one of mutations) {
        expect([one.name, outcomeOf(await send(one, bearer))]).toEqual([one.name, outcome])
        expect(await pictureOf()).toEqual(before)
      }
    }
    await expectRefused(undefined, '401')
    await expectRefused('garbage', '401')
    await expectRefused(foreign, '401 audience_mismatch')
    await expectRefused(ended.bearer, '401 session_revoked')
    await expectRefused(machine, '403 step_up_required')
    await expectRefused(unproven.bearer, '403 step_up_required')
    allow('read')
    await expectRefused(who.bearer, '403 permission_denied')
    breakAuthorizer()
    await expectRefused(who.bearer, '503 authorization_unavailable')
    allow('manage')
    await host.clock.advance(5 * minute)
    await expectRefused(who.bearer, '403 step_up_required')
    // And each of them is done once nothing stands in the way.
    await prove(host, who)
    for (const one of mutations) expect((await send(one, who.bearer)).status).toBeLessThan(300)
  })

  it.each(['1m', '15m', '1h'])(
    'the proof is fresher than five minutes, with stepUpMaxAge at %s',
    async (stepUpMaxAge) => {
      const { host, who, send } = await rig({ settings: { stepUpMaxAge } })
      await prove(host, who)
      await host.auth.close()
      await host.clock.advance(5 * minute - 1)
      for (const one of mutations) expect((await send(one, who.bearer)).status).toBeLessThan(300)
      await host.clock.advance(1)
      for (const one of mutations) {
        expect(outcomeOf(await send(one, who.bearer))).toBe('403 step_up_required')
      }
    },
  )

  it('a proof store that cannot be asked is 503, and nothing is done', async () => {
    let fails = false
    const { who, send, expectNothingDone } = await rig({
      wrapBackend: (backend) => ({
        ...backend,
        store: {
          ...backend.store,
          collection(spec) {
            const inner = backend.store.collection(spec)
            if (!spec.name.endsWith('step_up_proofs')) return inner
            return {
              ...inner,
              get: (id) => (fails ? Promise.reject(new Error('down')) : inner.get(id)),
            }
          },
        },
      }),
    })
    fails = true
    for (const one of mutations) {
      expectProblem(await send(one, who.bearer), 503, 'service_unavailable')
    }
    await expectNothingDone()
  })

  it('take the ids of people, and other text, for no account', async () => {
    const { host, who, send, expectNothingDone } = await rig()
    const somebody = await person(host, 'operator')
    const before = await storedIn(host, 'operator').users.get(somebody.id)
    const withId = operations.filter(({ path }) => path !== '')
    for (const id of [somebody.id, who.id, unknownId, 'x', unknownId.toUpperCase(), 'a%00b']) {
      for (const one of withId) {
        const code = one.name === 'revoke' ? 'credential_not_found' : 'service_account_not_found'
        expectProblem(await send(one, who.bearer, id), 404, code)
      }
    }
    expect(await storedIn(host, 'operator').users.get(somebody.id)).toEqual(before)
    await expectNothingDone()
  })

  it('refuse tokens of the client surface, and none at all', async () => {
    const { host, send, expectNothingDone } = await rig()
    const { bearer } = await signedInPerson(host, 'client')
    for (const one of operations) {
      expectProblem(await send(one, bearer), 401, 'audience_mismatch')
      expectProblem(await send(one), 401)
    }
    await expectNothingDone()
  })

  it('are all there are: nothing deletes an account or reads a credential', async () => {
    const { host, who, made, expectNothingDone } = await rig()
    const { bearer } = who
    const path = `${accountsPath}/${made.id}`
    const credential = `${path}/credentials/${made.credentialId}`
    const served = operationTable.filter((one) => one.path.startsWith(accountsPath))
    expect(served.map((one) => `${one.method} ${one.path.slice(accountsPath.length)}`)).toEqual([
      'GET ',
      'POST ',
      'GET /{id}',
      'PATCH /{id}',
      'POST /{id}/credentials',
      'DELETE /{id}/credentials/{credentialId}',
    ])
    const wanted = [
      ['DELETE', path],
      ['PUT', path],
      ['DELETE', accountsPath],
      ['GET', `${path}/credentials`],
      ['PATCH', credential],
      ['PUT', credential],
      ['GET', credential],
    ] as const
    for (const [method, at] of wanted) {
      expectProblem(await host.send(method, at, { bearer }), 405, 'method_not_allowed')
    }
    await expectNothingDone()
  })

  it('nothing makes a revoked credential active again', async () => {
    const { host, who, made } = await rig()
    const { bearer } = who
    const path = `${accountsPath}/${made.id}`
    const credential = `${path}/credentials/${made.credentialId}`
    expect((await host.send('DELETE', credential, { bearer })).status).toBe(204)
    const row = await stored(host).get(made.credentialId)
    expect(row).toMatchObject({ status: 'revoked', revokedBy: who.id })
    await host.auth.close()
    await host.clock.advance(1000)
    const active = { status: 'active' }
    for (const body of [active, { ...active, revokedAt: null }, { enabled: true }]) {
      for (const method of ['PATCH', 'PUT', 'POST']) {
        const reply = await host.send(method, credential, { bearer, body })
        expectProblem(reply, 405, 'method_not_allowed')
      }
    }
    const one = { credentialId: made.credentialId, ...active }
    for (const body of [active, { credentials: [one] }]) {
      const asked = await host.send('PATCH', path, { bearer, body })
      expectProblem(asked, 400, 'invalid_request')
      const issued = await host.send('POST', `${path}/credentials`, { bearer, body: one })
      expectProblem(issued, 400, 'invalid_request')
    }
    // What does happen to its account leaves it revoked.
    for (const enabled of [false, true]) {
      const turned = await host.send('PATCH', path, { bearer, body: { enabled } })
      expect(turned.status).toBe(200)
    }
    const { credentialId } = issuedIn(await rotate(host, who, made.id))
    expect((await revoke(host, who, made.id, credentialId)).status).toBe(204)
    expect((await rotate(host, who, made.id)).status).toBe(201)
    expectProblem(await host.send('DELETE', credential, { bearer }), 404, 'credential_not_found')
    expectProblem(await grant(host, made), 401, 'invalid_client')
    await host.auth.close()
    expect(await stored(host).get(made.credentialId)).toEqual(row)
  })
})
