import { DataPointType, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
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

export interface HistogramPoint extends Omit<Point, 'value'> {
  readonly unit: string
  readonly count: number
  /** To the millisecond. */
  readonly sum: number
  readonly boundaries: readonly number[]
  /** The upper bounds of the buckets that hold something. */
  readonly buckets: readonly number[]
}

/** The real SDKs, and what they hold. */
export interface TelemetryRig {
  readonly meterProvider: MeterProvider
  readonly tracerProvider: BasicTracerProvider
  spans(): readonly ReadableSpan[]
  /** Every series of every instrument. */
  points(): Promise<readonly Point[]>
  /** Every series of every histogram. */
  histograms(): Promise<readonly HistogramPoint[]>
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

  async function histograms(): Promise<readonly HistogramPoint[]> {
    const { resourceMetrics } = await reader.collect()
    const all = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics)
    return all.flatMap((metric) => {
      if (metric.dataPointType !== DataPointType.HISTOGRAM) return []
      const { name, unit } = metric.descriptor
      return metric.dataPoints.map(({ attributes, value }) => {
        const { boundaries, counts } = value.buckets
        const bounds = [...boundaries, Number.POSITIVE_INFINITY]
        return {
          ...{ name, unit, labels: attributes, count: value.count, boundaries },
          sum: Math.round((value.sum ?? 0) * 1000) / 1000,
          buckets: bounds.filter((_bound, index) => (counts[index] ?? 0) > 0),
        }
      })
    })
  }

  return {
    meterProvider,
    tracerProvider,
    points,
    histograms,
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
