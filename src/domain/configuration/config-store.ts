import { createKeyedMutex } from '../../concurrency/background-tasks.js'
import { startEarly } from '../../concurrency/promises.js'
import type { OpenedValues } from '../../crypto/secret-box.js'
import { AuthError, errorCatalogue } from '../../errors/index.js'
import { environmentId, type Module, type ModuleEnvironment } from '../../model/configuration.js'
import type { Clock } from '../../ports/host.js'
import { createProcessRoll, type ProcessRoll, registration } from './config-registration.js'
import {
  type ConfigDeps,
  type EnvironmentView,
  environmentView,
  fieldViews,
  type ModuleSummary,
  type ModuleView,
  moduleSummary,
  type RegisteredModule,
} from './config-views.js'
import { type ConfigRevision, historyOf } from './config-writer.js'

/** The configuration of the modules: the first argument of everything that reads and writes it. */
export interface Configuration extends ConfigDeps {
  /** Registers the modules unless that was done. Throws 503. */
  readonly register: () => Promise<void>
  readonly reader: ConfigReader
  /** This process among those that use the modules. */
  readonly roll: ProcessRoll
  /** One writer of a module in this process at a time. */
  readonly withLock: ReturnType<typeof createKeyedMutex>
}

export function createConfiguration(deps: ConfigDeps): Configuration {
  const roll = createProcessRoll(deps)
  const config: Configuration = {
    ...deps,
    roll,
    register: registration(deps, roll),
    reader: createConfigReader(deps.clock, deps.modules.keys(), (name, before) => {
      const read = () => readActive(config, name, before)
      // Others wait for the same reading, so it does not end with the request that began it.
      return deps.afterReply?.(read) ?? read()
    }),
    withLock: createKeyedMutex(),
  }
  return config
}

async function readActive(
  config: Configuration,
  name: string,
  before: LoadedConfig | null,
): Promise<LoadedConfig> {
  const located = await locateModule(config, name)
  const { activeEnvironment: environment } = located.stored
  const found = await storedEnvironment(config, located, environment)
  const { revision, writeId, values } = found
  if (before !== null && isSameVersion(before, { environment, revision, writeId })) return before
  return { environment, revision, writeId, ...located.declared.open(environment, values) }
}

/** A module as declared and as stored. */
export interface LocatedModule {
  readonly declared: RegisteredModule
  readonly stored: Module
}

/** What a path names, as it was read. */
export interface ConfigTarget {
  readonly module: LocatedModule
  /** `null` where the path names the module alone, whose active environment is meant. */
  readonly environment: { readonly name: string; readonly stored: ModuleEnvironment } | null
}

/** What a path names that names an environment. */
interface LocatedEnvironment extends ConfigTarget {
  readonly environment: NonNullable<ConfigTarget['environment']>
}

// What a path names is found past every cache. A name reaches the store only after it was found among the declared
// modules and environments, because a caller may send any text.

/** Throws `module_not_found`. */
export async function locateModule(config: Configuration, name: string): Promise<LocatedModule> {
  const declared = declaredAs(config, name)
  await config.register()
  return found(config, declared)
}

/**
 * What a path names, for one write of it: the write is guarded by what was read here. `null` names the module alone.
 * Throws `module_not_found`, or `environment_not_found` for an environment there is not.
 */
export async function locateConfig(
  config: Configuration,
  module: string,
  environment: string | null,
): Promise<ConfigTarget> {
  if (environment !== null) return locateBoth(config, module, environment)
  return { module: await locateModule(config, module), environment: null }
}

/**
 * A module and an environment of it, read beside each other. Throws as they do, the module's first: what came of the
 * environment is looked at only where the module was found. An environment that is no longer declared is known only
 * from the stored module, so it is read after the module.
 */
async function locateBoth(
  config: Configuration,
  module: string,
  name: string,
): Promise<LocatedEnvironment> {
  const declared = declaredAs(config, module)
  await config.register()
  const finding = found(config, declared)
  const reading = declared.environments.includes(name)
    ? startEarly(config.collections.environments.get(environmentId(module, name)))
    : undefined
  const located = await finding
  const stored = await storedEnvironment(config, located, name, reading)
  return { module: located, environment: { name, stored } }
}

/** The declared environments, and the active one if it is no longer declared. */
export function environmentNames({ declared, stored }: LocatedModule): readonly string[] {
  return [...new Set([...declared.environments, stored.activeEnvironment])]
}

/** Throws `environment_not_found`. */
export async function storedEnvironment(
  { collections: { environments } }: Pick<ConfigDeps, 'collections'>,
  located: LocatedModule,
  name: string,
  reading?: Promise<ModuleEnvironment | null>,
): Promise<ModuleEnvironment> {
  if (!environmentNames(located).includes(name)) {
    throw notFound('environment_not_found', 'It has', environmentNames(located))
  }
  const found = await (reading ?? environments.get(environmentId(located.declared.name, name)))
  if (found === null) throw new AuthError('environment_not_found')
  return found
}

function declaredAs({ modules }: Pick<ConfigDeps, 'modules'>, name: string): RegisteredModule {
  const declared = modules.get(name)
  if (declared !== undefined) return declared
  throw notFound('module_not_found', 'There are', [...modules.keys()])
}

async function found(
  { collections: { modules } }: Pick<ConfigDeps, 'collections'>,
  declared: RegisteredModule,
): Promise<LocatedModule> {
  const stored = await modules.get(declared.name)
  if (stored === null) throw new AuthError('service_unavailable')
  return { declared, stored }
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

export const isActive = ({ stored }: LocatedModule, name: string) =>
  stored.activeEnvironment === name

/** All modules, as administrators list them; never from a cache, as everything below. */
export async function moduleSummaries(config: Configuration): Promise<readonly ModuleSummary[]> {
  const names = [...config.modules.keys()]
  const all = await Promise.all(names.map((name) => locateModule(config, name)))
  return all.map(({ stored }) => moduleSummary(stored, config.clock.now()))
}

export async function viewModule(config: Configuration, name: string): Promise<ModuleView> {
  const located = await locateModule(config, name)
  const environments = await Promise.all(
    environmentNames(located).map(async (environment) => {
      const { revision } = await storedEnvironment(config, located, environment)
      return { name: environment, active: isActive(located, environment), revision }
    }),
  )
  return {
    ...moduleSummary(located.stored, config.clock.now()),
    environments,
    fields: fieldViews(located.declared),
  }
}

export async function viewEnvironment(
  config: Configuration,
  name: string,
  environment: string,
): Promise<EnvironmentView> {
  const { module: located, environment: found } = await locateBoth(config, name, environment)
  const active = isActive(located, environment)
  return environmentView(located.declared, environment, active, found.stored)
}

export async function listRevisions(
  config: Configuration,
  name: string,
  environment: string,
): Promise<readonly ConfigRevision[]> {
  const { module: located } = await locateBoth(config, name, environment)
  return historyOf(config, located.declared, environment)
}

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

function createConfigReader(
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

function isSameVersion(a: Version, b: Version): boolean {
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
