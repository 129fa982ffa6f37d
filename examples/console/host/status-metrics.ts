import {
  AggregationTemporality,
  InstrumentType,
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics'
import { recordIn } from './status-minutes.ts'
import type { Minute, StatusReply } from './status-reply.ts'

export interface StatusMetrics {
  /** For `createAuth`. */
  readonly meterProvider: MeterProvider
  /** As of now. */
  read(): Promise<StatusReply>
  close(): Promise<void>
}

const minuteMs = 60_000
const shownMinutes = 60

/**
 * Keeps the library's metrics of the last hour in this process, a minute each. A real host sends them to where it keeps
 * those of all its processes, by an exporter of OpenTelemetry.
 */
export function statusMetrics(now: () => number): StatusMetrics {
  const startedAt = now()
  const minutes = new Map<number, Minute>()
  const record = (metrics: ResourceMetrics['scopeMetrics']) => {
    const at = Math.floor(now() / minuteMs) * minuteMs
    minutes.set(at, recordIn(minutes.get(at) ?? null, at, metrics))
    for (const old of minutes.keys()) if (old <= at - shownMinutes * minuteMs) minutes.delete(old)
  }
  const reader = new PeriodicExportingMetricReader({
    exporter: keepingExporter(({ scopeMetrics }) => record(scopeMetrics)),
    exportIntervalMillis: 10_000,
  })
  const meterProvider = new MeterProvider({ readers: [reader] })
  return {
    meterProvider,
    async read() {
      await reader.forceFlush()
      // Where there was nothing to tell, the exporter was not called.
      record([])
      return { pid: process.pid, startedAt, minutes: [...minutes.values()] }
    },
    close: () => meterProvider.shutdown(),
  }
}

/** Is given what was added since the last time, but of gauges and lengths their value. */
function keepingExporter(keep: (metrics: ResourceMetrics) => void): PushMetricExporter {
  const added = [InstrumentType.COUNTER, InstrumentType.HISTOGRAM]
  return {
    export(metrics, done) {
      keep(metrics)
      done({ code: 0 })
    },
    selectAggregationTemporality: (type) =>
      added.includes(type) ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE,
    forceFlush: async () => {},
    shutdown: async () => {},
  }
}
