import type { ModuleDefinition } from '../../config/define-module.js'
import type { FieldDeclaration } from '../../engine/configuration/config-declaration.js'
import {
  type FieldValues,
  guardedValues,
  readModule,
} from '../../engine/configuration/module-values.js'
import { AuthError } from '../../errors/index.js'
import { type Actor, actBy } from '../context/actor.js'
import { patchConfig, reencryptConfig } from './config-changes.js'
import {
  type Configuration,
  type LoadedConfig,
  listRevisions,
  locateConfig,
  viewEnvironment,
  viewModule,
} from './config-store.js'
import {
  type ConfigChange,
  checkedChange,
  type EnvironmentView,
  joinReencryptions,
  type ModuleView,
  type Reencryption,
} from './config-views.js'
import type { ConfigRevision } from './config-writer.js'

/** The configuration of modules, for the host's code: no permission is checked. */
export interface ConfigApi {
  /**
   * The values of a module of `createAuth({ modules })` in its active environment, as their declared
   * types, with secrets decrypted, frozen, at most 30 seconds old. Throws `AuthError`
   * `module_not_found`, and `service_unavailable` when the values cannot be read; neither older values
   * nor defaults take their place. A secret that does not decrypt throws when its member is read.
   */
  read<Fields extends readonly FieldDeclaration[]>(
    module: ModuleDefinition<Fields>,
  ): Promise<FieldValues<Fields>>
  /** The fields of a module as they are declared, and its environments. Throws as `view` does. */
  describe(module: string): Promise<ModuleView>
  /**
   * The values of an environment, the active one unless it is named, as administrators see them: a secret shows that it
   * is set, and no more. Never from a cache. Throws `AuthError` `module_not_found`, `environment_not_found`, and
   * `service_unavailable`.
   */
  view(module: string, environment?: string): Promise<EnvironmentView>
  /**
   * Edits an environment, by the rules and validators that an administrator meets, and asks no permission. All of
   * it is written or nothing; a change that changes nothing writes no revision. `by` names the actor for events and the
   * history. In force at once in this process, and within 30 seconds in every other. Throws `AuthError` as `view` does,
   * `invalid_request` (also for a member that is there and undefined), and the `config.…` codes of
   * `PATCH …/environments/{env}`; a `ConfigValidationError` for a value that its declaration or a validator refuses.
   */
  change(module: string, change: ConfigChange, by?: Actor): Promise<EnvironmentView>
  /**
   * The last fifty revisions of an environment, newest first, including the current one. About a
   * secret they only tell that it was changed.
   */
  history(module: string, environment: string): Promise<readonly ConfigRevision[]>
  /**
   * Encrypts every stored secret under the first of `configKeys`: those of the configuration, and those of
   * the authenticator apps of both surfaces. Run it once a new key is first on every replica, in a process that
   * declares every module and environment, and drop the old key ten minutes later: enrolments that wait for their
   * first code are left out. Calls may be repeated, interrupted and made at once. Throws `AuthError`
   * `service_unavailable`.
   */
  reencrypt(): Promise<Reencryption>
}

/** `others` encrypt what is kept elsewhere under the same keys. */
export function createConfigApi(
  config: Configuration,
  others: readonly (() => Promise<Reencryption>)[],
): ConfigApi {
  const readers = new Map<string, () => Promise<TypedConfig>>()

  function readerOf(module: ModuleDefinition): () => Promise<TypedConfig> {
    const known = readers.get(module.name)
    if (known !== undefined) return known
    const reader = config.reader.parsed(module.name, (loaded, isNew) =>
      typedConfig(module, loaded, (message) => {
        if (isNew) config.logger.warn(message)
      }),
    )
    readers.set(module.name, reader)
    return reader
  }

  return {
    async read<Fields extends readonly FieldDeclaration[]>(module: ModuleDefinition<Fields>) {
      // The keys and types are those of the declarations, which a map of them cannot show.
      return (await readerOf(module)()) as FieldValues<Fields>
    },
    describe: (module) => viewModule(config, module),

    async view(module, environment) {
      const { stored } = (await locateConfig(config, module, null)).module
      return viewEnvironment(config, module, environment ?? stored.activeEnvironment)
    },

    async change(module, change, by = {}) {
      const { actorId, source } = actBy(by)
      const { environment = null, ...patch } = checkedChange(change)
      const target = await locateConfig(config, module, environment)
      return patchConfig(config, target, patch, { userId: actorId, source })
    },

    history: (module, environment) => listRevisions(config, module, environment),
    async reencrypt() {
      const all: Reencryption[] = []
      for (const reencrypt of [() => reencryptConfig(config), ...others])
        all.push(await reencrypt())
      return joinReencryptions(all)
    },
  }
}

/** The values of a module by the keys of its fields. */
export type TypedConfig = Readonly<Record<string, unknown>>

/**
 * A loaded module by its declared types, frozen. To read a secret that does not decrypt throws an
 * `AuthError` 503 that names the key: it is neither empty nor its default.
 */
function typedConfig(
  definition: ModuleDefinition,
  { values, unreadable }: LoadedConfig,
  warn: (message: string) => void,
): TypedConfig {
  return guardedValues(readModule(values, definition, warn), unreadable, (key) => {
    const detail = `The value of "${key}" cannot be decrypted. Set it again, or give back its key.`
    throw new AuthError('service_unavailable', { detail })
  })
}
