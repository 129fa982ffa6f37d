import { createKeyedMutex } from '../../concurrency/background-tasks.js'
import { ahead } from '../../concurrency/promises.js'
import { AuthError, errorCatalogue } from '../../errors/index.js'
import { environmentId, type Module, type ModuleEnvironment } from '../../model/configuration.js'
import {
  type ConfigReader,
  createConfigReader,
  isSameVersion,
  type LoadedConfig,
} from './config-reader.js'
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
    reader: createConfigReader(deps.clock, deps.modules.keys(), (name, before) =>
      readActive(config, name, before),
    ),
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
    ? ahead(config.collections.environments.get(environmentId(module, name)))
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
