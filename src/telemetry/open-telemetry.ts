import type { BacklogGauge } from '../domain/sweep/sweeper.js'
import { loadPart } from '../errors/index.js'
import type { Clock } from '../ports/host.js'
import type { Surface } from '../ports/surface.js'
import type {
  Ended,
  HashQueueMetrics,
  Histogram,
  Meter,
  MeterProvider,
  MetricCounter,
  ObservableResult,
  Span,
  TracerProvider,
  Tracing,
} from '../ports/telemetry.js'

interface Providers {
  readonly meterProvider?: MeterProvider | undefined
  readonly tracerProvider?: TracerProvider | undefined
}

/** What spans are made with where OpenTelemetry is not installed. */
const noSpan: Span = { setAttributes() {}, setStatus() {}, end() {} }
const noTracerProvider: TracerProvider = {
  getTracer: () => ({ startActiveSpan: (_name, _options, run) => run(noSpan) }),
}
const noMeterProvider: MeterProvider = {
  getMeter: () => ({
    createCounter: () => ({ add() {} }),
    createUpDownCounter: () => ({ add() {} }),
    createHistogram: () => ({ record() {} }),
    createObservableGauge: () => ({ addCallback() {} }),
  }),
}

/**
 * The providers that the host gave, and in place of one that it did not give the global one of its
 * `@opentelemetry/api`. Without that package nothing is measured. The global ones are read now: the metrics API
 * has no proxy, so instruments made before the host registered its provider would stay dead.
 */
export async function providersOf({ meterProvider, tracerProvider }: Providers): Promise<{
  readonly meterProvider: MeterProvider
  readonly tracerProvider: TracerProvider
}> {
  if (meterProvider !== undefined && tracerProvider !== undefined) {
    return { meterProvider, tracerProvider }
  }
  const api = await loadPart('OpenTelemetry', openTelemetry)
  return {
    meterProvider: meterProvider ?? api?.metrics.getMeterProvider() ?? noMeterProvider,
    tracerProvider: tracerProvider ?? api?.trace.getTracerProvider() ?? noTracerProvider,
  }
}

/** The host's own copy of the API; null where it installed none. */
async function openTelemetry() {
  // Bundlers leave an import out that stands in a try, if they cannot find the package.
  try {
    return await import('@opentelemetry/api')
  } catch (error) {
    const code: unknown = Reflect.get(Object(error), 'code')
    if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') return null
    throw error
  }
}

/**
 * One span an operation, named by its id and of kind internal, because the request itself is the
 * host's to trace; the histogram `svc_auth_request_duration_seconds{surface,operation,status_class}`;
 * and the counters `svc_auth_requests_total{surface,operation,outcome}`,
 * `svc_auth_refusals_total{surface,operation,code}` and `svc_auth_events_total{surface,type}`. Does nothing without a provider.
 */
export function createTracing(
  { meterProvider = noMeterProvider, tracerProvider = noTracerProvider }: Providers,
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
      ignoreErrors(() => {
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
      ignoreErrors(() => durations.record(seconds, labels))
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
    ignoreErrors(() => describe(span, ended))
    return ended
  } finally {
    ignoreErrors(() => span.end())
  }
}

/** `SpanStatusCode.ERROR` of OpenTelemetry. */
const spanError = 2

/** Never the error itself: messages of drivers quote rows and values. */
function describe(span: Span, ended: Ended): void {
  const outcome = outcomeOf(ended)
  span.setAttributes({
    'http.response.status_code': ended.status,
    'postern.outcome': outcome,
    ...(ended.code === null ? {} : { 'error.type': ended.code }),
  })
  if (outcome === 'failed') span.setStatus({ code: spanError })
}

function outcomeOf({ status }: Ended): 'success' | 'refused' | 'failed' {
  if (status < 400) return 'success'
  return status < 500 ? 'refused' : 'failed'
}

function count(counter: MetricCounter, labels: Readonly<Record<string, string>>): void {
  ignoreErrors(() => counter.add(1, labels))
}

/**
 * The queue of password hashes: `svc_auth_hash_queue_length{holder}`,
 * `svc_auth_hash_queue_wait_seconds{holder}` and `svc_auth_hash_queue_refused_total{holder,reason}`.
 * Does nothing without a provider.
 */
export function hashQueueInstruments(provider: MeterProvider = noMeterProvider): HashQueueMetrics {
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
    waiting: (holder, change) => ignoreErrors(() => length.add(change, { holder })),
    started: (holder, waitedMs) => ignoreErrors(() => wait.record(waitedMs / 1000, { holder })),
    refused: (holder, reason) => ignoreErrors(() => refused.add(1, { holder, reason })),
  }
}

/**
 * The gauge `svc_auth_token_sweep_backlog_estimate{tier}`: expired refresh rows not yet removed.
 * Does nothing without a provider.
 */
export function createBacklogGauge(provider: MeterProvider = noMeterProvider): BacklogGauge {
  let backlog: ReadonlyMap<Surface, number> = new Map()
  let leads = false

  function observe(result: ObservableResult): void {
    for (const [tier, left] of backlog) result.observe(left, { tier })
    if (!leads) backlog = new Map()
  }

  provider
    .getMeter('postern')
    .createObservableGauge('svc_auth_token_sweep_backlog_estimate', {
      description: 'Expired refresh tokens that the sweep has not removed yet, up to 100,000.',
    })
    .addCallback(observe)

  return {
    show(left) {
      leads = true
      backlog = left
    },
    /**
     * A series no longer observed is no longer exported, says OpenTelemetry; its JavaScript SDK
     * repeats the last value for ever (opentelemetry-js issue 4096). So zero is observed once more
     * before the silence: a sum over replicas is right with either behaviour.
     */
    clear() {
      leads = false
      backlog = new Map([...backlog.keys()].map((tier) => [tier, 0] as const))
    },
  }
}

/** In seconds, with the bucket boundaries that OpenTelemetry's conventions advise for requests. */
function secondsHistogram(meter: Meter, name: string, description: string): Histogram {
  const explicitBucketBoundaries = [
    0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
  ]
  return meter.createHistogram(name, {
    description,
    unit: 's',
    advice: { explicitBucketBoundaries },
  })
}

/** Calls a provider, which is the host's: none of them may keep a request from being served. */
function ignoreErrors(call: () => void): void {
  try {
    call()
  } catch {
    // A provider that fails has its own ways to say so.
  }
}
