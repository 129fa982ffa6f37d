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
