import express from 'express'
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { expressGuards } from '../../../adapters/express.js'
import { fastifyGuards } from '../../../adapters/fastify.js'
import { fetchGuards } from '../../../adapters/fetch.js'
import { koaGuards } from '../../../adapters/koa.js'
import type { Principal } from '../../../src/domain/context/actor.js'
import type { Authorizer, PermissionQuestion } from '../../../src/ports/host.js'
import type { Auth } from '../../../src/setup/auth.js'
import { expectHouseHeaders, expectProblem } from '../../support/hosts/expectations.js'
import { type ContractHost, type HostOptions, memoryHost } from '../../support/hosts/hosts.js'
import { httpClient, type Reply } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { signedInPerson } from '../../support/people/people.js'
import {
  administrator,
  prove,
  serviceAccount,
  tokenOf,
} from '../../support/people/service-account-steps.js'
import { spyBackend } from '../../support/stores/spy-backend.js'
import { guardedHosts } from './guarded-hosts.js'

const minute = 60_000

/** Answers for the host's own permissions as told; of the library's, people have all. */
function orders(answer: () => unknown): Authorizer & { readonly asked: PermissionQuestion[] } {
  const asked: PermissionQuestion[] = []
  return {
    asked,
    async check(question) {
      if (!question.permission.startsWith('orders.')) return question.kind === ''
      asked.push(question)
      return (await answer()) as boolean
    },
  }
}

interface Opened {
  readonly host: ContractHost
  get(path: string, bearer?: string): Promise<Reply>
}

type Serve = (typeof guardedHosts)[keyof typeof guardedHosts]

async function open(serve: Serve, options: HostOptions = {}): Promise<Opened> {
  const host = await memoryHost.start({ ...withoutLimits, ...options })
  const running = await serve(host.auth)
  onTestFinished(async () => {
    await running.close()
    await host.close()
  })
  const send = httpClient(running.url)
  return {
    host,
    get: (path, bearer) => send('GET', path, bearer === undefined ? {} : { bearer }),
  }
}

/** 403 with the challenge of RFC 9470. */
function expectStepUp(reply: Reply, maxAgeSeconds: number, code = 'step_up_required'): void {
  expect([reply.status, reply.code], reply.text).toEqual([403, code])
  expectHouseHeaders(reply)
  expect(reply.headers.get('www-authenticate')).toBe(
    `Bearer error="insufficient_user_authentication", max_age=${maxAgeSeconds}`,
  )
  expect(reply.json()['maxAgeSeconds']).toBe(maxAgeSeconds)
}

describe.each(Object.entries(guardedHosts))('guards on %s', (_name, serve) => {
  eachSurface.it('know whose token it is', async (surface) => {
    const { host, get } = await open(serve, { authorizer: orders(() => true) })
    const other = surface === 'operator' ? 'client' : 'operator'
    const ada = await signedInPerson(host, surface)
    const stranger = await signedInPerson(host, other)
    const who = { surface, userId: ada.id, kind: '' }
    for (const route of ['user', 'token', 'permission']) {
      const path = `/${surface}/${route}`
      expect((await get(path, ada.bearer)).json(), path).toEqual(who)
      expectProblem(await get(path), 401)
      expectProblem(await get(path, 'garbage'), 401)
      expectProblem(await get(path, ada.refreshToken), 401)
      expectProblem(await get(path, stranger.bearer), 401, 'audience_mismatch')
    }
    await host.send('POST', `/v1/auth/${surface}/logout`, { bearer: ada.bearer })
    for (const route of ['user', 'token', 'permission', 'proof', 'everything']) {
      expectProblem(await get(`/${surface}/${route}`, ada.bearer), 401, 'session_revoked')
    }
    const late = await signedInPerson(host, surface)
    await host.clock.advance(15 * minute)
    expectProblem(await get(`/${surface}/user`, late.bearer), 401)
  })

  it('tell people and machines apart', async () => {
    const authorizer = orders(() => true)
    const { host, get } = await open(serve, { authorizer })
    const admin = await administrator(host)
    const account = await serviceAccount(host, admin)
    const machine = await tokenOf(host, account)
    const who = { surface: 'operator', userId: account.id, kind: 'service' }
    for (const route of ['token', 'machines', 'permission']) {
      expect((await get(`/operator/${route}`, machine)).json(), route).toEqual(who)
    }
    expect(authorizer.asked.at(-1)).toMatchObject({ kind: 'service', permission: 'orders.refund' })
    expectProblem(await get('/operator/machines', admin.bearer), 401, 'audience_mismatch')
    expectProblem(await get('/operator/user', machine), 403, 'human_principal_required')
    expectStepUp(await get('/operator/proof', machine), 300)
    expectProblem(await get('/client/token', machine), 401, 'audience_mismatch')
    const path = `/v1/admin/service-accounts/${account.id}`
    await prove(host, admin)
    const off = { bearer: admin.bearer, body: { enabled: false } }
    expect((await host.send('PATCH', path, off)).status).toBe(200)
    const expectAuthenticatedAlone = async () => {
      for (const route of ['token', 'machines']) {
        expect((await get(`/operator/${route}`, machine)).json(), route).toEqual(who)
      }
      expectProblem(await get('/operator/permission', machine), 403, 'permission_denied')
    }
    await expectAuthenticatedAlone()
    await host.auth.close()
    await host.clock.advance(15 * minute - 1)
    await expectAuthenticatedAlone()
    await host.clock.advance(1)
    for (const route of ['token', 'machines', 'permission']) {
      expectProblem(await get(`/operator/${route}`, machine), 401)
    }
  })

  eachSurface.it('only a literal allow of the authorizer allows', async (surface) => {
    let answer: () => unknown = () => true
    const authorizer = orders(() => answer())
    const { host, get } = await open(serve, { authorizer })
    const { bearer, id } = await signedInPerson(host, surface)
    // Roles and memberships are facts that the authorizer is told; they allow nothing by themselves.
    const memberships = [{ tenantId: 'acme' }]
    const facts = { systemRole: 'super_admin', memberships } as const
    await storedIn(host, surface).users.update(id, { kind: '' }, facts)
    const ask = () => get(`/${surface}/permission`, bearer)
    for (const allows of [true, { allow: true }]) {
      answer = () => allows
      expect((await ask()).status).toBe(200)
    }
    for (const refuses of [false, null, undefined, 1, 'true', 'allow', {}, [], { allow: 1 }]) {
      answer = () => refuses
      expectProblem(await ask(), 403, 'permission_denied')
    }
    answer = () => {
      throw new Error('down')
    }
    expectProblem(await ask(), 503, 'authorization_unavailable')
    answer = () => true
    expect((await ask()).status).toBe(200)
    expect(authorizer.asked).toHaveLength(13)
    expect(authorizer.asked[0]).toMatchObject({
      surface,
      userId: id,
      ...facts,
      permission: 'orders.refund',
    })

    await storedIn(host, surface).users.update(id, { enabled: true }, { enabled: false })
    expectProblem(await ask(), 403, 'permission_denied')
    expect(authorizer.asked).toHaveLength(13)
  })

  it('answers 503 when the authorizer thinks for two seconds', async () => {
    let began = (): void => {}
    const asking = new Promise<void>((resolve) => {
      began = resolve
    })
    const authorizer = orders(() => {
      began()
      return new Promise(() => {})
    })
    const { host, get } = await open(serve, { authorizer })
    const { bearer } = await signedInPerson(host, 'client')
    const pending = get('/client/permission', bearer)
    await asking
    await host.clock.advance(2000)
    expectProblem(await pending, 503, 'authorization_unavailable')
  })

  it('want a second factor shown a short while ago', async () => {
    const { host, get } = await open(serve, { authorizer: orders(() => true) })
    const ada = await signedInPerson(host, 'operator')
    expectStepUp(await get('/operator/proof', ada.bearer), 300, 'mfa_enrollment_required')
    const admin = await administrator(host)
    for (const route of ['proof', 'usual-proof', 'everything']) {
      expect((await get(`/operator/${route}`, admin.bearer)).status, route).toBe(200)
    }
    await host.auth.close()
    await host.clock.advance(5 * minute - 1)
    expect((await get('/operator/proof', admin.bearer)).status).toBe(200)
    await host.clock.advance(1)
    expectStepUp(await get('/operator/proof', admin.bearer), 300)
    expectStepUp(await get('/operator/everything', admin.bearer), 300)
  })

  it('a store that fails is neither a refusal nor a way in', async () => {
    const spy = spyBackend()
    const { host, get } = await open(serve, {
      backend: spy.backend,
      authorizer: orders(() => true),
    })
    const { bearer } = await signedInPerson(host, 'client')
    await host.auth.close()
    spy.fail(() => new Error('down'))
    for (const route of ['user', 'token', 'permission', 'proof', 'everything']) {
      const reply = await get(`/client/${route}`, bearer)
      expectProblem(reply, 503, 'session_enforcement_unavailable')
    }
    spy.fail(null)
    expect((await get('/client/user', bearer)).status).toBe(200)
  })

  it('several in a row ask for the session once, and for each permission', async () => {
    const spy = spyBackend()
    const authorizer = orders(() => true)
    const { host, get } = await open(serve, { backend: spy.backend, authorizer })
    const admin = await administrator(host)
    await host.auth.close()
    spy.calls.length = 0
    const reply = await get('/operator/everything', admin.bearer)
    expect([reply.status, reply.json()['userId']]).toEqual([200, admin.id])
    expect(spy.calls.filter((call) => call === 'denylist.find')).toHaveLength(1)
    expect(authorizer.asked.map(({ permission }) => permission)).toEqual([
      'orders.read',
      'orders.refund',
    ])
  })

  it('tell of refusals to people, and not of strangers', async () => {
    const { host, get } = await open(serve, { authorizer: orders(() => false) })
    const { bearer, id } = await signedInPerson(host, 'client')
    host.events.splice(0)
    await get('/client/permission')
    await get('/client/permission', 'garbage')
    await get('/client/permission', bearer)
    expect(eventsOf(host, 'request.refused')).toEqual([
      expect.objectContaining({
        surface: 'client',
        operation: 'requirePermission',
        reason: 'permission_denied',
        userId: id,
        ip: '127.0.0.1',
      }),
    ])
  })

  it('tell of tokens that were good once or are good elsewhere, once an hour', async () => {
    const { host, get } = await open(serve, { authorizer: orders(() => true) })
    const ada = await signedInPerson(host, 'client')
    const stranger = await signedInPerson(host, 'operator')
    await host.auth.client.terminateSessionsOf(ada.id)
    host.events.splice(0)
    const ask = async () => {
      for (const route of ['user', 'permission']) {
        for (let asked = 0; asked < 3; asked += 1) {
          expect((await get(`/client/${route}`, ada.bearer)).code).toBe('session_revoked')
          expect((await get(`/client/${route}`, stranger.bearer)).code).toBe('audience_mismatch')
          await get(`/client/${route}`, `${ada.bearer}x`)
          await get(`/client/${route}`)
        }
      }
    }
    const told = (operation: string, reason: string) =>
      expect.objectContaining({ surface: 'client', operation, reason, userId: null })
    const once = ['requireUser', 'requirePermission'].flatMap((name) => [
      told(name, 'session_revoked'),
      told(name, 'audience_mismatch'),
    ])
    await ask()
    expect(eventsOf(host, 'request.refused')).toEqual(once)
    await ask()
    expect(eventsOf(host, 'request.refused')).toEqual(once)
    const { auditRecords } = storedIn(host, 'client')
    await host.auth.close()
    const records = await auditRecords.find({ targetId: ada.id }, { limit: 100 })
    expect(records.filter(({ action }) => action === 'request.refused')).toEqual([])
  })
})

describe('guards that cannot work', () => {
  it('are refused where they are made', async () => {
    const { auth } = await memoryHost.start()
    for (const make of [expressGuards, fastifyGuards, koaGuards, fetchGuards]) {
      const guards = make(auth.client)
      for (const maxAge of ['', '0s', 'soon', '-5m', '3601s', '2h']) {
        expect(() => guards.requireStepUp({ maxAge })).toThrow(TypeError)
      }
      expect(() => guards.requireStepUp({ maxAge: '1h' })).not.toThrow()
      for (const maxAge of ['300', 300, 300_000, ['5m']]) {
        const make = () => Reflect.apply(guards.requireStepUp, null, [{ maxAge }])
        expect(make).toThrow('requireStepUp: maxAge must be a text with units, such as "5m", and')
      }
      expect(() => guards.requirePermission('')).toThrow(TypeError)
      for (const permission of [undefined, null, 5, ['orders.read']]) {
        expect(() => Reflect.apply(guards.requirePermission, null, [permission])).toThrow(TypeError)
      }
      // @ts-expect-error Only operators' hosts accept machines.
      expect(() => guards.requireAudience('service')).toThrow(TypeError)
      // @ts-expect-error Whose routes they are has to be said.
      expect(() => make(auth.both)).toThrow(TypeError)
    }
    await auth.close()
  })

  it('name nobody on a route that none of them stands in front of', async () => {
    const { auth } = await memoryHost.start()
    const request = new Request('http://localhost/')
    expect(() => fetchGuards(auth.client).principalOf(request)).toThrow(/no guard ran/)
    expect(() => koaGuards(auth.client).principalOf(request)).toThrow(/no guard ran/)
    await auth.close()
  })

  it('keep the two surfaces’ principals apart', () => {
    const typed = (auth: Auth) => ({
      operator: expressGuards(auth.operator).principalOf,
      client: fetchGuards(auth.client).principalOf,
    })
    expectTypeOf(typed)
      .returns.toHaveProperty('operator')
      .returns.toEqualTypeOf<Principal<'operator'>>()
    expectTypeOf(typed)
      .returns.toHaveProperty('client')
      .returns.toEqualTypeOf<Principal<'client'>>()
  })

  it('leave the types of a route’s parameters to Express', () => {
    const typed = (auth: Auth) => {
      const { requireUser } = expressGuards(auth.operator)
      express().get('/orders/:id', requireUser(), (request) => {
        expectTypeOf(request.params.id).toEqualTypeOf<string>()
      })
    }
    expectTypeOf(typed).returns.toBeVoid()
  })
})
