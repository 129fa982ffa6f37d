import { expect, it } from 'vitest'
import { surfaceCollections } from '../../../src/model/collections.js'
import type { AuditRecord } from '../../../src/model/event-records.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHostAtOneAddress } from '../../support/hosts/open-host.js'
import { signedInApp, signedInPerson } from '../../support/people/people.js'
import { specOf } from '../../support/stores/spec-of.js'

/** All that a surface has recorded of one action. */
async function recordsOf(
  host: ContractHost,
  surface: Surface,
  action: AuditRecord['action'],
): Promise<readonly AuditRecord[]> {
  await host.auth.close() // records are written beside the request
  const stored = host.backend.store.collection(specOf(surfaceCollections.auditRecords, surface))
  const all = await stored.due(9e12, 10_000)
  return all.filter((record) => record.action === action)
}

const from = (ip: string, userAgent = 'Browser/1.0') => ({
  headers: { 'x-forwarded-for': ip, 'user-agent': userAgent },
})

eachSurface.it(
  'a stranger floods neither events nor audit log with codes that are none',
  async (surface) => {
    const host = await openHostAtOneAddress()
    const path = `/v1/auth/${surface}/mobile/oauth/exchange`
    const body = { code: 'made up', codeVerifier: 'made up' }
    for (let n = 0; n < 30; n += 1) {
      const reply = await host.send('POST', path, { body, ...from('203.0.113.1', `curl/${n}`) })
      expect(reply.status).toBe(400)
    }
    expect(eventsOf(host, 'request.refused')).toHaveLength(1)
    expect(await recordsOf(host, surface, 'request.refused')).toHaveLength(1)
  },
)

eachSurface.it(
  'a stranger without a token floods no events from a network of many addresses',
  async (surface) => {
    const host = await openHostAtOneAddress()
    for (let n = 0; n < 40; n += 1) {
      const reply = await host.send('GET', `/v1/auth/${surface}/me`, from(`2001:db8:1:${n}::1`))
      expect(reply.status).toBe(401)
    }
    expect(eventsOf(host, 'request.refused')).toHaveLength(8)
    await host.send('GET', `/v1/auth/${surface}/me`, from('198.51.100.1'))
    expect(eventsOf(host, 'request.refused')).toHaveLength(9)
    await host.clock.advance(60_000)
    await host.send('GET', `/v1/auth/${surface}/me`, from('198.51.100.1'))
    expect(eventsOf(host, 'request.refused')).toHaveLength(10)
  },
)

eachSurface.it('a user fills no audit log with ever new names', async (surface) => {
  const host = await openHostAtOneAddress()
  const { bearer } = await signedInPerson(host, surface)
  for (let n = 0; n < 120; n += 1) {
    const body = { name: `Ada ${n}` }
    const reply = await host.send('PATCH', `/v1/auth/${surface}/me`, {
      bearer,
      body,
      ...from(`198.51.100.${n}`),
    })
    expect(reply.status).toBe(200)
  }
  expect(eventsOf(host, 'account.updated')).toHaveLength(120)
  expect(await recordsOf(host, surface, 'account.updated')).toHaveLength(8)
})

it('what an account may do is recorded each time, also where its own holder changes it', async () => {
  const host = await openHostAtOneAddress()
  const { id } = await signedInPerson(host, 'operator')
  const by = { actorId: id, ip: '203.0.113.1' }
  for (const systemRole of ['editor', 'administrator', 'editor', 'administrator']) {
    await host.auth.operator.users.update(id, { name: systemRole, systemRole }, by)
  }
  const records = await recordsOf(host, 'operator', 'account.updated')
  const after = records.map(({ details }) => JSON.stringify(details['after'])).sort()
  expect(after).toEqual(
    ['administrator', 'administrator', 'editor', 'editor'].map((systemRole) =>
      JSON.stringify({ systemRole }),
    ),
  )
})

it('a user fills no audit log with re-issues to ever new user agents', async () => {
  const host = await openHostAtOneAddress()
  const { refreshToken } = await signedInApp(host, 'client')
  const body = { refreshToken }
  for (let n = 0; n < 60; n += 1) {
    const reply = await host.send('POST', '/v1/auth/client/refresh', {
      body,
      ...from('203.0.113.1', `agent ${'x'.repeat(n)}`),
    })
    expect(reply.status).toBe(200)
  }
  expect(eventsOf(host, 'refresh.reissued')).toHaveLength(59)
  expect(await recordsOf(host, 'client', 'refresh.reissued')).toHaveLength(8)
})
