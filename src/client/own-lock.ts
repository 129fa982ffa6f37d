/** Runs work while nothing else runs that was given to the same lock. */
export type Hold = <T>(work: () => Promise<T>) => Promise<T>

/** A lock of this page or process alone, in the order of the calls. */
export function ownLock(): Hold {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }
}
