import { type MeterProvider, metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { afterEach, describe, expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import { errorCatalogue } from '../../src/errors/index.js'
import { operations } from '../../src/operations/index.js'
import { createTracing } from '../../src/telemetry/open-telemetry.js'
import { fakeClock } from '../../src/testing/fake-clock.js'
import type { HostOptions } from '../support/hosts/hosts.js'
import { refreshCookieOf, textOf } from '../support/hosts/http-client.js'
import { eachSurface } from '../support/hosts/matrix.js'
import { mailedToken, openHost, outcomeOf, surfaces } from '../support/hosts/open-host.js'
import {
  goodPassword,
  otherPassword,
  signedInApp,
  signedInPerson,
} from '../support/people/people.js'
import { faultyBackend } from '../support/stores/faulty-backend.js'
import { type Point, telemetryRig } from './telemetry-rig.js'

const requests = 'svc_auth_requests_total'
const refusals = 'svc_auth_refusals_total'
const events = 'svc_auth_events_total'
const durations = 'svc_auth_request_duration_seconds'
const queueLength = 'svc_auth_hash_queue_length'
const queueWait = 'svc_auth_hash_queue_wait_seconds'

/** Without what starting a host tells of. */
const sinceTheStart = (points: readonly Point[]) =>
  points.filter(({ labels }) => labels['type'] !== 'config.seeded')

async function openRig(options: HostOptions = {}) {
  const rig = telemetryRig()
  const { meterProvider, tracerProvider } = rig
  const host = await openHost({ meterProvider, tracerProvider, ...options })
  return { ...rig, host }
}

eachSurface.describe('spans', (surface) => {
  const at = (path: string): string => `/v1/auth/${surface}${path}`

  it('are one an operation, and say how it ended and nothing else', async () => {
    const store = faultyBackend(memory())
    const { host, spans } = await openRig({ backend: store.backend })
    const { bearer, refreshToken } = await signedInApp(host, surface)
    await host.send('GET', at('/me'), { bearer })
    await host.send('POST', at('/refresh'), { body: { refreshToken } })
    await host.send('GET', at('/me'))
    await host.send('POST', at('/login'), { body: 'nothing of the kind' })
    store.failNext('denylist.find', 'before')
    await host.send('GET', at('/me'), { bearer })

    const shown = spans().map(({ name, kind, attributes, status, events, links }) => {
      return { name, kind, attributes, status: status.code, events, links }
    })
    const span = (name: string, outcome: string, http: number, code?: string) => ({
      name,
      kind: SpanKind.INTERNAL,
      attributes: {
        'postern.surface': surface,
        'postern.outcome': outcome,
        'http.response.status_code': http,
        ...(code === undefined ? {} : { 'error.type': code }),
      },
      status: outcome === 'failed' ? SpanStatusCode.ERROR : SpanStatusCode.UNSET,
      events: [],
      links: [],
    })
    expect(shown).toEqual([
      span('mobileLogin', 'success', 200),
      span('getMe', 'success', 200),
      span('refresh', 'success', 200),
      span('getMe', 'refused', 401, 'unauthorized'),
      span('login', 'refused', 400, 'invalid_request'),
      span('getMe', 'failed', 503, 'session_enforcement_unavailable'),
    ])
  })

  it('say of an unexpected error only that there was one', async () => {
    const authorizer = {
      check: async () => {
        throw new Error('SELECT name FROM people WHERE email = ada@example.org')
      },
    }
    const { host, spans, exported } = await openRig({ authorizer })
    const { bearer } = await signedInPerson(host, surface)
    await host.send('GET', at('/me'), { bearer })
    expect(spans().at(-1)?.attributes).toMatchObject({
      'error.type': 'authorization_unavailable',
      'postern.outcome': 'failed',
    })
    expect(await exported()).not.toMatch(/SELECT|ada@/)
  })

  it('are of the surface an unprefixed path chose', async () => {
    const { host, spans } = await openRig()
    const { cookie } = await signedInPerson(host, surface)
    await host.send('POST', '/v1/auth/refresh-cookie', { cookie })
    const { name, attributes } = spans().at(-1) ?? {}
    expect([name, attributes?.['postern.surface']]).toEqual(['refreshCookie', surface])
  })

  it('are not made for what is no operation', async () => {
    const { host, spans, points } = await openRig()
    await host.send('GET', at('/nope'))
    await host.send('PUT', at('/me'))
    expect([spans(), sinceTheStart(await points())]).toEqual([[], []])
  })
})

describe('labels', () => {
  it('are of closed lists, and hold no secret, address or id of anybody', async () => {
    const { host, points, spans, exported } = await openRig()
    const secrets: string[] = [goodPassword, otherPassword, 'canary', '198.51.100.77']
    const headers = { 'x-forwarded-for': '198.51.100.77', 'user-agent': 'agent-canary' }
    for (const surface of surfaces) {
      const email = `canary-${surface}@example.org`
      const post = (path: string, body: unknown, more: { bearer?: string; cookie?: string } = {}) =>
        host.send('POST', `/v1/auth/${surface}${path}`, { body, headers, ...more })
      await post('/register', { email, password: goodPassword, name: 'canary name' })
      const mailed = await mailedToken(host, 'verifyEmail', email)
      await post('/email/verify', { token: mailed, newPassword: goodPassword })
      await post('/email/verify', { token: mailed, newPassword: goodPassword })
      await post('/login', { email, password: 'canary-wrong' })
      const web = await post('/login', { email, password: goodPassword })
      const cookie = refreshCookieOf(web, surface)
      const app = await post('/mobile/login', { email, password: goodPassword })
      const bearer = textOf(app.json(), 'accessToken')
      const refreshToken = textOf(app.json(), 'refreshToken')
      const next = await post('/refresh', { refreshToken })
      await post('/refresh', { refreshToken })
      await post('/refresh-cookie', {}, { cookie })
      await post('/password/forgot', { email })
      const reset = await mailedToken(host, 'resetPassword', email)
      await post('/password/reset', { token: reset, newPassword: otherPassword })
      await post('/logout', {}, { bearer })
      const user = await host.auth[surface].users.findByEmail(email)
      secrets.push(email, mailed, reset, cookie, bearer, refreshToken, user?.id ?? '')
      secrets.push(textOf(next.json(), 'refreshToken'), textOf(next.json(), 'accessToken'))
    }
    await host.auth.close()
    secrets.push(...host.events.flatMap((event) => ('sessionId' in event && event.sessionId) || []))

    const seen = await exported()
    expect(secrets.length).toBeGreaterThan(30)
    for (const secret of secrets) expect(seen, secret).not.toContain(secret)

    const names = operations.map(({ id }) => id)
    const allowed: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> = {
      [requests]: {
        surface: surfaces,
        operation: names,
        outcome: ['success', 'refused', 'failed'],
      },
      [refusals]: {
        surface: surfaces,
        operation: names,
        code: [...Object.keys(errorCatalogue), 'other'],
      },
      [events]: {
        surface: surfaces,
        type: ['config.seeded', ...host.events.map(({ type }) => type)],
      },
      [durations]: { surface: surfaces, operation: names, status_class: ['2xx', '4xx'] },
      [queueLength]: { holder: [...surfaces, 'host'] },
      [queueWait]: { holder: [...surfaces, 'host'] },
    }
    const found = await points()
    const instruments = new Set(found.map(({ name }) => name))
    // Hashes that follow one another do not wait, so there may be no series of the length.
    expect(new Set([...instruments, queueLength])).toEqual(new Set(Object.keys(allowed)))
    for (const { name, labels } of found) {
      const lists = allowed[name] ?? {}
      expect(Object.keys(labels).sort()).toEqual(Object.keys(lists).sort())
      for (const [label, value] of Object.entries(labels)) expect(lists[label]).toContain(value)
    }
    const counted = found.filter(({ name }) => name === events)
    // The start told of one, before anything was listened to.
    const total = counted.reduce((sum, { value }) => sum + Number(value), 0)
    expect(total).toBe(host.events.length + 1)

    for (const { name, attributes } of spans()) {
      expect(names).toContain(name)
      const { 'error.type': code = 'unauthorized', ...others } = attributes
      expect(Object.keys(errorCatalogue)).toContain(code)
      expect(Object.keys(others).sort()).toEqual([
        'http.response.status_code',
        'postern.outcome',
        'postern.surface',
      ])
    }
  })
})

describe('counters', () => {
  it('count what was handled, what was refused and why, and what was told', async () => {
    const { host, points } = await openRig()
    const { bearer } = await signedInPerson(host, 'client')
    for (let count = 0; count < 3; count += 1) {
      await host.send('GET', '/v1/auth/client/me', { bearer })
    }
    await host.send('GET', '/v1/auth/client/me')
    const malformed = { method: 'POST', path: '/v1/auth/client/login' } as const
    const post = (body: unknown, headers = {}) =>
      host.send(malformed.method, malformed.path, { body, headers })
    for (const body of [{ email: 1 }, { email: ['x'] }, '{']) await post(body)
    await post('x'.repeat(70_000))
    await post('<x/>', { 'content-type': 'application/xml' })
    const client = { surface: 'client' }
    const login = { ...client, operation: 'login' }
    const getMe = { ...client, operation: 'getMe' }
    const counted = (await points()).filter(({ name }) =>
      [requests, refusals, events].includes(name),
    )
    expect(new Set(sinceTheStart(counted))).toEqual(
      new Set([
        { name: requests, labels: { ...client, operation: 'login', outcome: 'success' }, value: 1 },
        { name: requests, labels: { ...login, outcome: 'refused' }, value: 5 },
        { name: refusals, labels: { ...login, code: 'invalid_request' }, value: 3 },
        { name: refusals, labels: { ...login, code: 'payload_too_large' }, value: 1 },
        { name: refusals, labels: { ...login, code: 'unsupported_media_type' }, value: 1 },
        { name: refusals, labels: { ...getMe, code: 'unauthorized' }, value: 1 },
        { name: requests, labels: { ...getMe, outcome: 'success' }, value: 3 },
        { name: requests, labels: { ...getMe, outcome: 'refused' }, value: 1 },
        { name: events, labels: { ...client, type: 'account.created' }, value: 1 },
        { name: events, labels: { ...client, type: 'login.succeeded' }, value: 1 },
        { name: events, labels: { ...client, type: 'request.refused' }, value: 1 },
      ]),
    )
  })
})

describe('the providers', () => {
  afterEach(() => {
    metrics.disable()
    trace.disable()
  })

  it('are the global ones, as they are when the library is made', async () => {
    const late = telemetryRig()
    const early = await openHost()
    metrics.setGlobalMeterProvider(late.meterProvider)
    await signedInPerson(early, 'client')
    expect(await late.points()).toEqual([])
    metrics.disable()

    const { meterProvider, tracerProvider, spans, points } = telemetryRig()
    metrics.setGlobalMeterProvider(meterProvider)
    trace.setGlobalTracerProvider(tracerProvider)
    await signedInPerson(await openHost(), 'client')
    expect(spans().map(({ name }) => name)).toEqual(['login'])
    expect((await points()).map(({ name }) => name)).toContain(requests)
  })

  it.each(['meterProvider', 'tracerProvider'])('must be one: %s', async (option) => {
    await expect(openHost({ [option]: {} })).rejects.toMatchObject({ name: 'OptionsError', option })
  })

  it('that throw keep no request from being served, nor serve it twice', async () => {
    const no = () => {
      throw new Error('no')
    }
    const meter = {
      createCounter: () => ({ add: no }),
      createHistogram: () => ({ record: no }),
    }
    // Far from whole, as a broken provider would be.
    const meterProvider = { getMeter: () => meter } as unknown as MeterProvider
    const span = { setAttributes: no, setStatus: no, end: no }
    const tracers = [
      { startActiveSpan: no },
      {
        startActiveSpan(_name: string, _options: unknown, work: (given: unknown) => unknown) {
          work(span)
          no()
        },
      },
    ]
    for (const tracer of tracers) {
      const tracerProvider = { getTracer: () => tracer as never }
      const tracing = createTracing({ meterProvider, tracerProvider }, fakeClock())
      let runs = 0
      const ended = await tracing.operation('client', 'login', async () => {
        runs += 1
        return { status: 200, code: null }
      })
      tracing.event('client', 'login.succeeded')
      expect([ended.status, runs]).toEqual([200, 1])
    }
  })

  it('end the span of work that rejects, and pass the rejection on', async () => {
    const { meterProvider, tracerProvider, spans } = telemetryRig()
    const tracing = createTracing({ meterProvider, tracerProvider }, fakeClock())
    const work = async () => Promise.reject(new Error('lost'))
    await expect(tracing.operation('client', 'login', work)).rejects.toThrow('lost')
    expect(spans().map(({ name }) => name)).toEqual(['login'])
  })

  it('may be absent: everything works without', async () => {
    const host = await openHost()
    const { bearer } = await signedInPerson(host, 'operator')
    expect(outcomeOf(await host.send('GET', '/v1/auth/operator/me', { bearer }))).toBe('200')
  })
})
