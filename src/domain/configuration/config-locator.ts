import { ahead } from '../../concurrency/promises.js'
import { AuthError, errorCatalogue } from '../../errors/index.js'
import { environmentId, type Module, type ModuleEnvironment } from '../../model/configuration.js'
import type { ConfigDeps } from './config-deps.js'
import type { RegisteredModule } from './registered-module.js'

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

type Deps = Pick<ConfigDeps, 'collections' | 'modules'>

/** `registered` resolves once every module is there. */
export function createConfigLocator(deps: Deps, registered: () => Promise<void>): ConfigLocator {
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
