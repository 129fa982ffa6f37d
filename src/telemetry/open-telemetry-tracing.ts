import { metrics, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Clock } from '../ports/host.js'
import type {
  Ended,
  MeterProvider,
  MetricCounter,
  Span,
  TracerProvider,
  Tracing,
} from '../ports/telemetry.js'
import { harmless } from './harmless.js'
import { secondsHistogram } from './seconds-histogram.js'

interface Providers {
  readonly meterProvider?: MeterProvider | undefined
  readonly tracerProvider?: TracerProvider | undefined
}

/**
 * One span an operation, named by its id and of kind internal, because the request itself is the
 * host's to trace; the histogram `svc_auth_request_duration_seconds{surface,operation,status_class}`;
 * and the counters `svc_auth_requests_total{surface,operation,outcome}`,
 * `svc_auth_refusals_total{surface,operation,code}` and `svc_auth_events_total{surface,type}`. Does nothing without a provider. The global ones are read
 * now: instruments made before the host registered its own would stay dead.
 */
export function createTracing(
  {
    meterProvider = metrics.getMeterProvider(),
    tracerProvider = trace.getTracerProvider(),
  }: Providers,
  clock: Pick<Clock, 'now'>,
): Tracing {
  const tracer = tracerProvider.getTracer('postern')
  const meter = meterProvider.getMeter('postern')
  const requests = meter.createCounter('svc_auth_requests_total', {
    description: 'Operations handled. The outcome is success, refused (4xx) or failed (5xx).',
  })
  const refusals = meter.createCounter('svc_auth_refusals_total', {
    description:
      'Operations that were refused (4xx), malformed requests among them, by error code.',
  })
  const durations = secondsHistogram(
    meter,
    'svc_auth_request_duration_seconds',
    'How long operations took, from the matched route to the reply.',
  )
  const events = meter.createCounter('svc_auth_events_total', {
    description: 'Security events by type.',
  })

  return {
    async operation(surface, operation, work) {
      const attributes = { 'postern.surface': surface }
      const begunAt = clock.now()
      // Held, so that a tracer that fails after it called back does not make the work run twice.
      const begun: { result?: ReturnType<typeof work> } = {}
      harmless(() => {
        tracer.startActiveSpan(operation, { attributes }, (span) => {
          begun.result = inSpan(span, work)
        })
      })
      const ended = await (begun.result ?? work())
      const outcome = outcomeOf(ended)
      count(requests, { surface, operation, outcome })
      // The code of a validator of the host's may be anything, and labels are of a closed list.
      if (outcome === 'refused')
        count(refusals, { surface, operation, code: ended.code ?? 'other' })
      // A clock that was set back in the meantime must not make a negative duration of it.
      const seconds = Math.max(0, clock.now() - begunAt) / 1000
      const labels = { surface, operation, status_class: `${Math.trunc(ended.status / 100)}xx` }
      harmless(() => durations.record(seconds, labels))
      return ended
    },

    event(surface, type) {
      count(events, { surface, type })
    },
  }
}

async function inSpan<T extends Ended>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    const ended = await work()
    harmless(() => describe(span, ended))
    return ended
  } finally {
    harmless(() => span.end())
  }
}

/** Never the error itself: messages of drivers quote rows and values. */
function describe(span: Span, ended: Ended): void {
  const outcome = outcomeOf(ended)
  span.setAttributes({
    'http.response.status_code': ended.status,
    'postern.outcome': outcome,
    ...(ended.code === null ? {} : { 'error.type': ended.code }),
  })
  if (outcome === 'failed') span.setStatus({ code: SpanStatusCode.ERROR })
}

function outcomeOf({ status }: Ended): 'success' | 'refused' | 'failed' {
  if (status < 400) return 'success'
  return status < 500 ? 'refused' : 'failed'
}

function count(counter: MetricCounter, labels: Readonly<Record<string, string>>): void {
  harmless(() => counter.add(1, labels))
}
