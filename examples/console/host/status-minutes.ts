import {
  type DataPoint,
  DataPointType,
  type Histogram,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics'
import type { Durations, Minute } from './status-reply.ts'

type Scopes = ResourceMetrics['scopeMetrics']
type Labels = Readonly<Record<string, unknown>>

/** The minute `at` with what a reading of the metrics adds to it; `minute` is null for its first reading. */
export function recordIn(minute: Minute | null, at: number, scopes: Scopes): Minute {
  const read = readingOf(scopes)
  const events = (type: string, more: Labels = {}) =>
    read.sum('svc_auth_events_total', { type, ...more })
  const refreshes = (outcome: string) =>
    ['refresh', 'refreshCookie'].reduce(
      (sum, operation) => sum + read.sum('svc_auth_requests_total', { operation, outcome }),
      0,
    )
  const signedIn = 'login.succeeded'
  const backlog = read.sum('svc_auth_token_sweep_backlog_estimate')
  return {
    at,
    signIns: added(minute?.signIns, {
      client: events(signedIn, { surface: 'client' }),
      operator: events(signedIn, { surface: 'operator' }),
      failed: events('login.failed'),
    }),
    refreshes: added(minute?.refreshes, {
      renewed: refreshes('success'),
      refused: refreshes('refused'),
      failed: refreshes('failed'),
      replays: events('refresh.replayDetected'),
    }),
    hashes: {
      waiting: Math.max(minute?.hashes.waiting ?? 0, read.sum('svc_auth_hash_queue_length')),
      refused: (minute?.hashes.refused ?? 0) + read.sum('svc_auth_hash_queue_refused_total'),
    },
    requests: joined(minute?.requests, read.durations('svc_auth_request_duration_seconds')),
    hashWaits: joined(minute?.hashWaits, read.durations('svc_auth_hash_queue_wait_seconds')),
    backlog: read.has('svc_auth_token_sweep_backlog_estimate')
      ? backlog
      : (minute?.backlog ?? null),
  }
}

function added<K extends string>(
  before: Readonly<Record<K, number>> | undefined,
  now: Readonly<Record<K, number>>,
): Readonly<Record<K, number>> {
  if (before === undefined) return now
  const sums = Object.entries<number>(now).map(([key, value]) => [key, value + before[key as K]])
  return Object.fromEntries(sums) as Record<K, number>
}

/** The same buckets, since both are of one instrument; one that holds nothing has none. */
function joined(before: Durations | undefined, now: Durations): Durations {
  if (before === undefined || before.counts.length === 0) return now
  if (now.counts.length === 0) return before
  return {
    bounds: now.bounds,
    counts: now.counts.map((count, index) => count + (before.counts[index] ?? 0)),
  }
}

function readingOf(scopes: Scopes) {
  const all = scopes.flatMap(({ metrics }) => metrics)
  const points = (name: string, labels: Labels) =>
    all
      .filter(({ descriptor }) => descriptor.name === name)
      .flatMap((metric): readonly DataPoint<number>[] =>
        metric.dataPointType === DataPointType.SUM || metric.dataPointType === DataPointType.GAUGE
          ? metric.dataPoints
          : [],
      )
      .filter(({ attributes }) =>
        Object.entries(labels).every(([label, value]) => attributes[label] === value),
      )
  return {
    has: (name: string) => points(name, {}).length > 0,
    /** The sum over every series with these labels. */
    sum: (name: string, labels: Labels = {}) =>
      points(name, labels).reduce((sum, { value }) => sum + value, 0),
    durations: (name: string) =>
      all
        .filter(({ descriptor }) => descriptor.name === name)
        .flatMap((metric): readonly DataPoint<Histogram>[] =>
          metric.dataPointType === DataPointType.HISTOGRAM ? metric.dataPoints : [],
        )
        .map(({ value: { buckets } }) => ({ bounds: buckets.boundaries, counts: buckets.counts }))
        .reduce<Durations>(joined, { bounds: [], counts: [] }),
  }
}
