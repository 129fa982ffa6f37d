/**
 * Does work of one name one after the other, and work of different names side by side. `waited` tells the
 * work that other work of its name came first.
 */
export type WithLock = <T>(name: string, work: (waited: boolean) => Promise<T>) => Promise<T>

/**
 * Writers of one process would only make each other's compare-and-set fail. Between processes that
 * is for the compare-and-set alone: nothing depends on the lock.
 */
export function createKeyedMutex(): WithLock {
  const ends = new Map<string, Promise<unknown>>()
  return async (name, work) => {
    const before = ends.get(name)
    const mine = (before ?? Promise.resolve()).then(() => work(before !== undefined))
    const end = mine.then(nothing, nothing)
    ends.set(name, end)
    try {
      return await mine
    } finally {
      if (ends.get(name) === end) ends.delete(name)
    }
  }
}

function nothing(): void {}
