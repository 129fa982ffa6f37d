import { AuthError } from '../../errors/index.js'
import type { Module } from '../../model/config-module.js'
import { environmentId, type ModuleEnvironment } from '../../model/module-environment.js'
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

/**
 * Finds what a path names, past every cache. Whatever text a name is, no store sees it before it
 * turned out to be that of a declared module or environment.
 */
export interface ConfigLocator {
  /** Throws `module_not_found`. */
  module(name: string): Promise<LocatedModule>
  /** Throws `environment_not_found`. */
  environment(located: LocatedModule, name: string): Promise<ModuleEnvironment>
  /** Both of a path, or the module for null. Throws as they do. */
  target(module: string, environment: string | null): Promise<ConfigTarget>
  /** The declared environments, and the active one should it be declared no more. */
  names(located: LocatedModule): readonly string[]
}

type Deps = Pick<ConfigDeps, 'collections' | 'modules'>

/** `registered` resolves once every module is there. */
export function createConfigLocator(deps: Deps, registered: () => Promise<void>): ConfigLocator {
  const { modules, environments } = deps.collections

  function names({ declared: { environments }, stored }: LocatedModule): readonly string[] {
    return [...new Set([...environments, stored.activeEnvironment])]
  }

  async function module(name: string): Promise<LocatedModule> {
    const declared = deps.modules.get(name)
    if (declared === undefined) throw new AuthError('module_not_found')
    await registered()
    const stored = await modules.get(name)
    if (stored === null) throw new AuthError('service_unavailable')
    return { declared, stored }
  }

  async function environment(located: LocatedModule, name: string): Promise<ModuleEnvironment> {
    if (!names(located).includes(name)) throw new AuthError('environment_not_found')
    const found = await environments.get(environmentId(located.declared.name, name))
    if (found === null) throw new AuthError('environment_not_found')
    return found
  }

  return {
    module,
    environment,
    names,

    async target(moduleName, name) {
      const located = await module(moduleName)
      if (name === null) return { module: located, environment: null }
      return { module: located, environment: { name, stored: await environment(located, name) } }
    },
  }
}
