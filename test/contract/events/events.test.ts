import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { surfaceCollections } from '../../../src/model/collections.js'
import type { AuditRecord } from '../../../src/model/event-records.js'
import { operations } from '../../../src/operations/index.js'
import type { AuthEvent } from '../../../src/ports/events.js'
import type { Surface } from '../../../src/ports/surface.js'
import { type ContractHost, type HostKind, memoryHost } from '../../support/hosts/hosts.js'
import { eachSampleStore, eachSurface } from '../../support/hosts/matrix.js'
import { beginNetwork, openHost, outcomeOf, surfaces } from '../../support/hosts/open-host.js'
import { person, signIn } from '../../support/people/people.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { specOf } from '../../support/stores/spec-of.js'
import { accountScenarios } from './account-scenarios.js'
import { deviceScenarios } from './device-scenarios.js'
import type { Scenario, Scene, Subject } from './event-scenario.js'
import { hostScenarios } from './host-scenarios.js'
import { codeScenarios, loginScenarios } from './login-scenarios.js'
import { mfaScenarios } from './mfa-scenarios.js'
import { oauthScenarios } from './oauth-scenarios.js'
import { passkeyScenarios } from './passkey-scenarios.js'
import { roleScenarios } from './role-scenarios.js'
import { serviceAccountScenarios } from './service-account-scenarios.js'
import { sessionScenarios } from './session-scenarios.js'

const scenarios = [
  ...accountScenarios,
  ...deviceScenarios,
  ...hostScenarios,
  ...loginScenarios,
  ...codeScenarios,
  ...mfaScenarios,
  ...oauthScenarios,
  ...roleScenarios,
  ...serviceAccountScenarios,
  ...passkeyScenarios,
  ...sessionScenarios,
]
const day = 24 * 60 * 60 * 1000

function sceneOf(host: ContractHost, surface: Surface): Scene {
  const post: Scene['post'] = (path, options) =>
    host.send('POST', `/v1/auth/${surface}${path}`, options)
  return { host, surface, post }
}

/** Without what starting a host tells of. */
const sinceTheStart = (records: readonly AuditRecord[]) =>
  records.filter(({ action }) => action !== 'config.seeded')

/** Every record of a surface, oldest first: of one millisecond in no order. */
async function recordsIn(host: ContractHost, surface: Surface): Promise<readonly AuditRecord[]> {
  await host.auth.close()
  const stored = host.backend.store.collection(specOf(surfaceCollections.auditRecords, surface))
  return sinceTheStart(await stored.due(host.clock.now() + 4000 * day, 1000))
}

const sorted = (texts: readonly string[]): string[] => [...texts].sort()

/** Postgres meets each scenario once, on one surface or the other: making its tables takes time. */
function walkOn({ name }: HostKind, surface: Surface): readonly Scenario[] {
  const half = surfaces.indexOf(surface)
  const here = scenarios.filter(({ surfaces: only = surfaces }) => only.includes(surface))
  return name.endsWith('memory') ? here : here.filter((_, index) => index % 2 === half)
}

eachSampleStore.describe('events and records', (kind) => {
  eachSurface.describe((surface) => {
    it.each(walkOn(kind, surface))('$of: $name', async ({ tells, prepare, outcome, options }) => {
      const host = await openHost(options, kind)
      beginNetwork()
      const { perform, subject } = await prepare(sceneOf(host, surface))
      const earlier = new Set((await recordsIn(host, surface)).map(({ id }) => id))
      const from = host.events.length

      const reply = await perform()
      expect(typeof reply === 'string' ? reply : outcomeOf(reply)).toBe(outcome)

      await host.auth.close() // some of it is found out beside the request
      const about: Subject = { id: '', sessionId: '', ...subject }
      const wanted = tells(about)
      const events = host.events.slice(from)
      expect(events).toMatchObject(wanted.map(({ type, says }) => ({ type, surface, ...says })))
      for (const event of events) expectWellFormed(event, host.clock.now(), typeof reply)

      const records = (await recordsIn(host, surface)).filter(({ id }) => !earlier.has(id))
      const expected = wanted.flatMap(({ type, record }) => (record ? [`${type} ${record}`] : []))
      expect(sorted(records.map((r) => `${r.action} ${r.outcome}`))).toEqual(sorted(expected))
      for (const record of records) {
        const event = events.find(({ type }) => type === record.action)
        const { at, ip, userAgent } = event ?? {}
        expect(record).toMatchObject({
          surface,
          at,
          ip,
          userAgent,
          expiresAt: Number(at) + 400 * day,
        })
      }
      // As words, and a token with its dot: an id is random letters, which may be any three of them.
      const personal = /@|staple|passphrase|eyJ[\w-]+\.|\bAda\b|\bGrace\b/
      expect(JSON.stringify([events, records])).not.toMatch(personal)
    })
  })
})

function expectWellFormed(event: AuthEvent, now: number, from: string): void {
  expect(event.at).toBe(now)
  expect(JSON.parse(JSON.stringify(event))).toEqual(event)
  if (from === 'string') return
  expect([typeof event.ip, event.userAgent]).toEqual(['string', 'node'])
}

describe('the walk above', () => {
  it('has a success of every operation that changes anything', () => {
    const walked = scenarios.filter(({ outcome }) => /^(20|302)/.test(outcome)).map(({ of }) => of)
    const changing = operations
      .filter(({ method, tag }) => method !== 'GET' && tag !== 'Module Configuration')
      .map(({ id }) => id)
    expect(changing.filter((id) => !walked.includes(id))).toEqual([])
  })

  it('meets every type there is, and none of sweeping', () => {
    const met = new Set(scenarios.flatMap(({ tells }) => tells({ id: '', sessionId: '' })))
    const types = new Set([...met].map(({ type }) => type))
    const elsewhere = ['mail.failed', 'audit.failed', 'webhook.failed', ...ofConfig]
    expect(sorted([...types, ...elsewhere])).toEqual(sorted(Object.keys(catalogue)))
    expect(Object.keys(catalogue).filter((type) => /sweep|backlog/.test(type))).toEqual([])
  })
})

/** Met in the suite of the module configuration. */
const ofConfig = [
  'config.activated',
  'config.changed',
  'config.reencrypted',
  'config.seeded',
] as const satisfies readonly AuthEvent['type'][]

/** Complete by the compiler's word. */
const catalogue: Readonly<Record<AuthEvent['type'], true>> = {
  'account.created': true,
  'account.deleted': true,
  'account.deleteFailed': true,
  'account.createFailed': true,
  'account.imported': true,
  'account.importFailed': true,
  'account.registered': true,
  'account.registrationRepeated': true,
  'account.registrationRequested': true,
  'account.updated': true,
  'account.updateFailed': true,
  'audit.failed': true,
  'config.activated': true,
  'config.changed': true,
  'config.reencrypted': true,
  'config.seeded': true,
  'device.revoked': true,
  'device.trusted': true,
  'email.changed': true,
  'email.changeRequested': true,
  'email.verificationRequested': true,
  'email.verified': true,
  'account.ownerProved': true,
  'identity.linked': true,
  'identity.unlinked': true,
  'login.failed': true,
  'login.lockedOut': true,
  'login.newDevice': true,
  'login.succeeded': true,
  'mail.failed': true,
  'mfa.backupCodeUsed': true,
  'mfa.changed': true,
  'mfa.failed': true,
  'mfa.lockedOut': true,
  'mfa.passkeyBackupChanged': true,
  'mfa.passkeyCounterRegressed': true,
  'mfa.required': true,
  'mfa.steppedUp': true,
  'password.changed': true,
  'password.changeFailed': true,
  'password.resetRequested': true,
  'refresh.reissued': true,
  'refresh.replayDetected': true,
  'refresh.rotated': true,
  'refresh.storeRolledBack': true,
  'refresh.unusual': true,
  'request.refused': true,
  'role.bindFailed': true,
  'role.bound': true,
  'role.defined': true,
  'role.deleted': true,
  'role.unbound': true,
  'serviceCredential.issued': true,
  'serviceCredential.issueFailed': true,
  'serviceCredential.revoked': true,
  'serviceCredential.revokeFailed': true,
  'serviceToken.issued': true,
  'serviceToken.refused': true,
  'session.allTerminated': true,
  'session.terminated': true,
  'session.viewed': true,
  'session.overdue': true,
  'webhook.failed': true,
}

eachSurface.describe('beside the request', (surface) => {
  const audits = `${surface}_audit_records.insert`

  it('a record that cannot be written undoes and delays nothing, and is told of once', async () => {
    const store = faultyBackend(memory())
    const host = await openHost({ backend: store.backend })
    const who = await person(host, surface)
    await host.auth.close()
    host.events.splice(0)
    store.failNext(audits, 'before', Number.POSITIVE_INFINITY)
    await signIn(host, surface, who)
    await host.auth.close()
    expect(host.events).toMatchObject([
      { type: 'login.succeeded' },
      { type: 'audit.failed', action: 'login.succeeded', surface, at: host.clock.now() },
    ])
    expect(host.logger.lines.at(-1)).toMatchObject({
      level: 'error',
      message: 'writing an audit record failed',
    })
    // On the operator surface, first values have a record as well.
    const made = store.calls.filter((name) => name === audits)
    expect(made).toHaveLength(surface === 'operator' ? 3 : 2)
  })

  it('a record that never gets written keeps no reply waiting', async () => {
    const store = faultyBackend(memory())
    const host = await openHost({ backend: store.backend })
    const who = await person(host, surface)
    await host.auth.close()
    let letGo = (): void => {}
    store.onCall(audits, () => new Promise<void>((resolve) => (letGo = resolve)))
    await signIn(host, surface, who)
    const stored = host.backend.store.collection(specOf(surfaceCollections.auditRecords, surface))
    const before = sinceTheStart(await stored.due(9e12, 10))
    expect(before.map(({ action }) => action)).toEqual(['account.created'])
    letGo()
    expect(await recordsIn(host, surface)).toHaveLength(2)
  })

  it('mail that fails is told of, by template and user', async () => {
    const host = await openHost()
    const who = await person(host, surface)
    host.mailer.fail(new Error('the relay refused ada@example.org'))
    const { email } = who
    await host.send('POST', `/v1/auth/${surface}/password/forgot`, { body: { email } })
    await host.auth.close()
    expect(host.events.at(-1)).toEqual({
      type: 'mail.failed',
      surface,
      at: host.clock.now(),
      ip: null,
      userAgent: null,
      template: 'resetPassword',
      userId: who.id,
    })
    expect((await recordsIn(host, surface)).map(({ action }) => action)).not.toContain(
      'mail.failed',
    )
  })

  it('records are read page by page, newest first, by target and by actor', async () => {
    const host = await openHost()
    const { users, audit } = host.auth[surface]
    const who = await person(host, surface)
    for (let index = 0; index < 5; index += 1) {
      await host.clock.advance(1)
      await users.update(who.id, { systemRole: `role-${index}` }, { actorId: 'ops-7' })
    }
    await host.auth.close()
    const roles = []
    let after: string | null = null
    do {
      const page = await audit.ofActor('ops-7', { limit: 2, ...(after === null ? {} : { after }) })
      roles.push(page.records.map(({ details }) => details['after']))
      after = page.next
    } while (after !== null)
    const role = (index: number) => ({ systemRole: `role-${index}` })
    expect(roles).toEqual([[role(4), role(3)], [role(2), role(1)], [role(0)]])
    const all = await audit.ofTarget(who.id)
    expect(all.next).toBeNull()
    expect(all.records.map(({ action }) => action)).toEqual([
      ...new Array(5).fill('account.updated'),
      'account.created',
    ])
    expect(await audit.ofTarget('nobody')).toEqual({ records: [], next: null })
    const other = surface === 'operator' ? 'client' : 'operator'
    expect(await host.auth[other].audit.ofTarget(who.id)).toEqual({ records: [], next: null })
  })

  it('an onEvent that throws, rejects or writes to the event changes nothing', async () => {
    const hostile = [
      () => {
        throw new Error('no')
      },
      async () => {
        throw new Error('no')
      },
      (event: AuthEvent) => {
        Object.assign(event, { type: 'forged', actorId: 'forged', surface: 'forged' })
        if ('after' in event) Object.assign(event.after.memberships?.[0] ?? {}, { tenantId: 'x' })
      },
    ]
    for (const onEvent of hostile) {
      const host = await openHost({ onEvent })
      const who = await person(host, surface)
      const memberships = [{ tenantId: 't1' }]
      const changed = await host.auth[surface].users.update(who.id, { memberships })
      expect(changed?.memberships).toEqual(memberships)
      await signIn(host, surface, who)
      const records = await recordsIn(host, surface)
      expect(records.map(({ action }) => action).sort()).toEqual([
        'account.created',
        'account.updated',
        'login.succeeded',
      ])
      expect(JSON.stringify(records)).not.toContain('forged')
      const lines = host.logger.lines.filter(
        ({ message, fields }) => message === 'onEvent failed' && fields['type'] !== 'config.seeded',
      )
      expect(lines.map(({ fields }) => fields['type'])).toEqual(
        onEvent === hostile[2] ? [] : ['account.created', 'account.updated', 'login.succeeded'],
      )
      expect(JSON.stringify(lines)).not.toContain(who.id)
    }
  })

  it('a logger that throws or rejects fails no request', async () => {
    const loud = () => {
      throw new Error('disk full')
    }
    const late = async () => loud()
    for (const log of [loud, late]) {
      const logger = { debug: log, info: log, warn: log, error: log }
      const host = await openHost({ logger, onEvent: loud })
      await signIn(host, surface, await person(host, surface))
      await host.auth.close()
    }
  })
})

describe('auditRetentionDays', () => {
  it('says how long records are kept', async () => {
    const host = await openHost({ auditRetentionDays: 30 })
    await person(host, 'client')
    const [record] = await recordsIn(host, 'client')
    expect(record?.expiresAt).toBe(host.clock.now() + 30 * day)
  })

  it.each([29, 3651, 30.5, '400', Number.NaN, null])('refuses %s', async (auditRetentionDays) => {
    const options = { auditRetentionDays } as { auditRetentionDays: number }
    await expect(memoryHost.start(options)).rejects.toMatchObject({
      name: 'OptionsError',
      option: 'auditRetentionDays',
    })
  })
})
