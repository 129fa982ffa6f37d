/** The labels of a measurement. */
type Labels = Readonly<Record<string, string>>

interface InstrumentOptions {
  readonly description: string
  readonly unit?: string
  readonly advice?: { readonly explicitBucketBoundaries: number[] }
}

/** Counts up, or up and down. */
export interface MetricCounter {
  add(value: number, labels: Labels): void
}

export interface Histogram {
  record(value: number, labels: Labels): void
}

/** What the callback of an observable gauge reports to. */
export interface ObservableResult {
  observe(value: number, labels: Labels): void
}

export interface Meter {
  createCounter(name: string, options: InstrumentOptions): MetricCounter
  createUpDownCounter(name: string, options: InstrumentOptions): MetricCounter
  createHistogram(name: string, options: InstrumentOptions): Histogram
  createObservableGauge(
    name: string,
    options: InstrumentOptions,
  ): { addCallback(callback: (result: ObservableResult) => void): void }
}

/**
 * What makes metrics: the part of OpenTelemetry's `MeterProvider` that the library calls. A provider of `@opentelemetry/api`
 * fits, and so does one of its SDK.
 */
export interface MeterProvider {
  getMeter(name: string): Meter
}
