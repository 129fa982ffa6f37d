import type { Surface } from './surface.js'

/** The outcome of an operation, as its caller sees it. */
export interface Ended {
  /** The HTTP status of the reply. */
  readonly status: number
  /** The error's code; null for a success. */
  readonly code: string | null
}

/**
 * Spans and counters. Every label comes from a closed list, so labels stay bounded and hold no
 * personal data. Never throws and never fails a request.
 */
export interface Tracing {
  /** Runs the work of one operation inside a span and counts its outcome. */
  operation<T extends Ended>(
    surface: Surface,
    operation: string,
    work: () => Promise<T>,
  ): Promise<T>
  /** Counts an event by its type. */
  event(surface: Surface, type: string): void
}

/** The headers that a host can have its request ids read from. */
export type RequestIdHeader = 'x-request-id' | 'traceparent'

/**
 * Does the work of a request, of which log lines then tell the request's id and the operation: its id, or the name of a
 * route guard.
 */
export type InRequest = <T>(
  operation: string,
  request: { header(name: RequestIdHeader): string | undefined },
  work: () => T,
) => T

/** Waits for what the caller sends: the request's own time stands still meanwhile. */
export type Untimed = <T>(work: () => Promise<T>) => Promise<T>

/** The surface whose callers a password hash is for; `host` for the host's own code. */
export type HashHolder = Surface | 'host'

/** Told of hashes that wait for their turn. Never throws. */
export interface HashQueueMetrics {
  /** One more waits (1), or one less (-1). */
  waiting(holder: HashHolder, change: 1 | -1): void
  /** A hash got its turn after so many milliseconds; 0 where it did not have to wait. */
  started(holder: HashHolder, waitedMs: number): void
  /** A hash was refused: there was no room to wait (`full`), or its turn did not come in time (`late`). */
  refused(holder: HashHolder, reason: 'full' | 'late'): void
}

type Attributes = Readonly<Record<string, string | number>>

export interface Span {
  setAttributes(attributes: Attributes): unknown
  /** Codes as OpenTelemetry numbers them: 2 is an error. */
  setStatus(status: { readonly code: number }): unknown
  end(): void
}

/**
 * What makes spans: the part of OpenTelemetry's `TracerProvider` that the library calls. A provider of
 * `@opentelemetry/api` fits, and so does one of its SDK.
 */
export interface TracerProvider {
  getTracer(name: string): {
    /** Calls `run` at once, with a span that is the active one meanwhile. */
    startActiveSpan(
      name: string,
      options: { readonly attributes: Attributes },
      run: (span: Span) => void,
    ): void
  }
}

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
