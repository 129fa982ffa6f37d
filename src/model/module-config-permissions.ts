/**
 * What the module configuration's operations ask the authorizer for, unless the host gave other
 * names (`createAuth({ permissions })`). Both belong to the system set of permissions.
 */
export const MODULE_CONFIG_PERMISSIONS = {
  read: 'system.modules.read',
  manage: 'system.modules.manage',
} as const
