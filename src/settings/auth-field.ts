import type { FieldDeclaration } from '../engine/configuration/config-declaration.js'
import type { SettingKey } from './settings.js'

/** A declaration of the `auth` module; its key is a member of `AuthSettings`. */
export type AuthField = FieldDeclaration & { readonly key: SettingKey }

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour
