import { randomToken } from '../../crypto/secrets.js'
import { readModule } from '../../engine/configuration/module-values.js'
import type { Module, ModuleEnvironment } from '../../model/configuration.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { ConfigActor } from './config-patches.js'
import type { ConfigLocator, LocatedModule } from './config-reader.js'
import { runValidator } from './config-validation.js'
import type { ConfigDeps } from './config-views.js'
import type { ProcessRoll } from './process-roll.js'

/**
 * Makes an environment the active one. It looks the environment up, runs the validator, and writes only while the values
 * are those that the validator saw. Throws 404, a `ConfigValidationError`, or 503; the active environment is then
 * unchanged.
 */
export type ActivateEnvironment = (
  module: LocatedModule,
  environment: string,
  actor: ConfigActor,
) => Promise<Module>

type Deps = Pick<ConfigDeps, 'collections' | 'clock' | 'random' | 'background' | 'logger' | 'emit'>

/** More than there can be operators who switch at once. */
const attempts = 50

export function createConfigActivation(
  deps: Deps,
  locator: ConfigLocator,
  roll: Pick<ProcessRoll, 'withOwn'>,
): ActivateEnvironment {
  const { modules, environments } = deps.collections

  async function validate(
    { declared }: LocatedModule,
    environment: string,
    stored: ModuleEnvironment,
  ): Promise<void> {
    const { definition } = declared
    const { values, unreadable } = declared.open(environment, stored.values)
    const settings = readModule(values, definition)
    const context = { environment, values, unreadable, settings }
    const run = () => definition.validateActivation?.(context)
    await runValidator(declared.name, run, declared.secretsIn(values), deps)
  }

  async function write(seen: Module, environment: string): Promise<Module | null> {
    const revision = seen.revision + 1
    // Every activation counts, even of the environment that is active already. This process loaded older values, so it is
    // listed as one that awaits a restart.
    const counted = { activations: seen.activations + 1, processes: roll.withOwn(seen) }
    const set = { activeEnvironment: environment, ...counted, revision }
    try {
      return await modules.update(seen.id, { revision: seen.revision }, set)
    } catch (error) {
      // The answer was lost, but the write may have taken effect.
      const found = await modules.get(seen.id)
      const isSet = found?.activeEnvironment === environment && found.revision === revision
      if (isSet && found.activations === set.activations) return found
      throw error
    }
  }

  /**
   * The module is read first, then the values are judged and marked, then the module is written by what was read: an
   * edit of values that are marked moves the module before it moves them.
   */
  async function writeMarked(
    stored: Module,
    environment: string,
    judged: ModuleEnvironment,
  ): Promise<Module | null> {
    const { id, revision } = judged
    const activation = randomToken(deps.random, 16)
    const guard = { revision, activation: judged.activation }
    if ((await environments.update(id, guard, { activation })) === null) return null
    const written = await write(stored, environment)
    deps.background.run('clearing the mark of an activation', async () => {
      await environments.update(id, { activation }, { activation: null })
    })
    return written
  }

  return async (seen, environment, actor) => {
    const { definition, name: module } = seen.declared
    let located = seen
    let judged = ''
    return retryOnConflict(attempts, async () => {
      const { stored } = located
      const found = await locator.environment(located, environment)
      const isJudged = definition.validateActivation !== undefined
      if (isJudged && judged !== found.writeId) await validate(located, environment, found)
      judged = found.writeId
      await actor.askAgain?.()
      const written = isJudged
        ? await writeMarked(stored, environment, found)
        : await write(stored, environment)
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
