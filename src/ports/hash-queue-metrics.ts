import type { Surface } from './surface.js'

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
