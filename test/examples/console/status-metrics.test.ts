import { afterEach, describe, expect, it } from 'vitest'
import { type StatusMetrics, statusMetrics } from '../../../examples/console/host/status-metrics.js'
import { percentile } from '../../../examples/console/pages/operator/status/percentile.js'
import { niceTop } from '../../../examples/console/pages/operator/status/plot-scale.js'

const minute = 60_000
const began = Date.UTC(2026, 0, 1, 12)

const opened: StatusMetrics[] = []
afterEach(() => Promise.all(opened.splice(0).map((metrics) => metrics.close())))

/** The metrics of a process that began at noon, and the library's instruments. */
function metricsAt() {
  const time = { now: began }
  const metrics = statusMetrics(() => time.now)
  opened.push(metrics)
  const meter = metrics.meterProvider.getMeter('postern')
  const events = meter.createCounter('svc_auth_events_total')
  const requests = meter.createCounter('svc_auth_requests_total')
  const advice = { explicitBucketBoundaries: [0.1, 1] }
  return {
    time,
    read: () => metrics.read(),
    event: (type: string, surface = 'client') => events.add(1, { type, surface }),
    request: (operation: string, outcome: string) =>
      requests.add(1, { operation, outcome, surface: 'client' }),
    took: meter.createHistogram('svc_auth_request_duration_seconds', { advice }),
    waits: meter.createUpDownCounter('svc_auth_hash_queue_length'),
    refused: meter.createCounter('svc_auth_hash_queue_refused_total'),
    backlog: meter.createGauge('svc_auth_token_sweep_backlog_estimate'),
  }
}

describe('the figures of a process', () => {
  it('are of each minute by itself, however often they are read in it', async () => {
    const { time, read, event, request } = metricsAt()
    event('login.succeeded')
    event('login.succeeded', 'operator')
    event('login.failed')
    request('refresh', 'success')
    request('refreshCookie', 'success')
    request('login', 'success')
    await read()
    time.now += 30_000
    event('login.succeeded')
    request('refreshCookie', 'refused')
    request('refresh', 'failed')
    event('refresh.replayDetected')
    await read()
    time.now += minute
    event('login.succeeded')
    const { minutes, startedAt, pid } = await read()
    expect([startedAt, pid]).toEqual([began, process.pid])
    expect(minutes).toMatchObject([
      {
        at: began,
        signIns: { client: 2, operator: 1, failed: 1 },
        refreshes: { renewed: 2, refused: 1, failed: 1, replays: 1 },
      },
      {
        at: began + minute,
        signIns: { client: 1, operator: 0, failed: 0 },
        refreshes: { renewed: 0, refused: 0, failed: 0, replays: 0 },
      },
    ])
  })

  it('tell of the hash queue the most that waited and all that were refused', async () => {
    const { time, read, waits, refused } = metricsAt()
    waits.add(3, { holder: 'client' })
    waits.add(2, { holder: 'operator' })
    refused.add(1, { holder: 'client', reason: 'full' })
    await read()
    waits.add(-4, { holder: 'client' })
    refused.add(2, { holder: 'client', reason: 'late' })
    expect((await read()).minutes).toMatchObject([{ hashes: { waiting: 5, refused: 3 } }])
    time.now += minute
    expect((await read()).minutes[1]).toMatchObject({ hashes: { waiting: 1, refused: 0 } })
  })

  it('join the durations of all operations, and of all readings of a minute', async () => {
    const { time, read, took } = metricsAt()
    took.record(0.05, { operation: 'login' })
    took.record(0.5, { operation: 'getMe' })
    await read()
    took.record(7, { operation: 'login' })
    const { minutes } = await read()
    expect(minutes).toMatchObject([{ requests: { bounds: [0.1, 1], counts: [1, 1, 1] } }])
    time.now += minute
    expect((await read()).minutes[1]).toMatchObject({ requests: { counts: [] } })
  })

  it('have a backlog in a process that sweeps, and none in another', async () => {
    const { read, backlog } = metricsAt()
    expect((await read()).minutes).toMatchObject([{ backlog: null }])
    backlog.record(7, { tier: 'client' })
    backlog.record(5, { tier: 'operator' })
    expect((await read()).minutes).toMatchObject([{ backlog: 12 }])
  })

  it('are kept for an hour', async () => {
    const { time, read } = metricsAt()
    for (let count = 0; count < 70; count += 1) {
      await read()
      time.now += minute
    }
    const { minutes } = await read()
    expect([minutes.length, minutes[0]?.at]).toEqual([60, began + 11 * minute])
  })
})

describe('a percentile of buckets', () => {
  it('is read off evenly within its bucket', () => {
    const bounds = [0.1, 0.5, 1]
    expect(percentile({ bounds, counts: [50, 50, 0, 0] }, 0.5)).toBe(0.1)
    expect(percentile({ bounds, counts: [50, 50, 0, 0] }, 0.75)).toBeCloseTo(0.3)
    expect(percentile({ bounds, counts: [10, 0, 0, 0] }, 0.99)).toBeCloseTo(0.099)
    expect(percentile({ bounds, counts: [0, 0, 0, 3] }, 0.99)).toBe(1)
    expect(percentile({ bounds, counts: [0, 0, 0, 0] }, 0.99)).toBeNull()
    expect(percentile({ bounds: [], counts: [] }, 0.99)).toBeNull()
  })
})

describe('the top of a scale, which has a whole number in its middle', () => {
  it.each([
    [0, 2],
    [1, 2],
    [3, 4],
    [7, 10],
    [10, 10],
    [120, 200],
    [401, 1_000],
  ])('of %d is %d', (value, top) => expect(niceTop(value)).toBe(top))
})
