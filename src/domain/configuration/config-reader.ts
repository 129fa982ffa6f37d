import type { OpenedValues } from '../../crypto/secret-box.js'
import { AuthError } from '../../errors/index.js'
import { type ConfigCache, createConfigCache } from './config-cache.js'
import type { ConfigDeps } from './config-deps.js'
import type { ConfigLocator } from './config-locator.js'

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

type Deps = Pick<ConfigDeps, 'modules' | 'clock'>

export function createConfigReader(deps: Deps, locator: ConfigLocator): ConfigReader {
  const caches = new Map<string, ConfigCache<LoadedConfig>>()
  /** What else is to be forgotten of a module. */
  const parsings = new Map<string, (() => void)[]>()
  for (const name of deps.modules.keys()) {
    const own: (() => void)[] = []
    parsings.set(name, own)
    const load = (before: LoadedConfig | null) => read(name, before)
    const forgotten = () => {
      for (const forget of own) forget()
    }
    caches.set(name, createConfigCache(deps.clock, load, forgotten))
  }

  async function read(name: string, before: LoadedConfig | null): Promise<LoadedConfig> {
    const located = await locator.module(name)
    const { activeEnvironment: environment } = located.stored
    const found = await locator.environment(located, environment)
    const { revision, writeId, values } = found
    if (before !== null && isSame(before, { environment, revision, writeId })) return before
    return { environment, revision, writeId, ...located.declared.open(environment, values) }
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
      const parsed = parse(given, known === null || !isSame(known, given))
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

function isSame(a: Version, b: Version): boolean {
  return a.environment === b.environment && a.revision === b.revision && a.writeId === b.writeId
}
