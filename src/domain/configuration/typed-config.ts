import type { ModuleDefinition } from '../../config/define-module.js'
import { guardedValues, readModule } from '../../engine/configuration/module-values.js'
import { AuthError } from '../../errors/index.js'
import type { LoadedConfig } from './config-reader.js'

/** The values of a module by the keys of its fields. */
export type TypedConfig = Readonly<Record<string, unknown>>

/**
 * A loaded module by its declared types, frozen. To read a secret that does not decrypt throws an
 * `AuthError` 503 that names the key: it is neither empty nor its default.
 */
export function typedConfig(
  definition: ModuleDefinition,
  { values, unreadable }: LoadedConfig,
  warn: (message: string) => void,
): TypedConfig {
  return guardedValues(readModule(values, definition, warn), unreadable, (key) => {
    const detail = `The value of "${key}" cannot be decrypted. Set it again, or give back its key.`
    throw new AuthError('service_unavailable', { detail })
  })
}
