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
