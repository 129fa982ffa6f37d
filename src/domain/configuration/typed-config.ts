import type { ModuleDefinition } from '../../config/define-module.js'
import { readModule } from '../../engine/configuration/read-module.js'
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
  loaded: LoadedConfig,
  warn: (message: string) => void,
): TypedConfig {
  const typed: Record<string, unknown> = { ...readModule(loaded.values, definition, warn) }
  for (const [key, value] of Object.entries(typed)) {
    if (Array.isArray(value)) typed[key] = elements(key, value, loaded)
  }
  for (const key of loaded.unreadable) {
    if (Object.hasOwn(typed, key)) refuse(typed, key, key)
  }
  return Object.freeze(typed)
}

function elements(
  field: string,
  list: readonly { readonly slug: string }[],
  { unreadable }: LoadedConfig,
): readonly object[] {
  const guarded = list.map((element) => {
    const copy = { ...element }
    const prefix = `${field}.${element.slug}.`
    for (const key of unreadable) {
      if (key.startsWith(prefix)) refuse(copy, key.slice(prefix.length), key)
    }
    return Object.freeze(copy)
  })
  return Object.freeze(guarded)
}

function refuse(target: object, name: string, key: string): void {
  Object.defineProperty(target, name, {
    enumerable: true,
    get(): never {
      const detail = `The value of "${key}" cannot be decrypted. Set it anew, or give back its key.`
      throw new AuthError('service_unavailable', { detail })
    },
  })
}
