import { ahead } from '../../concurrency/promises.js'
import type { OpenedValues } from '../../crypto/secret-box.js'
import { AuthError, errorCatalogue } from '../../errors/index.js'
import { environmentId, type Module, type ModuleEnvironment } from '../../model/configuration.js'
import type { Clock } from '../../ports/host.js'
import type { ConfigDeps, RegisteredModule } from './config-views.js'

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

/** A module as declared and as stored. */
export interface LocatedModule {
  readonly declared: RegisteredModule
  readonly stored: Module
}

/** What a path names, as it was read. */
export interface ConfigTarget {
  readonly module: LocatedModule
  /** Null where the path names the module alone, whose active environment is meant. */
  readonly environment: { readonly name: string; readonly stored: ModuleEnvironment } | null
}

/** What a path names that names an environment. */
export interface LocatedEnvironment extends ConfigTarget {
  readonly environment: NonNullable<ConfigTarget['environment']>
}

/**
 * Finds what a path names, past every cache. A name reaches the store only after it
 * was found among the declared modules and environments, because a caller may send any text.
 */
export interface ConfigLocator {
  /** Throws `module_not_found`. */
  module(name: string): Promise<LocatedModule>
  /** Throws `environment_not_found`. */
  environment(located: LocatedModule, name: string): Promise<ModuleEnvironment>
  /** `both`, or the module alone for null. */
  target(module: string, environment: string | null): Promise<ConfigTarget>
  /**
   * A module and an environment of it, read beside each other. Throws as they do, the module's first: what came of the
   * environment is looked at only where the module was found.
   */
  both(module: string, environment: string): Promise<LocatedEnvironment>
  /** The declared environments, and the active one if it is no longer declared. */
  names(located: LocatedModule): readonly string[]
}

type LocatorDeps = Pick<ConfigDeps, 'collections' | 'modules'>

/** `registered` resolves once every module is there. */
export function createConfigLocator(
  deps: LocatorDeps,
  registered: () => Promise<void>,
): ConfigLocator {
  const { modules, environments } = deps.collections

  function names({ declared: { environments }, stored }: LocatedModule): readonly string[] {
    return [...new Set([...environments, stored.activeEnvironment])]
  }

  function declaredAs(name: string): RegisteredModule {
    const declared = deps.modules.get(name)
    if (declared !== undefined) return declared
    throw notFound('module_not_found', 'There are', [...deps.modules.keys()])
  }

  async function module(name: string): Promise<LocatedModule> {
    const declared = declaredAs(name)
    await registered()
    return found(declared)
  }

  async function found(declared: RegisteredModule): Promise<LocatedModule> {
    const stored = await modules.get(declared.name)
    if (stored === null) throw new AuthError('service_unavailable')
    return { declared, stored }
  }

  async function environment(
    located: LocatedModule,
    name: string,
    reading?: Promise<ModuleEnvironment | null>,
  ): Promise<ModuleEnvironment> {
    if (!names(located).includes(name)) {
      throw notFound('environment_not_found', 'It has', names(located))
    }
    const found = await (reading ?? environments.get(environmentId(located.declared.name, name)))
    if (found === null) throw new AuthError('environment_not_found')
    return found
  }

  /** An environment that is no longer declared is known only from the stored module, so it is read after the module. */
  async function both(moduleName: string, name: string): Promise<LocatedEnvironment> {
    const declared = declaredAs(moduleName)
    await registered()
    const finding = found(declared)
    const reading = declared.environments.includes(name)
      ? ahead(environments.get(environmentId(moduleName, name)))
      : undefined
    const located = await finding
    return {
      module: located,
      environment: { name, stored: await environment(located, name, reading) },
    }
  }

  return {
    module,
    environment,
    names,

    async target(moduleName, name) {
      if (name !== null) return both(moduleName, name)
      return { module: await module(moduleName), environment: null }
    },

    both,
  }
}

/** Only callers who may read or change modules get here, and both need the names. */
function notFound(
  code: 'module_not_found' | 'environment_not_found',
  begins: string,
  names: readonly string[],
): AuthError {
  const { detail } = errorCatalogue[code]
  return new AuthError(code, { detail: `${detail} ${begins} ${names.join(', ')}.` })
}
