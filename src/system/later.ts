/** Calls `run` in a later turn of the event loop, after the input and output that is waiting. */
export function later(run: () => void): void {
  setImmediate(run)
}
