import { describe, expect, it } from 'vitest'
import { fetchGuards } from '../../adapters/fetch.js'
import { createTracing } from '../../src/telemetry/open-telemetry.js'
import { fakeClock } from '../../src/testing/fake-clock.js'
import { eachSurface } from '../support/hosts/matrix.js'
import { openHost } from '../support/hosts/open-host.js'
import { signedInPerson } from '../support/people/people.js'
import { telemetryRig } from './telemetry-rig.js'

const durations = 'svc_auth_request_duration_seconds'

/** What OpenTelemetry's conventions advise for `http.server.request.duration`. */
const advised = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

describe('the duration of requests', () => {
  it('is a histogram in seconds, one series an operation, surface and class of statuses', async () => {
    const { meterProvider, tracerProvider, histograms } = telemetryRig()
    const clock = fakeClock()
    const tracing = createTracing({ meterProvider, tracerProvider }, clock)
    const run = (operation: string, status: number, ms: number) =>
      tracing.operation('client', operation, async () => {
        await clock.advance(ms)
        return { status, code: null }
      })
    await run('login', 200, 40)
    await run('login', 204, 260)
    await run('login', 401, 3)
    await run('login', 503, 5_000)
    await run('oauthCallback', 302, 60_000)
    expect(await histograms()).toEqual([
      ...[
        { status_class: '2xx', count: 2, sum: 0.3, in: [0.05, 0.5] },
        { status_class: '4xx', count: 1, sum: 0.003, in: [0.005] },
        { status_class: '5xx', count: 1, sum: 5, in: [5] },
      ].map(({ status_class, count, sum, in: buckets }) => ({
        name: durations,
        unit: 's',
        labels: { surface: 'client', operation: 'login', status_class },
        ...{ count, sum, boundaries: advised, buckets },
      })),
      {
        name: durations,
        unit: 's',
        labels: { surface: 'client', operation: 'oauthCallback', status_class: '3xx' },
        ...{ count: 1, sum: 60, boundaries: advised, buckets: [Number.POSITIVE_INFINITY] },
      },
    ])
  })

  it('is never negative, where the clock is set back meanwhile', async () => {
    const { meterProvider, tracerProvider, histograms } = telemetryRig()
    const times = [5_000, 1_000]
    const now = () => times.shift() ?? 0
    const tracing = createTracing({ meterProvider, tracerProvider }, { now })
    await tracing.operation('client', 'login', async () => ({ status: 200, code: null }))
    expect(await histograms()).toMatchObject([{ count: 1, sum: 0 }])
  })

  eachSurface.it('is measured of every operation over HTTP', async (surface) => {
    const { meterProvider, histograms } = telemetryRig()
    const host = await openHost({ meterProvider })
    const { bearer } = await signedInPerson(host, surface)
    await host.send('GET', `/v1/auth/${surface}/me`, { bearer })
    await host.send('GET', `/v1/auth/${surface}/me`)
    const ofMe = (await histograms()).filter(({ labels }) => labels['operation'] === 'getMe')
    expect(ofMe).toMatchObject([
      { labels: { surface, operation: 'getMe', status_class: '2xx' }, count: 1 },
      { labels: { surface, operation: 'getMe', status_class: '4xx' }, count: 1 },
    ])
  })

  it('a route guard that admits measures nothing', async () => {
    const { meterProvider, points } = telemetryRig()
    const host = await openHost({ meterProvider })
    const { bearer } = await signedInPerson(host, 'client')
    const admit = fetchGuards(host.auth.client).requireUser()
    const request = () =>
      new Request('https://app.example.com/', { headers: { authorization: `Bearer ${bearer}` } })
    const before = await points()
    expect(await admit(request(), { remoteAddress: '10.1.2.3' })).toBeNull()
    expect(await points()).toEqual(before)
  })
})
