import type { OpenedValues } from '../../crypto/sealed-values.js'
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

/** What runs on a module's configuration reads it here, at most 30 seconds old. */
export interface ConfigReader {
  /** The same object until another environment or revision was read. Throws 503, `module_not_found`. */
  load(module: string): Promise<LoadedConfig>
  /** A function that parses what was loaded, once, and gives the same promise while that is kept. */
  parsed<T>(module: string, parse: (loaded: LoadedConfig) => T): () => Promise<T>
  /** Forgets what was read of a module: it is being written. */
  drop(module: string): void
}

type Version = Pick<LoadedConfig, 'revision' | 'writeId'>

type Deps = Pick<ConfigDeps, 'modules' | 'clock'>

export function createConfigReader(deps: Deps, locator: ConfigLocator): ConfigReader {
  const caches = new Map<string, ConfigCache<LoadedConfig>>()
  for (const name of deps.modules.keys()) {
    caches.set(
      name,
      createConfigCache(deps.clock, (before) => read(name, before)),
    )
  }

  async function read(name: string, before: LoadedConfig | null): Promise<LoadedConfig> {
    const located = await locator.module(name)
    const { activeEnvironment: environment } = located.stored
    const found = await locator.environment(located, environment)
    if (before?.environment === environment && isSame(before, found)) return before
    const { revision, writeId, values } = found
    return { environment, revision, writeId, ...located.declared.open(environment, values) }
  }

  /** The promise is the same while what was loaded is kept: two readings compare by it. */
  function load(module: string): Promise<LoadedConfig> {
    const cache = caches.get(module)
    return cache === undefined ? Promise.reject(new AuthError('module_not_found')) : cache.get()
  }

  return {
    load,

    parsed<T>(module: string, parse: (loaded: LoadedConfig) => T) {
      let source: Promise<LoadedConfig> | null = null
      let result: Promise<T> | null = null
      const once = onceFor(parse)
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

/** Parses again only what is not the object parsed last. */
function onceFor<In, Out>(parse: (given: In) => Out): (given: In) => Out {
  let last: { readonly given: In; readonly parsed: Out } | null = null
  return (given) => {
    if (last === null || last.given !== given) last = { given, parsed: parse(given) }
    return last.parsed
  }
}

function isSame(a: Version, b: Version): boolean {
  return a.revision === b.revision && a.writeId === b.writeId
}
