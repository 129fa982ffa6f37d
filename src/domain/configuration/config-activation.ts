import { readModule } from '../../engine/configuration/read-module.js'
import type { Module } from '../../model/config-module.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { ConfigDeps } from './config-deps.js'
import type { ConfigLocator, LocatedModule } from './config-locator.js'
import type { ConfigActor } from './config-patches.js'
import { runValidator } from './config-validation.js'

/**
 * Makes an environment the active one: it exists, then the validator, then the write. Throws
 * 404, a `ConfigValidationError`, or 503, and then nothing was changed.
 */
export type ActivateEnvironment = (
  module: LocatedModule,
  environment: string,
  actor: ConfigActor,
) => Promise<Module>

type Deps = Pick<ConfigDeps, 'collections' | 'clock' | 'logger' | 'emit'>

/** More than there can be operators who switch at once. */
const attempts = 50

export function createConfigActivation(deps: Deps, locator: ConfigLocator): ActivateEnvironment {
  const { modules } = deps.collections

  async function validate(located: LocatedModule, environment: string): Promise<void> {
    const { declared } = located
    const stored = await locator.environment(located, environment)
    const { definition } = declared
    if (definition.validateActivation === undefined) return
    const { values } = declared.open(environment, stored.values)
    const context = { environment, values, settings: readModule(values, definition) }
    const run = () => definition.validateActivation?.(context)
    await runValidator(declared.name, run, declared.secretsIn(values), deps)
  }

  async function write(seen: Module, environment: string): Promise<Module | null> {
    const activations = seen.activations + 1
    // Set with every activation, also of the one that is active.
    const set = { activeEnvironment: environment, needsRestart: true, activations }
    try {
      return await modules.update(seen.id, { activations: seen.activations }, set)
    } catch (error) {
      // The answer was lost, but the write may have taken effect.
      const found = await modules.get(seen.id)
      if (found?.activations === activations && found.activeEnvironment === environment)
        return found
      throw error
    }
  }

  return async (seen, environment, actor) => {
    let located = seen
    const module = seen.declared.name
    await validate(located, environment)
    return retryOnConflict(attempts, async () => {
      const { stored } = located
      const written = await write(stored, environment)
      if (written !== null) {
        deps.emit('config.activated', actor.source, {
          actorId: actor.userId,
          module,
          environment,
          previous: stored.activeEnvironment,
        })
        return written
      }
      located = await locator.module(module)
      return conflict
    })
  }
}
