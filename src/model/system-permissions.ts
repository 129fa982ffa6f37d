import { MODULE_CONFIG_PERMISSIONS } from './module-config-permissions.js'
import { PERMISSIONS } from './permissions.js'

const systemSet: ReadonlySet<string> = new Set([
  ...PERMISSIONS.filter(({ system }) => system).map(({ key }) => key),
  ...Object.values(MODULE_CONFIG_PERMISSIONS),
])

/** Whether a key belongs to the system set, that of the module configuration included. */
export function isSystemPermission(key: string): boolean {
  return systemSet.has(key)
}
