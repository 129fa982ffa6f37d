/**
 * The permissions that the routes of the module configuration require, unless the host renamed them
 * (`createAuth({ permissions })`). Both belong to the system set.
 */
export const MODULE_CONFIG_PERMISSIONS = {
  read: 'system.modules.read',
  manage: 'system.modules.manage',
} as const
