/** What came of work, and whether it was begun for another call that is answered by it as well. */
export interface Shared<T> {
  readonly value: T
  readonly isShared: boolean
}

/**
 * Work of one name that is under way is shared by the calls that come meanwhile. Its failure is that of
 * the call that began it alone: the others begin it once more.
 */
export function createSharedWork<T>(): (
  name: string,
  work: () => Promise<T>,
) => Promise<Shared<T>> {
  const underWay = new Map<string, Promise<T>>()
  return async (name, work) => {
    for (let other = underWay.get(name); other !== undefined; other = underWay.get(name)) {
      const ended = await other.then(
        (value) => ({ value, isShared: true }),
        () => null,
      )
      if (ended !== null) return ended
    }
    const mine = work()
    underWay.set(name, mine)
    try {
      return { value: await mine, isShared: false }
    } finally {
      underWay.delete(name)
    }
  }
}
