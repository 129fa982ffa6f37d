import type { OpenedValues } from '../../crypto/secret-box.js'
import { AuthError } from '../../errors/index.js'
import type { Clock } from '../../ports/host.js'

/** The active environment of a module, secrets decrypted. */
export interface LoadedConfig extends OpenedValues {
  readonly environment: string
  readonly revision: number
  /** Tells two writes of one revision apart: one may be of before a backup was restored. */
  readonly writeId: string
}

/**
 * What runs on a module's configuration reads it here, at most 30 seconds old. What was read is forgotten 30 seconds
 * after the last reading.
 */
export interface ConfigReader {
  /**
   * The same object until another environment or revision was read, or nothing for 30 seconds. Throws 503,
   * `module_not_found`.
   */
  load(module: string): Promise<LoadedConfig>
  /**
   * A function that parses what was loaded, once, and gives the same promise while that is kept. `isNew` is false
   * where the same revision was parsed before, and forgotten.
   */
  parsed<T>(module: string, parse: (loaded: LoadedConfig, isNew: boolean) => T): () => Promise<T>
  /** Forgets what was read of a module: it is being written. */
  drop(module: string): void
}

type Version = Pick<LoadedConfig, 'environment' | 'revision' | 'writeId'>

/** Reads the active environment of a module. It is given what was read last, which it gives again if it is in force. */
type ReadActive = (module: string, before: LoadedConfig | null) => Promise<LoadedConfig>

export function createConfigReader(
  clock: Clock,
  modules: Iterable<string>,
  read: ReadActive,
): ConfigReader {
  const caches = new Map<string, ConfigCache<LoadedConfig>>()
  /** What else is to be forgotten of a module. */
  const parsings = new Map<string, (() => void)[]>()
  for (const name of modules) {
    const own: (() => void)[] = []
    parsings.set(name, own)
    const load = (before: LoadedConfig | null) => read(name, before)
    const forgotten = () => {
      for (const forget of own) forget()
    }
    caches.set(name, createConfigCache(clock, load, forgotten))
  }

  /** The promise is the same while what was loaded is kept: two readings compare by it. */
  function load(module: string): Promise<LoadedConfig> {
    const cache = caches.get(module)
    return cache === undefined ? Promise.reject(new AuthError('module_not_found')) : cache.get()
  }

  return {
    load,

    parsed<T>(module: string, parse: (loaded: LoadedConfig, isNew: boolean) => T) {
      let source: Promise<LoadedConfig> | null = null
      let result: Promise<T> | null = null
      const { once, forget } = onceFor(parse)
      parsings.get(module)?.push(() => {
        source = null
        result = null
        forget()
      })
      return () => {
        const loading = load(module)
        if (result === null || loading !== source) {
          source = loading
          result = loading.then(once)
        }
        return result
      }
    },

    drop: (module) => caches.get(module)?.drop(),
  }
}

/** Parses again only what is not the object parsed last. It remembers the revision of an object that it forgot. */
function onceFor<T>(parse: (given: LoadedConfig, isNew: boolean) => T) {
  let last: { readonly given: LoadedConfig; readonly parsed: T } | null = null
  let known: Version | null = null
  return {
    once(given: LoadedConfig): T {
      if (last?.given === given) return last.parsed
      const parsed = parse(given, known === null || !isSameVersion(known, given))
      const { environment, revision, writeId } = given
      known = { environment, revision, writeId }
      last = { given, parsed }
      return parsed
    },
    forget(): void {
      last = null
    },
  }
}

export function isSameVersion(a: Version, b: Version): boolean {
  return a.environment === b.environment && a.revision === b.revision && a.writeId === b.writeId
}

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
