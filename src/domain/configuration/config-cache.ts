import type { Clock } from '../../ports/host.js'

/** Counted from the start of the load, and never extended by a reading. */
const lifeMs = 30_000

export interface ConfigCache<T> {
  /**
   * What was loaded less than 30 seconds ago, else a new load, which concurrent readers share.
   * Rejects as the load does: what is older than that is never given out.
   */
  get(): Promise<T>
  /** Forgets what was loaded, and what is being loaded for those who wait for it. */
  drop(): void
}

/**
 * `load` is given what was loaded last, so that it can give the same object again. 30 seconds after the last reading
 * nothing is kept any more, and `forgotten` is called: what was loaded has secrets in clear (ASVS 5.0 11.7.2).
 */
export function createConfigCache<T>(
  clock: Clock,
  load: (before: T | null) => Promise<T>,
  forgotten: () => void,
): ConfigCache<T> {
  let last: T | null = null
  let kept: { readonly value: Promise<T>; readonly since: number } | null = null
  let readAt = 0
  let isWatched = false

  function start(): Promise<T> {
    const mine = { value: loadOnce(), since: clock.now() }
    kept = mine
    // A failed load is over for those who waited for it; the next reader begins another one.
    mine.value.catch(() => {
      if (kept === mine) kept = null
    })
    return mine.value
  }

  async function loadOnce(): Promise<T> {
    const loaded = await load(last)
    last = loaded
    // The timer of the reading may have fired during a slow load: without a new one, the secrets would stay in memory.
    watch(lifeMs)
    return loaded
  }

  /** One timer, however often it is read. */
  function watch(ms: number): void {
    if (isWatched) return
    isWatched = true
    clock.after(ms, () => {
      isWatched = false
      const unread = clock.now() - readAt
      if (unread >= 0 && unread < lifeMs) watch(lifeMs - unread)
      else forget()
    })
  }

  function forget(): void {
    last = null
    kept = null
    forgotten()
  }

  return {
    get() {
      readAt = clock.now()
      if (kept === null) return start()
      const age = readAt - kept.since
      // A clock that stepped back must not keep old values in force.
      return age >= 0 && age < lifeMs ? kept.value : start()
    },
    drop() {
      kept = null
    },
  }
}
