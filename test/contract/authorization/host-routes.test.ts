import { createServer } from 'node:http'
import express from 'express'
import { expect, it, onTestFinished } from 'vitest'
import { expressGuards } from '../../../adapters/express.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { memoryHost } from '../../support/hosts/hosts.js'
import { httpClient } from '../../support/hosts/http-client.js'
import { listen } from '../../support/hosts/running-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { signedInPerson } from '../../support/people/people.js'
import { administrator } from '../../support/people/service-account-steps.js'
import { guardedHosts } from './guarded-hosts.js'

const isOwn = (permission: string): boolean => permission.startsWith('orders.')

it('R-1-26 permission, audience and step-up guard routes of the host’s own, in every framework', async () => {
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
    expect([proof.status, proof.code], framework).toEqual([403, 'step_up_required'])
    allows = false
    expectProblem(await get('/operator/permission', proven.bearer), 403, 'permission_denied')
    expectProblem(await get('/operator/everything', proven.bearer), 403, 'permission_denied')
  }
})

it('R-1-28 no handler runs while the authorizer fails, is silent or answers anything but an allow', async () => {
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
