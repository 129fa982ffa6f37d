import { onceLoaded } from '../../concurrency/promises.js'
import { loadPart } from '../../errors/index.js'
import type { ActivateEnvironment } from './config-activation.js'
import type { ConfigActor, ConfigEditor, StatedPatch } from './config-patches.js'
import {
  type ConfigReader,
  type ConfigTarget,
  createConfigLocator,
  createConfigReader,
  type LocatedModule,
} from './config-reader.js'
import { createConfigRegistration } from './config-registration.js'
import {
  type ConfigDeps,
  type EnvironmentView,
  environmentView,
  fieldViews,
  type ModuleSummary,
  type ModuleView,
  moduleSummary,
  type Reencryption,
} from './config-views.js'
import { type ConfigRevision, createConfigHistory, createConfigWriter } from './config-writer.js'
import { createProcessRoll } from './process-roll.js'

/** What administrators do; never answered from a cache. */
export interface ConfigAdministration {
  list(): Promise<readonly ModuleSummary[]>
  module(name: string): Promise<ModuleView>
  environment(name: string, environment: string): Promise<EnvironmentView>
  history(name: string, environment: string): Promise<readonly ConfigRevision[]>
  /**
   * What a path names, for one write of it: the write is guarded by what was read here. Throws
   * `module_not_found`, or `environment_not_found` for an environment there is not.
   */
  locate(name: string, environment: string | null): Promise<ConfigTarget>
  /** Edits an environment, or the active one of a module. */
  patch(target: ConfigTarget, patch: StatedPatch, actor: ConfigEditor): Promise<EnvironmentView>
  activate(target: ConfigTarget, environment: string, actor: ConfigActor): Promise<Activation>
}

export interface Activation {
  readonly module: string
  readonly activeEnvironment: string
  readonly needsRestart: boolean
}

export interface ConfigStore extends ConfigAdministration {
  /** Registers the modules unless that was done; see `createConfigRegistration`. */
  register(): Promise<void>
  readonly reader: ConfigReader
  reencrypt(): Promise<Reencryption>
  /** For `inspectConfig`, which looks at what is stored and registers nothing. */
  readonly deps: Pick<ConfigDeps, 'collections' | 'modules'>
  /** This process is at its end: `needsRestart` counts it no more. Never rejects. */
  close(): Promise<void>
}

export function createConfigStore(deps: ConfigDeps): ConfigStore {
  const history = createConfigHistory(deps)
  const writer = createConfigWriter(deps, history)
  const roll = createProcessRoll(deps)
  const register = createConfigRegistration(deps, writer, roll)
  const locator = createConfigLocator(deps, register)
  // Few processes are ever asked to change anything.
  const patches = onceLoaded(async () => {
    const load = () => import('./config-patches.js')
    const { createConfigPatches } = await loadPart('changes of settings', load)
    return createConfigPatches(deps, locator, writer)
  })
  const activate: ActivateEnvironment = async (...asked) => {
    const load = () => import('./config-activation.js')
    const { createConfigActivation } = await loadPart('the switch of environments', load)
    return createConfigActivation(deps, locator, roll)(...asked)
  }
  // Once in the life of a key, and by one process.
  const reencrypt = async () => {
    const load = () => import('./config-reencryption.js')
    const { createReencryption } = await loadPart('re-encryption', load)
    return createReencryption(deps, locator, writer)()
  }
  const reader = createConfigReader(deps, locator)

  const isActive = ({ stored }: LocatedModule, name: string) => stored.activeEnvironment === name

  /** Drops what was read before a write, also before one that seems to have failed. */
  async function writing<T>(module: string, write: () => Promise<T>): Promise<T> {
    try {
      return await write()
    } finally {
      reader.drop(module)
    }
  }

  return {
    register,
    reader,
    reencrypt,
    deps,
    close: () => roll.close(),

    locate: (name, environment) => locator.target(name, environment),

    async list() {
      const names = [...deps.modules.keys()]
      const found = await Promise.all(names.map((name) => locator.module(name)))
      return found.map(({ stored }) => moduleSummary(stored, deps.clock.now()))
    },

    async module(name) {
      const located = await locator.module(name)
      const environments = await Promise.all(
        locator.names(located).map(async (environment) => {
          const { revision } = await locator.environment(located, environment)
          return { name: environment, active: isActive(located, environment), revision }
        }),
      )
      return {
        ...moduleSummary(located.stored, deps.clock.now()),
        environments,
        fields: fieldViews(located.declared),
      }
    },

    async environment(name, environment) {
      const { module: located, environment: found } = await locator.both(name, environment)
      const active = isActive(located, environment)
      return environmentView(located.declared, environment, active, found.stored)
    },

    async history(name, environment) {
      const { module: located } = await locator.both(name, environment)
      return history.list(located.declared, environment)
    },

    async patch(target, patch, actor) {
      const { name } = target.module.declared
      const done = await writing(name, async () => (await patches()).apply(target, patch, actor))
      const { located, written } = done
      const active = isActive(located, done.environment)
      return environmentView(located.declared, done.environment, active, written)
    },

    async activate({ module }, environment, actor) {
      const { name } = module.declared
      const written = await writing(name, () => activate(module, environment, actor))
      const { activeEnvironment, needsRestart } = moduleSummary(written, deps.clock.now())
      return { module: name, activeEnvironment, needsRestart }
    },
  }
}
