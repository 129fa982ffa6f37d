import type { Surface } from './surface.js'

/** How an operation ended, as its caller sees it. */
export interface Ended {
  /** The HTTP status of the reply. */
  readonly status: number
  /** The error's code; null when it was not refused. */
  readonly code: string | null
}

/**
 * Spans and counters. Told nothing but members of closed lists, so that no label can grow without
 * bound or tell of a person. Never throws, and never keeps a request from being served.
 */
export interface Tracing {
  /** Runs the work of one operation inside a span, and counts how it ended. */
  operation<T extends Ended>(
    surface: Surface,
    operation: string,
    work: () => Promise<T>,
  ): Promise<T>
  /** Counts an event by its type. */
  event(surface: Surface, type: string): void
}
