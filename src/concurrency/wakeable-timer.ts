import type { Clock } from '../ports/host.js'

/** The one wait of a background loop, which others may cut short. */
export interface WakeableTimer {
  /** Resolves `ms` milliseconds from now, or at the next `wake`. One wait at a time. */
  wait(ms: number): Promise<void>
  /** Ends the wait under way, if there is one. */
  wake(): void
}

export function createWakeableTimer(clock: Clock): WakeableTimer {
  let wake = (): void => {}
  return {
    wait: (ms) =>
      new Promise<void>((resolve) => {
        const cancel = clock.after(Math.max(0, ms), resolve)
        wake = () => {
          // Resolving is not enough: a timer left behind would keep this closure for hours.
          cancel()
          resolve()
        }
      }),
    wake: () => wake(),
  }
}
