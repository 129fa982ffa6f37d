import { uuidv7 } from '../../crypto/secrets.js'
import { AuthError } from '../../errors/index.js'
import { environmentId, type ModuleEnvironment } from '../../model/configuration.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { ConfigDeps } from './config-deps.js'
import type { ConfigHistory } from './config-history.js'
import type { RegisteredModule } from './registered-module.js'

/** The next revision of an environment, secrets encrypted. */
export interface NextRevision {
  readonly values: Readonly<Record<string, string>>
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  readonly writtenBy: string | null
}

export interface ConfigWriter {
  /** False when there is such an environment already. */
  create(module: RegisteredModule, environment: string, first: NextRevision): Promise<boolean>
  /** Replaces `seen` by its next revision; null, changing nothing, when another write came first. */
  replace(
    module: RegisteredModule,
    environment: string,
    seen: ModuleEnvironment,
    next: NextRevision,
  ): Promise<ModuleEnvironment | null>
}

type Deps = Pick<ConfigDeps, 'collections' | 'clock' | 'random' | 'background'>

/** Every lost race is an activation, or another edit, that was written. */
const attempts = 50

/** The one place where values are written: never but by compare-and-set on the revision. */
export function createConfigWriter(deps: Deps, history: ConfigHistory): ConfigWriter {
  const { clock, random, collections } = deps
  const { environments, modules } = collections

  const stamp = () => ({ writtenAt: clock.now(), writeId: uuidv7(clock.now(), random) })

  return {
    async create(module, environment, first) {
      const id = environmentId(module.name, environment)
      return environments.insert({
        id,
        revision: 1,
        ...first,
        ...stamp(),
        activation: null,
        expiresAt: null,
      })
    },

    async replace(module, environment, seen, next) {
      const revision = seen.revision + 1
      const own = stamp()
      // Before the write, so that no crash leaves a revision without its record; racers all write
      // the same one, because it tells of the revision they replace and of nothing else.
      await history.appendRevision(module, environment, seen)
      if (seen.activation !== null) await withdrawActivation(module.name)
      const written = await writeOrExplain(seen, { revision, ...next, ...own, activation: null })
      if (written !== null) {
        deps.background.run('trimming the history of an environment', () =>
          history.trim(module.name, environment, revision),
        )
      }
      return written
    },
  }

  /** Call it before the values change: an activation that judged the earlier values can then no longer be written. */
  function withdrawActivation(module: string): Promise<unknown> {
    return retryOnConflict(attempts, async () => {
      const seen = await modules.get(module)
      if (seen === null) throw new AuthError('service_unavailable')
      const { revision } = seen
      const moved = await modules.update(module, { revision }, { revision: revision + 1 })
      return moved ?? conflict
    })
  }

  async function writeOrExplain(
    seen: ModuleEnvironment,
    set: Omit<ModuleEnvironment, 'id' | 'expiresAt'>,
  ): Promise<ModuleEnvironment | null> {
    try {
      const { revision, activation } = seen
      return await environments.update(seen.id, { revision, activation }, set)
    } catch (error) {
      if (!(error instanceof AuthError)) throw error
      // The answer was lost, but the write may have taken effect.
      const found = await environments.get(seen.id)
      if (found?.writeId === set.writeId) return found
      throw error
    }
  }
}
