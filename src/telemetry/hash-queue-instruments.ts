import { metrics } from '@opentelemetry/api'
import type { HashQueueMetrics, MeterProvider } from '../ports/telemetry.js'
import { harmless } from './harmless.js'
import { secondsHistogram } from './seconds-histogram.js'

/**
 * The queue of password hashes: `svc_auth_hash_queue_length{holder}`,
 * `svc_auth_hash_queue_wait_seconds{holder}` and `svc_auth_hash_queue_refused_total{holder,reason}`.
 * Does nothing without a provider, which is read now: see `createTracing`.
 */
export function hashQueueInstruments(
  provider: MeterProvider = metrics.getMeterProvider(),
): HashQueueMetrics {
  const meter = provider.getMeter('postern')
  const length = meter.createUpDownCounter('svc_auth_hash_queue_length', {
    description: 'Password hashes that wait for their turn.',
  })
  const wait = secondsHistogram(
    meter,
    'svc_auth_hash_queue_wait_seconds',
    'How long password hashes waited for their turn.',
  )
  const refused = meter.createCounter('svc_auth_hash_queue_refused_total', {
    description: 'Password hashes refused: no room to wait (full), or no turn in time (late).',
  })
  return {
    waiting: (holder, change) => harmless(() => length.add(change, { holder })),
    started: (holder, waitedMs) => harmless(() => wait.record(waitedMs / 1000, { holder })),
    refused: (holder, reason) => harmless(() => refused.add(1, { holder, reason })),
  }
}
