import type { FieldDeclaration } from '../engine/configuration/config-declaration.js'
import type { Setting } from './setting.js'
import { authSettings, type SettingKey } from './settings.js'

/** The module's name in the configuration store. */
export const authModuleName = 'auth'

// The keys are those of `AuthSettings`, which `Object.keys` does not say.
const keys = Object.keys(authSettings) as readonly SettingKey[]

/** The 63 settings of the `auth` module, group by group. */
export const authSettingDeclarations: readonly (FieldDeclaration & { readonly key: SettingKey })[] =
  keys.map((key) => ({ key, ...authSettings[key].declaration }))

const settings = new Map<string, Setting<unknown>>(Object.entries(authSettings))

/** Undefined for a key the module does not declare. */
export function findSetting(key: string): Setting<unknown> | undefined {
  return settings.get(key)
}
