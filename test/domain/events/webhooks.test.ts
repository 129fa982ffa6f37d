import { createHmac } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { createBackgroundTasks } from '../../../src/concurrency/background-tasks.js'
import { sha256 } from '../../../src/crypto/secrets.js'
import { createEmit } from '../../../src/domain/events/audit-log.js'
import {
  createWebhooks,
  startWebhookRetries,
  type Webhooks,
} from '../../../src/domain/events/webhooks.js'
import { mostAttempts } from '../../../src/engine/webhook-delivery-rules.js'
import { collectionsOf } from '../../../src/model/collections.js'
import type { WebhookDelivery } from '../../../src/model/event-records.js'
import type { Backend } from '../../../src/ports/backend.js'
import type { AuthEvent } from '../../../src/ports/events.js'
import type { Collection } from '../../../src/ports/store.js'
import type { SecurityWebhook } from '../../../src/settings/anti-abuse-settings.js'
import { systemRandom } from '../../../src/system/machine.js'
import { later } from '../../../src/system/system-clock.js'
import { type FakeClock, fakeClock } from '../../../src/testing/fake-clock.js'
import { deferred } from '../../support/deferred.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'
import { type WebhookEndpoints, webhookEndpoints } from '../../support/outside/webhook-endpoint.js'

const hour = 3_600_000
const url = 'https://siem.example/in'
const audit = 'https://audit.example/in'
const siem: SecurityWebhook = {
  slug: 'siem',
  label: 'SIEM',
  url,
  signingSecret: 'first',
  previousSigningSecret: '',
  events: 'all',
}

/** One process that takes part, over a store several may share. */
interface Process {
  readonly webhooks: Webhooks
  readonly events: AuthEvent[]
  readonly logger: ReturnType<typeof recordingLogger>
  drain(): Promise<void>
}

let backend: Backend
let clock: FakeClock
let configured: readonly SecurityWebhook[]
/** Whether the store that has the settings is down. */
let unreadable: boolean
let endpoints: WebhookEndpoints
let stored: Collection<WebhookDelivery>

function startProcess(collection = stored, fetcher = endpoints): Process {
  const logger = recordingLogger()
  const background = createBackgroundTasks(logger, later)
  const events: AuthEvent[] = []
  const publish = (event: AuthEvent) => events.push(event)
  const webhooks = createWebhooks({
    deliveries: collection,
    settings: async () => {
      if (unreadable) throw new Error('down')
      return { securityWebhooks: configured }
    },
    fetcher,
    clock,
    random: systemRandom,
    background,
    emit: createEmit({ surface: 'client', clock, publish }),
    logger,
  })
  return { webhooks, events, logger, drain: () => background.drain() }
}

beforeEach(() => {
  backend = memory()
  clock = fakeClock(Date.UTC(2026, 0, 1))
  configured = [siem]
  unreadable = false
  endpoints = webhookEndpoints({ [url]: 'first', [audit]: 'second' })
  stored = collectionsOf(backend.store, 'client', '').webhookDeliveries
})

const source = () =>
  ({ surface: 'client', at: clock.now(), ip: '192.0.2.7', userAgent: 'curl' }) as const
const session = { userId: 'u-1', sessionId: 's-1' }
const login = (): AuthEvent => ({
  ...source(),
  ...session,
  type: 'login.succeeded',
  method: 'password',
  mfaMethod: null,
  amr: ['pwd'],
  deviceId: null,
})
const waiting = () => stored.due(Date.UTC(2100, 0, 1), 100)
const types = () => endpoints.received.map(({ body }) => body['type'])

describe('security webhooks', () => {
  it('get the whole event once, signed, with an id and an ISO 8601 time', async () => {
    const { webhooks, drain } = startProcess()
    webhooks.record(login())
    await drain()
    const [{ body } = { body: {} }] = endpoints.received
    const { at, ...facts } = login()
    expect(body).toEqual({ id: expect.any(String), ...facts, at: '2026-01-01T00:00:00.000Z' })
    expect(endpoints.received).toHaveLength(1)
    expect(await waiting()).toEqual([])
  })

  it('get only what they want, each under its own secret', async () => {
    const account = { ...siem, slug: 'audit', url: audit, signingSecret: 'second' }
    configured = [
      { ...siem, events: 'login' },
      { ...account, events: 'account' },
    ]
    const { webhooks, drain } = startProcess()
    webhooks.record(login())
    webhooks.record({ ...source(), type: 'password.changed', userId: 'u-1', by: 'reset' })
    webhooks.record({ ...source(), ...session, type: 'refresh.rotated', generation: 2 })
    const reissued = {
      ...source(),
      ...session,
      type: 'refresh.reissued',
      generation: 2,
      late: false,
    } as const
    webhooks.record({ ...reissued, otherClient: false })
    webhooks.record({ ...reissued, otherClient: true })
    await drain()
    const seen = endpoints.received.map(({ url: to, body }) => [to, body['type']])
    expect(seen.sort()).toEqual([
      [audit, 'password.changed'],
      [url, 'login.succeeded'],
      [url, 'refresh.reissued'],
    ])
  })

  it('are tried again with growing waits, the same body each time, and then given up', async () => {
    endpoints.answer(500)
    const process = startProcess()
    const retries = startWebhookRetries({
      webhooks: [process.webhooks],
      clock,
      logger: process.logger,
    })
    process.webhooks.record(login())
    await process.drain()
    expect(endpoints.received).toHaveLength(1)
    await clock.advance(29_000)
    expect(endpoints.received).toHaveLength(1)
    await clock.advance(11_000)
    expect(endpoints.received).toHaveLength(2)
    await clock.advance(24 * hour)
    expect(endpoints.received).toHaveLength(mostAttempts)
    expect(new Set(endpoints.received.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(await waiting()).toEqual([])
    expect(process.events).toEqual([
      expect.objectContaining({
        type: 'webhook.failed',
        webhook: 'siem',
        event: 'login.succeeded',
      }),
    ])
    await retries.close()
  })

  it('a redirect is a refusal; a later acknowledgement ends the retries', async () => {
    endpoints.answer(302)
    const { webhooks, drain, logger } = startProcess()
    const retries = startWebhookRetries({ webhooks: [webhooks], clock, logger })
    webhooks.record(login())
    await drain()
    endpoints.answer('refused')
    await clock.advance(60_000)
    endpoints.answer(200)
    await clock.advance(hour)
    expect(endpoints.received).toHaveLength(3)
    await clock.advance(24 * hour)
    expect(endpoints.received).toHaveLength(3)
    await retries.close()
  })

  it('stop after the removal, what is on its way included', async () => {
    endpoints.answer(500)
    const { webhooks, drain } = startProcess()
    webhooks.record(login())
    await drain()
    configured = []
    await clock.advance(hour)
    expect(await webhooks.deliverDue()).toBe('later')
    expect(await webhooks.deliverDue()).toBe('idle')
    webhooks.record(login())
    await drain()
    expect([endpoints.received.length, await waiting()]).toEqual([1, []])
  })

  it('of several processes that see a delivery due, one sends it', async () => {
    endpoints.answer(500)
    const processes = Array.from({ length: 4 }, () => startProcess())
    processes[0]?.webhooks.record(login())
    await processes[0]?.drain()
    await clock.advance(60_000)
    await Promise.all(processes.map(({ webhooks }) => webhooks.deliverDue()))
    expect(endpoints.received).toHaveLength(2)
  })

  it('a process that dies after claiming a delivery leaves it to the others', async () => {
    const dying = startProcess({ ...stored, take: () => new Promise(() => {}) })
    endpoints.answer('refused')
    dying.webhooks.record(login())
    await dying.drain()
    endpoints.answer(204)
    const other = startProcess()
    await clock.advance(60_000)
    await other.webhooks.deliverDue()
    expect([types(), await waiting()]).toEqual([['login.succeeded', 'login.succeeded'], []])
  })

  it('a crash in the last attempt leaves nothing behind for ever', async () => {
    await stored.insert({
      id: 'd-1',
      webhook: 'siem',
      addressHash: sha256(url),
      event: 'login.succeeded',
      body: '{}',
      attempts: mostAttempts,
      expiresAt: clock.now(),
    })
    const { webhooks, events } = startProcess()
    await webhooks.deliverDue()
    expect([endpoints.received.length, await waiting()]).toEqual([0, []])
    expect(events).toEqual([expect.objectContaining({ type: 'webhook.failed', webhook: 'siem' })])
  })

  it('a fetcher that never answers holds up nobody: the attempt has failed', async () => {
    const silent: WebhookEndpoints = { ...endpoints, fetch: () => new Promise(() => {}) }
    const { webhooks, drain } = startProcess(stored, silent)
    webhooks.record(login())
    const done = drain().then(() => 'done')
    await clock.advance(20_000)
    expect(await Promise.race([done, clock.advance(0)])).toBe('done')
    expect(await waiting()).toEqual([expect.objectContaining({ attempts: 1 })])
  })

  it('a fetcher that answers five seconds after its own limit is heard', async () => {
    const { promise: late, resolve: answer } = deferred<void>()
    const slow: WebhookEndpoints = {
      ...endpoints,
      async fetch(request) {
        const reply = await endpoints.fetch(request)
        await late
        return reply
      },
    }
    const { webhooks, drain } = startProcess(stored, slow)
    webhooks.record(login())
    const done = drain()
    await clock.advance(14_999)
    answer()
    await done
    expect(await waiting()).toEqual([])
  })

  it('a last attempt is left alone for a minute', async () => {
    endpoints.answer(500)
    const { webhooks, drain } = startProcess()
    webhooks.record(login())
    await drain()
    const [delivery] = await waiting()
    const last = { attempts: mostAttempts - 1, expiresAt: clock.now() }
    await stored.update(delivery?.id ?? '', { attempts: 1 }, last)
    const stuck = startProcess(stored, { ...endpoints, fetch: () => new Promise(() => {}) })
    void stuck.webhooks.deliverDue()
    await expect.poll(waiting).toEqual([expect.objectContaining({ attempts: mostAttempts })])
    await clock.advance(10_000)
    const other = startProcess()
    await other.webhooks.deliverDue()
    expect(other.events).toEqual([])
  })

  it('while there are no webhooks, deliveries are looked for every five minutes', async () => {
    configured = []
    let looks = 0
    const { webhooks, logger } = startProcess()
    const looking: Webhooks = {
      ...webhooks,
      async deliverDue() {
        looks += 1
        return webhooks.deliverDue()
      },
    }
    const retries = startWebhookRetries({ webhooks: [looking], clock, logger })
    await clock.advance(10_000)
    for (const [ms, seen] of [
      [299_999, 1],
      [1, 2],
    ] as const) {
      await clock.advance(ms)
      expect(looks).toBe(seen)
    }
    await retries.close()
  })

  it('while the settings cannot be read no attempt is used up', async () => {
    endpoints.answer(500)
    const { webhooks, drain } = startProcess()
    webhooks.record(login())
    await drain()
    await clock.advance(hour)
    unreadable = true
    for (let looks = 0; looks < 20; looks += 1) {
      await expect(webhooks.deliverDue()).rejects.toThrow('down')
    }
    unreadable = false
    endpoints.answer(204)
    await webhooks.deliverDue()
    expect([endpoints.received.length, await waiting()]).toEqual([2, []])
  })

  it('a secret that does not decrypt sends nothing, and is given up in the end', async () => {
    const damaged = Object.defineProperty({ ...siem }, 'signingSecret', {
      get: () => {
        throw new Error('cannot be decrypted')
      },
    })
    configured = [damaged]
    const { webhooks, drain, events, logger } = startProcess()
    webhooks.record(login())
    await drain()
    const retries = startWebhookRetries({ webhooks: [webhooks], clock, logger })
    await clock.advance(24 * hour)
    expect([endpoints.received.length, await waiting()]).toEqual([0, []])
    expect(events).toEqual([expect.objectContaining({ type: 'webhook.failed', webhook: 'siem' })])
    await retries.close()
  })

  it('a previous secret that does not decrypt signs nothing, and holds no delivery up', async () => {
    const damaged = Object.defineProperty({ ...siem }, 'previousSigningSecret', {
      get: () => {
        throw new Error('cannot be decrypted')
      },
    })
    configured = [damaged]
    const { webhooks, drain } = startProcess()
    webhooks.record(login())
    await drain()
    expect([endpoints.received.length, await waiting()]).toEqual([1, []])
  })

  it('a full page of due deliveries is followed by the next at once', async () => {
    endpoints.answer(500)
    const { webhooks, drain, logger } = startProcess()
    for (let count = 0; count < 45; count += 1) {
      webhooks.record(login())
      if (count % 15 === 0) await drain()
    }
    await drain()
    endpoints.answer(204)
    const retries = startWebhookRetries({ webhooks: [webhooks], clock, logger })
    await clock.advance(41_000)
    expect([endpoints.received.length, await waiting()]).toEqual([90, []])
    await retries.close()
  })

  it('of many events at once a few are attempted side by side, for each webhook', async () => {
    const other = { ...siem, slug: 'audit', url: audit, signingSecret: 'second' }
    configured = [siem, other]
    let open = 0
    let most = 0
    const held: (() => void)[] = []
    const slow: WebhookEndpoints = {
      ...endpoints,
      async fetch(request) {
        open += 1
        most = Math.max(most, open)
        await new Promise<void>((resolve) => held.push(resolve))
        open -= 1
        return endpoints.fetch(request)
      },
    }
    const { webhooks, drain, logger } = startProcess(stored, slow)
    for (let count = 0; count < 200; count += 1) webhooks.record(login())
    await expect.poll(() => stored.due(clock.now(), 1000)).toHaveLength(2 * (200 - 20))
    expect(most).toBe(40)
    const retries = startWebhookRetries({ webhooks: [webhooks], clock, logger })
    const done = drain()
    for (let looks = 0; looks < 60 && endpoints.received.length < 400; looks += 1) {
      for (const go of held.splice(0)) go()
      await clock.advance(10_000)
    }
    await done
    for (const go of held.splice(0)) go()
    await retries.close()
    expect(new Set(endpoints.received.map(({ body }) => body['id'])).size).toBe(400)
    expect(most).toBeLessThanOrEqual(60)
    expect(await waiting()).toEqual([])
  })

  it('under the slug of one that was removed, another gets nothing of its events', async () => {
    endpoints.answer(500)
    const { webhooks, drain } = startProcess()
    webhooks.record(login())
    await drain()
    configured = [{ ...siem, url: audit, signingSecret: 'second' }]
    endpoints.answer(204)
    await clock.advance(hour)
    await webhooks.deliverDue()
    expect([endpoints.received.map(({ url: to }) => to), await waiting()]).toEqual([[url], []])
    webhooks.record(login())
    await drain()
    expect(endpoints.received.map(({ url: to }) => to)).toEqual([url, audit])
  })

  it('a new secret signs what was on its way already', async () => {
    endpoints.answer(500)
    const { webhooks, drain } = startProcess()
    webhooks.record(login())
    await drain()
    const renewed = webhookEndpoints({ [url]: 'renewed' })
    configured = [{ ...siem, signingSecret: 'renewed' }]
    const other = startProcess(stored, renewed)
    await clock.advance(hour)
    await other.webhooks.deliverDue()
    expect([renewed.received.length, await waiting()]).toEqual([1, []])
  })

  it('a secret and its predecessor both sign, the new one first', async () => {
    const sent: (string | undefined)[] = []
    const bodies: string[] = []
    const endpoint: WebhookEndpoints = {
      ...endpoints,
      async fetch({ headers, body = '' }) {
        sent.push(headers['x-signature'])
        bodies.push(body)
        return { status: 204, body: '' }
      },
    }
    configured = [{ ...siem, signingSecret: 'second', previousSigningSecret: 'first' }]
    const { webhooks, drain } = startProcess(stored, endpoint)
    webhooks.record(login())
    await drain()
    const under = (secret: string) =>
      `sha256=${createHmac('sha256', secret)
        .update(bodies[0] ?? '')
        .digest('hex')}`
    expect(sent).toEqual([`${under('second')},${under('first')}`])
  })

  it('a failing store is logged without the event and without the secret', async () => {
    const down = { ...stored, due: () => Promise.reject(new Error('down')) }
    const { webhooks, logger } = startProcess(down)
    const retries = startWebhookRetries({ webhooks: [webhooks], clock, logger })
    await clock.advance(25_000)
    expect(logger.lines.filter(({ level }) => level === 'warn')).toHaveLength(2)
    expect(JSON.stringify(logger.lines)).not.toContain('first')
    await retries.close()
  })
})
