// A host whose own copy of the OpenTelemetry API has providers. Prints what they were told of one request.
import { randomBytes } from 'node:crypto'
import { createNoopMeter, metrics, type Tracer, trace } from '@opentelemetry/api'
import { createAuth, generateSigningKey } from 'postern'
import { fetchHandler } from 'postern/fetch'
import { memory } from 'postern/memory'

const spans: string[] = []
const counted = new Set<string>()
const span = trace.wrapSpanContext({ traceId: '', spanId: '', traceFlags: 0 })
const tracer: Tracer = {
  startSpan: () => span,
  startActiveSpan(name: string, ...rest: readonly unknown[]) {
    spans.push(name)
    const run = rest.at(-1)
    return typeof run === 'function' ? run(span) : undefined
  },
}
trace.setGlobalTracerProvider({ getTracer: () => tracer })
const meter = createNoopMeter()
metrics.setGlobalMeterProvider({
  getMeter: () => ({
    ...meter,
    createCounter: (name) => ({ add: () => void counted.add(name) }),
    createUpDownCounter: meter.createUpDownCounter.bind(meter),
    createHistogram: meter.createHistogram.bind(meter),
    createObservableGauge: meter.createObservableGauge.bind(meter),
  }),
})

const auth = await createAuth({
  backend: memory(),
  keys: { current: await generateSigningKey() },
  configKeys: [{ id: 'test', key: randomBytes(32).toString('base64') }],
  surfaces: {
    operator: { baseUrl: 'http://localhost:3000' },
    client: { baseUrl: 'http://localhost:3001' },
  },
  settings: { webauthnMode: 'passwordless' },
  mailer: { send: async () => undefined },
})
await auth.migrate()
const url = 'http://localhost:3000/v1/auth/operator/webauthn/login/options'
await fetchHandler(auth.both)(new Request(url, { method: 'POST' }))
await auth.close()
console.log(JSON.stringify({ spans, counted: [...counted] }))
