import { MODULE_CONFIG_PERMISSIONS, PERMISSIONS, type PermissionInfo } from 'postern'

/** What the console's own routes require. */
export const consolePermissions = [
  {
    key: 'console.users.read',
    system: true,
    grants: 'see users, their sessions and open registrations',
  },
  {
    key: 'console.users.manage',
    system: true,
    grants: 'change, disable and delete users, end their sessions, reset their factors',
  },
  { key: 'console.roles.read', system: true, grants: 'see roles and the users that hold them' },
  {
    key: 'console.roles.manage',
    system: true,
    grants: 'define roles, and give them to users and service accounts',
  },
  { key: 'console.audit.read', system: true, grants: 'search the audit log' },
  { key: 'console.status.read', system: true, grants: 'see the figures of a process' },
] as const satisfies readonly PermissionInfo[]

/** For `roleAuthorizer`: operators with a shortcut role have them without a binding. */
export const systemPermissions: readonly string[] = consolePermissions.map(({ key }) => key)

/** The keys of the routes that this host guards. */
export type ConsolePermission = (typeof consolePermissions)[number]['key']

const moduleConfiguration: readonly PermissionInfo[] = [
  {
    key: MODULE_CONFIG_PERMISSIONS.read,
    system: true,
    grants: 'read the configuration of modules',
  },
  {
    key: MODULE_CONFIG_PERMISSIONS.manage,
    system: true,
    grants: 'change the configuration of modules',
  },
]

/** The permissions that a role can give on this host, for the page that defines roles. */
export const knownPermissions: readonly PermissionInfo[] = [
  // The others are every person's, with or without a role.
  ...PERMISSIONS.filter(({ system }) => system),
  ...moduleConfiguration,
  ...consolePermissions,
]
