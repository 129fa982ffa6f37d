import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'

/** Collects when asked, and never by a timer. */
class ManualReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

export interface Point {
  readonly name: string
  readonly labels: Readonly<Record<string, unknown>>
  readonly value: unknown
}

/** The real SDKs, and what they hold. */
export interface TelemetryRig {
  readonly meterProvider: MeterProvider
  readonly tracerProvider: BasicTracerProvider
  spans(): readonly ReadableSpan[]
  /** Every series of every instrument. */
  points(): Promise<readonly Point[]>
  /** All that would leave the process, as text. */
  exported(): Promise<string>
}

export function telemetryRig(): TelemetryRig {
  const exporter = new InMemorySpanExporter()
  const reader = new ManualReader()
  const meterProvider = new MeterProvider({ readers: [reader] })
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  })

  async function points(): Promise<readonly Point[]> {
    const { resourceMetrics } = await reader.collect()
    return resourceMetrics.scopeMetrics.flatMap(({ metrics }) =>
      metrics.flatMap(({ descriptor, dataPoints }) =>
        dataPoints.map(({ attributes, value }) => ({
          name: descriptor.name,
          labels: attributes,
          value,
        })),
      ),
    )
  }

  return {
    meterProvider,
    tracerProvider,
    points,
    spans: () => exporter.getFinishedSpans(),
    async exported() {
      const spans = exporter
        .getFinishedSpans()
        .map(({ name, attributes, events, links, status, resource }) => {
          return { name, attributes, events, links, status, resource: resource.attributes }
        })
      return JSON.stringify({ spans, points: await points() })
    },
  }
}
