import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { createBackgroundTasks } from '../../../src/concurrency/background-tasks.js'
import { type Actor, actBy } from '../../../src/domain/context/actor.js'
import {
  type AuditEntry,
  createAuditLog,
  createEmit,
  toAuditRecord,
} from '../../../src/domain/events/audit-log.js'
import { surfaceCollections } from '../../../src/model/collections.js'
import type { AuditRecords } from '../../../src/model/event-records.js'
import type { AuthEvent } from '../../../src/ports/events.js'
import { later } from '../../../src/system/system-clock.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'
import { specOf } from '../../support/stores/spec-of.js'

const at = Date.UTC(2026, 0, 1)
const source = { surface: 'client', at, ip: '192.0.2.1', userAgent: 'Browser/1.0' } as const
const random = { bytes: (length: number) => new Uint8Array(randomBytes(length)) }
const day = 24 * 60 * 60 * 1000

type Facts = Omit<AuditEntry, keyof typeof source | 'action'>

const facts = (
  outcome: Facts['outcome'],
  actorId: string | null,
  targetId: string | null,
  details: Facts['details'] = {},
  sessionId: string | null = null,
): Facts => ({ outcome, actorId, targetId, sessionId, details })

type Bare<E> = E extends AuthEvent ? Omit<E, keyof typeof source> : never

const change = {
  fields: ['enabled', 'name'],
  before: { enabled: true },
  after: { enabled: false },
} as const
const generations = { presentedGeneration: 1, currentGeneration: 3 }

/** Events, and what their records hold; null for one that leaves none. */
const table: readonly (readonly [Bare<AuthEvent>, Facts | null])[] = [
  [{ type: 'account.registered', userId: 'u' }, facts('success', 'u', 'u')],
  [{ type: 'account.registrationRequested', userId: 'u' }, null],
  [{ type: 'account.registrationRepeated' }, facts('failure', null, null)],
  [{ type: 'account.created', actorId: 'a', targetId: 'u' }, facts('success', 'a', 'u')],
  [{ type: 'account.created', actorId: null, targetId: 'u' }, facts('success', null, 'u')],
  [
    { type: 'account.createFailed', actorId: 'a', reason: 'email_taken' },
    facts('failure', 'a', null, { reason: 'email_taken' }),
  ],
  [
    { type: 'account.updated', actorId: 'a', targetId: 'u', ...change },
    facts('success', 'a', 'u', change),
  ],
  [
    { type: 'account.updateFailed', actorId: 'a', targetId: 'u', reason: 'not_found' },
    facts('failure', 'a', 'u', { reason: 'not_found' }),
  ],
  [{ type: 'account.deleted', actorId: 'a', targetId: 'u' }, facts('success', 'a', 'u')],
  [
    { type: 'account.deleteFailed', actorId: null, targetId: 'u', reason: 'not_found' },
    facts('failure', null, 'u', { reason: 'not_found' }),
  ],
  [{ type: 'email.verified', userId: 'u' }, facts('success', 'u', 'u')],
  [
    { type: 'account.ownerProved', userId: 'u', by: 'link' },
    facts('success', 'u', 'u', { by: 'link' }),
  ],
  [
    { type: 'email.verificationRequested', actorId: null, userId: 'u' },
    facts('success', null, 'u'),
  ],
  [
    { type: 'email.verificationRequested', actorId: 'a', userId: null },
    facts('success', 'a', null),
  ],
  [{ type: 'email.changeRequested', userId: 'u' }, facts('success', 'u', 'u')],
  [{ type: 'email.changed', userId: 'u' }, facts('success', 'u', 'u')],
  [
    {
      type: 'login.succeeded',
      userId: 'u',
      sessionId: 's',
      method: 'password',
      mfaMethod: 'totp',
      amr: ['pwd', 'otp', 'mfa'],
      deviceId: null,
    },
    facts(
      'success',
      'u',
      'u',
      { method: 'password', mfaMethod: 'totp', amr: ['pwd', 'otp', 'mfa'], deviceId: null },
      's',
    ),
  ],
  [
    { type: 'login.newDevice', userId: 'u', sessionId: 's', signals: ['newDevice'] },
    facts('success', 'u', 'u', { signals: ['newDevice'] }, 's'),
  ],
  [
    { type: 'device.trusted', userId: 'u', sessionId: 's', deviceId: 'd' },
    facts('success', 'u', 'u', { deviceId: 'd' }, 's'),
  ],
  [
    { type: 'device.revoked', userId: 'u', sessionId: 's', deviceId: 'd' },
    facts('success', 'u', 'u', { deviceId: 'd' }, 's'),
  ],
  [
    { type: 'login.failed', userId: 'u', method: 'password', reason: 'invalid_credentials' },
    facts('failure', null, 'u', { method: 'password', reason: 'invalid_credentials' }),
  ],
  [{ type: 'login.failed', userId: null, method: 'password', reason: 'invalid_credentials' }, null],
  [{ type: 'login.lockedOut', userId: null, until: 5, budget: 'address' }, null],
  [
    { type: 'login.lockedOut', userId: 'u', until: 5, budget: 'knownDevice' },
    facts('failure', null, 'u', { until: 5, budget: 'knownDevice' }),
  ],
  [
    { type: 'session.terminated', userId: 'u', sessionId: 's', reason: 'admin', actorId: 'a' },
    facts('success', 'a', 'u', { reason: 'admin' }, 's'),
  ],
  [{ type: 'session.allTerminated', actorId: 'a', targetId: 'u' }, facts('success', 'a', 'u')],
  [
    { type: 'password.changed', userId: 'u', by: 'reset' },
    facts('success', 'u', 'u', { by: 'reset' }),
  ],
  [
    { type: 'password.changeFailed', userId: 'u', sessionId: 's' },
    facts('failure', 'u', 'u', {}, 's'),
  ],
  [{ type: 'password.resetRequested', actorId: 'a', userId: 'u' }, facts('success', 'a', 'u')],
  [{ type: 'refresh.rotated', userId: 'u', sessionId: 's', generation: 2 }, null],
  [{ type: 'session.viewed', userId: 'u', sessionId: 's' }, null],
  [{ type: 'session.overdue', userId: 'u', sessionId: 's', reason: 'max_age' }, null],
  [
    {
      type: 'refresh.reissued',
      userId: 'u',
      sessionId: 's',
      generation: 2,
      otherClient: true,
      late: false,
    },
    facts('success', 'u', 'u', { generation: 2, otherClient: true, late: false }, 's'),
  ],
  [
    {
      type: 'refresh.unusual',
      userId: 'u',
      sessionId: 's',
      changed: ['network'],
      outcome: 'stepUp',
      assessed: false,
    },
    facts('failure', null, 'u', { changed: ['network'], outcome: 'stepUp', assessed: false }, 's'),
  ],
  [
    { type: 'refresh.replayDetected', userId: 'u', sessionId: 's', ...generations },
    facts('failure', null, 'u', generations, 's'),
  ],
  [
    { type: 'refresh.storeRolledBack', userId: 'u', sessionId: 's', ...generations },
    facts('failure', null, 'u', generations, 's'),
  ],
  ...(['permission_denied', 'human_principal_required'] as const).map(
    (reason) =>
      [
        { type: 'request.refused', userId: 'u', operation: 'updateMe', reason },
        facts('failure', 'u', null, { operation: 'updateMe', reason }),
      ] as const,
  ),
  ...(['invalid_token', 'token_expired'] as const).map(
    (reason) =>
      [
        { type: 'request.refused', userId: null, operation: 'verifyEmail', reason },
        facts('failure', null, null, { operation: 'verifyEmail', reason }),
      ] as const,
  ),
  ...['unauthorized', 'audience_mismatch', 'csrf_rejected', 'rate_limited', 'session_revoked'].map(
    (reason) =>
      [{ type: 'request.refused', userId: null, operation: 'logout', reason }, null] as const,
  ),
  [{ type: 'mail.failed', template: 'verifyEmail', userId: 'u' }, null],
  [{ type: 'audit.failed', action: 'login.failed' }, null],
]

const whole = (event: Bare<AuthEvent>) => ({ ...source, ...event }) as AuthEvent

describe('toAuditRecord', () => {
  it.each(table)('%j', (event, expected) => {
    const { type: action } = event
    const record = expected && { ...source, action, ...expected }
    expect(toAuditRecord(whole(event))).toEqual(record)
  })

  it.each(table)('keeps nothing it was not told to: %j', (event) => {
    const kept = toAuditRecord(whole(Object.assign({}, event, { password: 'hunter2' })))
    expect(JSON.stringify(kept)).not.toContain('hunter2')
  })
})

function setUp(records?: AuditRecords) {
  const clock = fakeClock(at + 1000)
  const logger = recordingLogger()
  const background = createBackgroundTasks(logger, later)
  const emitted: AuthEvent[] = []
  const publish = (event: AuthEvent) => emitted.push(event)
  const stored = memory().store.collection(specOf(surfaceCollections.auditRecords, 'client'))
  const audit = createAuditLog({
    records: records ?? stored,
    clock,
    random,
    background,
    retentionMs: 400 * day,
    emit: createEmit({ surface: 'client', clock, publish }),
  })
  return { audit, emitted, background, clock, logger, stored }
}

const event = whole({ type: 'password.changed', userId: 'u', by: 'change' })

describe('a record', () => {
  it('is of the event’s time and is kept so long from then', async () => {
    const { audit, background, stored } = setUp()
    audit.record(event)
    await background.drain()
    const [record, ...others] = await stored.find({ targetId: 'u' }, { limit: 10 })
    expect(others).toEqual([])
    expect(record).toEqual({
      ...source,
      ...facts('success', 'u', 'u', { by: 'change' }),
      action: 'password.changed',
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      expiresAt: at + 400 * day,
    })
    const time = Number.parseInt((record?.id ?? '').replace('-', '').slice(0, 12), 16)
    expect(time).toBe(at)
    expect((await stored.sweep(at + 400 * day - 1, 10)).removed).toBe(0)
    expect((await stored.sweep(at + 400 * day, 10)).removed).toBe(1)
  })

  it('is not written for an event that leaves none', async () => {
    const { audit, background, stored } = setUp()
    audit.record(whole({ type: 'refresh.rotated', userId: 'u', sessionId: 's', generation: 2 }))
    await background.drain()
    expect(await stored.due(9e12, 10)).toEqual([])
  })

  it('is written once an hour of re-issues to one session, address and browser', async () => {
    const { audit, background, clock, stored } = setUp()
    const reissue = (
      given: { ip?: string; userAgent?: string; otherClient?: boolean },
      sessionId = 's',
    ) =>
      audit.record({
        ...whole({
          ...{ type: 'refresh.reissued', userId: 'u', sessionId, generation: 2 },
          otherClient: given.otherClient ?? false,
          late: false,
        }),
        ...given,
      })
    for (let n = 0; n < 60; n += 1) reissue({})
    reissue({ ip: '203.0.113.9' })
    reissue({ userAgent: 'a poller' })
    reissue({}, 'another session')
    reissue({ otherClient: true })
    await background.drain()
    expect(await stored.due(9e12, 100)).toHaveLength(5)
    await clock.advance(60 * 60 * 1000 - 1)
    reissue({})
    await background.drain()
    expect(await stored.due(9e12, 100)).toHaveLength(5)
    await clock.advance(1)
    reissue({})
    await background.drain()
    expect(await stored.due(9e12, 100)).toHaveLength(6)
  })

  const find = async () => []
  const sweep = async () => ({ removed: 0, left: 0 })
  it.each<[string, AuditRecords['insert']]>([
    ['rejects', async () => Promise.reject(new Error('read-only'))],
    ['says that the id is taken', async () => false],
    [
      'throws at once',
      () => {
        throw new Error('closed')
      },
    ],
  ])('that fails is told of and logged, and not recorded: the store %s', async (_how, insert) => {
    let inserts = 0
    const records: AuditRecords = {
      find,
      sweep,
      insert(doc) {
        inserts += 1
        return insert(doc)
      },
    }
    const { audit, background, emitted, clock, logger } = setUp(records)
    audit.record(event)
    await background.drain()
    const failed = { ...source, type: 'audit.failed', at: clock.now(), action: event.type }
    expect(emitted).toEqual([failed])
    expect(logger.lines).toMatchObject([
      { level: 'error', message: 'writing an audit record failed' },
    ])
    expect(JSON.stringify(logger.lines)).not.toContain('192.0.2.1')
    for (const told of emitted) audit.record(told)
    await background.drain()
    expect(inserts).toBe(1)
  })

  it('written by work that was under way is waited for', async () => {
    const order: string[] = []
    const { audit, background } = setUp({
      find,
      sweep,
      async insert() {
        for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
        order.push('written')
        return true
      },
    })
    background.run('mail', async () => {
      await Promise.resolve()
      audit.record(event)
    })
    await background.drain()
    order.push('drained')
    expect(order).toEqual(['written', 'drained'])
  })
})

describe('reading', () => {
  it('is bounded', async () => {
    const { audit, background, clock } = setUp()
    for (let index = 0; index < 201; index += 1) audit.record({ ...event, at: at + index })
    await background.drain()
    expect(clock.now()).toBe(at + 1000)
    const first = await audit.log.ofTarget('u')
    expect(first.records).toHaveLength(50)
    expect(first.records[0]?.at).toBe(at + 200)
    const most = await audit.log.ofActor('u', { limit: 200 })
    expect(most.records).toHaveLength(200)
    const rest = await audit.log.ofActor('u', { limit: 200, after: most.next ?? '' })
    expect(rest.records.map((record) => record.at)).toEqual([at])
    expect(rest.next).toBeNull()
  })

  it('has no next page after one that is just full', async () => {
    const { audit, background } = setUp()
    for (let index = 0; index < 4; index += 1) audit.record(event)
    await background.drain()
    expect((await audit.log.ofTarget('u', { limit: 4 })).next).toBeNull()
    expect((await audit.log.ofTarget('u', { limit: 3 })).next).not.toBeNull()
  })

  it.each([
    ...[{ limit: 0 }, { limit: 201 }, { limit: 1.5 }, { limit: Number.NaN }, { after: 'a\0' }],
    // As the `next` of the last page is.
    JSON.parse('{"after":null}'),
  ])('refuses %j', async (page) => {
    const { log } = setUp().audit
    const [member] = Object.keys(page)
    for (const read of [log.ofActor, log.ofTarget]) {
      await expect(read('u', page)).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringMatching(new RegExp(`^A page's ${member} must be `)),
      })
    }
  })

  it('refuses an unknown member, with which it would begin at the first page', async () => {
    const page = JSON.parse('{"cursor":"a"}')
    await expect(setUp().audit.log.ofActor('u', page)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('do not include "cursor"'),
    })
  })

  it('refuses an id that is no text', async () => {
    const { log } = setUp().audit
    const refused = (name: string) => ({
      code: 'invalid_request',
      message: `${name} must be a text of at most 255 characters, well-formed and without NUL.`,
    })
    await expect(log.ofTarget('\ud800')).rejects.toMatchObject(refused('userId'))
    await expect(log.ofActor(undefined as never)).rejects.toMatchObject(refused('actorId'))
    await expect(log.ofActor('x'.repeat(256))).rejects.toMatchObject(refused('actorId'))
  })
})

describe('actBy', () => {
  it('takes what is given, and null for the rest', () => {
    const nobody = { actorId: null, source: { ip: null, userAgent: null } }
    expect(actBy({})).toEqual(nobody)
    const given = { actorId: 'a', ip: '::1', userAgent: `${'x'.repeat(511)}🦉` }
    const { source: kept, actorId } = actBy(given)
    expect([actorId, kept.ip, kept.userAgent?.slice(0, 511)]).toEqual(['a', '::1', 'x'.repeat(511)])
    expect(kept.userAgent?.isWellFormed()).toBe(true)
  })

  it.each([
    { actorId: '' },
    { actorId: 'x'.repeat(201) },
    { actorId: 'a\0' },
    { actorId: 7 },
    { ip: '\ud800' },
    { userAgent: 'a\0' },
    { role: 'admin' },
  ])('refuses %j', (given) => {
    expect(() => actBy(given as Actor)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        message: expect.stringContaining('{ actorId, ip, userAgent }'),
      }),
    )
  })
})
