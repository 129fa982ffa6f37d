import type { ModuleDefinition } from '../../config/define-module.js'
import type { FieldDeclaration } from '../../engine/configuration/config-declaration.js'
import type { FieldValues } from '../../engine/configuration/module-values.js'
import type { Logger } from '../../ports/logger.js'
import type { ConfigRevision } from './config-history.js'
import type { ConfigStore } from './config-store.js'
import { joinReencryptions, type Reencryption } from './reencryption.js'
import { type TypedConfig, typedConfig } from './typed-config.js'

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
  /**
   * The last fifty revisions of an environment, newest first, including the current one. About a
   * secret they only tell that it was changed.
   */
  history(module: string, environment: string): Promise<readonly ConfigRevision[]>
  /**
   * Encrypts every stored secret under the first of `configKeys`: those of the configuration, and those of
   * the authenticator apps of both surfaces. Run it once a new key is first on every replica, and drop the
   * old key ten minutes later: enrolments that wait for their first code are left out. Calls may be
   * repeated, interrupted and made at once. Throws `AuthError` `service_unavailable`.
   */
  reencrypt(): Promise<Reencryption>
}

/** `others` encrypt what is kept elsewhere under the same keys. */
export function createConfigApi(
  store: ConfigStore,
  logger: Logger,
  others: readonly (() => Promise<Reencryption>)[],
): ConfigApi {
  const readers = new Map<string, () => Promise<TypedConfig>>()

  function readerOf(module: ModuleDefinition): () => Promise<TypedConfig> {
    const known = readers.get(module.name)
    if (known !== undefined) return known
    const warn = (message: string) => logger.warn(message)
    const reader = store.reader.parsed(module.name, (loaded) => typedConfig(module, loaded, warn))
    readers.set(module.name, reader)
    return reader
  }

  return {
    async read<Fields extends readonly FieldDeclaration[]>(module: ModuleDefinition<Fields>) {
      // The keys and types are those of the declarations, which a map of them cannot show.
      return (await readerOf(module)()) as FieldValues<Fields>
    },
    history: (module, environment) => store.history(module, environment),
    async reencrypt() {
      const all: Reencryption[] = []
      for (const reencrypt of [() => store.reencrypt(), ...others]) all.push(await reencrypt())
      return joinReencryptions(all)
    },
  }
}
