import { createServer, request as httpRequest } from 'node:http'
import express from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'
import { expressGuards } from '../../../adapters/express.js'
import { nodeGuarded } from '../../../adapters/shared/node-exchange.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { memoryHost } from '../../support/hosts/hosts.js'
import { httpClient } from '../../support/hosts/http-client.js'
import { eventsOf, openHost } from '../../support/hosts/open-host.js'
import { listen } from '../../support/hosts/running-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { signedInPerson } from '../../support/people/people.js'
import { administrator } from '../../support/people/service-account-steps.js'
import { guardedHosts } from './guarded-hosts.js'

const isOwn = (permission: string): boolean => permission.startsWith('orders.')

it('permission, audience and step-up guard routes of the host’s own, in every framework', async () => {
  for (const [framework, serve] of Object.entries(guardedHosts)) {
    let allows = true
    const check = async ({ permission }: { permission: string }) => !isOwn(permission) || allows
    const host = await memoryHost.start({ ...withoutLimits, authorizer: { check } })
    const running = await serve(host.auth)
    onTestFinished(async () => {
      await running.close()
      await host.close()
    })
    const send = httpClient(running.url)
    const get = (path: string, bearer: string) => send('GET', path, { bearer })
    const unproven = await signedInPerson(host, 'operator')
    const proven = await administrator(host)
    const client = await signedInPerson(host, 'client')
    for (const route of ['permission', 'token', 'proof', 'everything']) {
      expectProblem(await get(`/operator/${route}`, client.bearer), 401, 'audience_mismatch')
      const reply = await get(`/operator/${route}`, proven.bearer)
      const who = { surface: 'operator', userId: proven.id, kind: '' }
      expect([reply.status, reply.json()], `${framework} ${route}`).toEqual([200, who])
    }
    const proof = await get('/operator/proof', unproven.bearer)
    expect([proof.status, proof.code], framework).toEqual([403, 'mfa_enrollment_required'])
    allows = false
    expectProblem(await get('/operator/permission', proven.bearer), 403, 'permission_denied')
    expectProblem(await get('/operator/everything', proven.bearer), 403, 'permission_denied')
  }
})

it('no handler runs while the authorizer fails, is silent or answers anything but an allow', async () => {
  let answer: () => unknown = () => true
  let asked = (): void => {}
  const host = await memoryHost.start({
    ...withoutLimits,
    authorizer: {
      async check({ permission }) {
        if (!isOwn(permission)) return true
        asked()
        return (await answer()) as boolean
      },
    },
  })
  const handled: string[] = []
  const guards = expressGuards(host.auth.client)
  const app = express().get('/refund', guards.requirePermission('orders.refund'), (_, response) => {
    handled.push('refund')
    response.json({})
  })
  const running = await listen(createServer(app))
  onTestFinished(async () => {
    await running.close()
    await host.close()
  })
  const { bearer } = await signedInPerson(host, 'client')
  const refund = () => httpClient(running.url)('GET', '/refund', { bearer })

  for (const fails of [
    () => {
      throw new Error('down')
    },
    () => Promise.reject(new Error('down')),
  ]) {
    answer = fails
    expectProblem(await refund(), 503, 'authorization_unavailable')
  }
  for (const refuses of [undefined, null, 'false', 'true', {}, [], 1]) {
    answer = () => refuses
    expectProblem(await refund(), 403, 'permission_denied')
  }
  const asking = new Promise<void>((resolve) => {
    asked = resolve
  })
  answer = () => new Promise(() => {})
  const pending = refund()
  await asking
  await host.clock.advance(2000)
  expectProblem(await pending, 503, 'authorization_unavailable')
  expect(handled).toEqual([])
  answer = () => true
  expect((await refund()).status).toBe(200)
  expect(handled).toEqual(['refund'])
})

it('a host that changes the claims of one request changes none of another', async () => {
  const host = await openHost()
  const { bearer } = await signedInPerson(host, 'client')
  const { client } = host.auth
  const asked = () => client.authenticate(`Bearer ${bearer}`)
  const before = structuredClone((await asked()).claims)
  const { claims } = await asked()
  Reflect.set(claims, 'sub', 'somebody-else')
  Reflect.set(claims, 'exp', before.exp + 3600)
  Reflect.set(claims.amr, 0, 'hwk')
  Reflect.set(claims.memberships, 0, { tenantId: 'acme' })
  expect(await asked()).toMatchObject({ userId: before.sub, claims: before })
  await host.clock.advance(before.exp * 1000 - host.clock.now())
  await expect(asked()).rejects.toMatchObject({ code: 'unauthorized' })
})

it('a refusal tells where the caller was, also of one who hung up meanwhile', async () => {
  let hangUp = async (): Promise<void> => {}
  const host = await openHost({
    authorizer: {
      async check() {
        await hangUp()
        return false
      },
    },
  })
  const { bearer } = await signedInPerson(host, 'client')
  const guard = host.auth.client.guards.requirePermission('orders.refund')
  const server = createServer()
  const gone = new Promise((resolve) => {
    server.once('connection', (socket) => socket.once('close', resolve))
  })
  const guarded = new Promise((resolve) => {
    server.once('request', (request) => resolve(guard(nodeGuarded(request), null)))
  })
  const running = await listen(server)
  onTestFinished(() => running.close())
  const headers = { authorization: `Bearer ${bearer}` }
  const sent = httpRequest(running.url, { headers }).on('error', () => {})
  hangUp = async () => {
    sent.destroy()
    await gone
  }
  sent.end()
  expect(await guarded).toMatchObject({ refusal: { status: 403 } })
  expect(eventsOf(host, 'request.refused').map(({ ip }) => ip)).toEqual(['127.0.0.1'])
})

describe('a guard over a denylist in memory', () => {
  it('answers at once, for one who may pass and one who may not', async () => {
    const host = await openHost()
    const { bearer } = await signedInPerson(host, 'client')
    const { guards } = host.auth.client
    for (const guard of [guards.requireUser(), guards.requireAudience()]) {
      const verdictOf = (authorization: string) =>
        guard({ header: () => authorization, remoteAddress: undefined }, null)
      const passed = verdictOf(`Bearer ${bearer}`)
      expect(passed.atOnce?.value).toMatchObject({ refusal: null, principal: { kind: '' } })
      expect(await passed).toEqual(passed.atOnce?.value)
      const refused = verdictOf(`Bearer ${bearer}x`)
      expect(refused.atOnce?.value).toMatchObject({ principal: null, refusal: { status: 401 } })
      expect(await refused).toEqual(refused.atOnce?.value)
    }
  })

  it('asks the denylist at the very next request all the same', async () => {
    const host = await openHost()
    const { bearer } = await signedInPerson(host, 'client')
    const { client } = host.auth
    const guard = client.guards.requireUser()
    const request = { header: () => `Bearer ${bearer}`, remoteAddress: undefined }
    const { userId } = await client.authenticate(`Bearer ${bearer}`)
    expect(guard(request, null).atOnce?.value.refusal).toBeNull()
    await client.terminateSessionsOf(userId)
    expect(guard(request, null).atOnce?.value.refusal).toMatchObject({ status: 401 })
  })
})
