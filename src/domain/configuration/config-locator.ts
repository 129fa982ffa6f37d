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

/**
 * Finds what a path names, past every cache. Whatever text a name is, no store sees it before it
 * turned out to be that of a declared module or environment.
 */
export interface ConfigLocator {
  /** Throws `module_not_found`. */
  declared(name: string): RegisteredModule
  /** Throws `module_not_found`. */
  module(name: string): Promise<LocatedModule>
  /** Throws `environment_not_found`. */
  environment(located: LocatedModule, name: string): Promise<ModuleEnvironment>
  /** The declared environments, and the active one should it be declared no more. */
  names(located: LocatedModule): readonly string[]
}

type Deps = Pick<ConfigDeps, 'collections' | 'modules'>

/** `registered` resolves once every module is there. */
export function createConfigLocator(deps: Deps, registered: () => Promise<void>): ConfigLocator {
  const { modules, environments } = deps.collections

  function declared(name: string): RegisteredModule {
    const found = deps.modules.get(name)
    if (found === undefined) throw new AuthError('module_not_found')
    return found
  }

  function names({ declared: { environments }, stored }: LocatedModule): readonly string[] {
    return [...new Set([...environments, stored.activeEnvironment])]
  }

  return {
    declared,
    names,

    async module(name) {
      const found = declared(name)
      await registered()
      const stored = await modules.get(name)
      if (stored === null) throw new AuthError('service_unavailable')
      return { declared: found, stored }
    },

    async environment(located, name) {
      if (!names(located).includes(name)) throw new AuthError('environment_not_found')
      const found = await environments.get(environmentId(located.declared.name, name))
      if (found === null) throw new AuthError('environment_not_found')
      return found
    },
  }
}
