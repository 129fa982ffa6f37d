import type { Doc, SurfaceSpec } from '../ports/store.js'

/** A permission that the library's own routes require. */
export interface PermissionInfo {
  readonly key: string
  /**
   * True for the system set: the role shortcuts grant it without a binding, and roles of tenants
   * cannot hold it. This flag decides, not the first word of the key.
   */
  readonly system: boolean
  /** What it allows, in English, for a page that administers roles. */
  readonly grants: string
}

/**
 * The permissions that the library's routes require, beside those of the module configuration in
 * `MODULE_CONFIG_PERMISSIONS`. Permissions do not imply each other.
 */
export const PERMISSIONS = [
  { key: 'auth.self', system: false, grants: 'edit own password and sessions' },
  { key: 'auth.mfa.self', system: false, grants: 'enroll, verify, remove own MFA factors' },
  { key: 'system.users.mfa_reset', system: true, grants: "reset another user's MFA factors" },
  {
    key: 'system.users.password_reset',
    system: true,
    grants: 'trigger a password-reset e-mail for another user',
  },
  {
    key: 'system.users.email_verify_resend',
    system: true,
    grants: "resend another user's e-mail verification",
  },
  {
    key: 'system.users.oauth_unlink',
    system: true,
    grants: 'unlink an OAuth identity from another user',
  },
  { key: 'auth.service_accounts.read', system: true, grants: 'list and inspect service accounts' },
  {
    key: 'auth.service_accounts.manage',
    system: true,
    grants: 'create service accounts; issue, rotate, revoke their credentials',
  },
] as const satisfies readonly PermissionInfo[]

/** The permissions of the user's own account, granted to every enabled person. */
export const selfPermissions: readonly string[] = PERMISSIONS.filter(({ system }) => !system).map(
  ({ key }) => key,
)

/**
 * The permissions that the routes of the module configuration require, unless the host renamed them
 * (`createAuth({ permissions })`). Both belong to the system set.
 */
export const MODULE_CONFIG_PERMISSIONS = {
  read: 'system.modules.read',
  manage: 'system.modules.manage',
} as const

const systemSet: ReadonlySet<string> = new Set([
  ...PERMISSIONS.filter(({ system }) => system).map(({ key }) => key),
  ...Object.values(MODULE_CONFIG_PERMISSIONS),
])

/** Whether a key belongs to the system set, that of the module configuration included. */
export function isSystemPermission(key: string): boolean {
  return systemSet.has(key)
}

/** A named set of permissions. Its name and tenant never change, because bindings rely on them. */
export interface StoredRole extends Doc {
  /** Empty for a role of no tenant; fields of a unique index are never null. */
  readonly tenantId: string
  readonly name: string
  readonly permissions: readonly string[]
  /** Grows with every change of the permissions. */
  readonly revision: number
  readonly createdAt: number
  readonly updatedAt: number
}

export const rolesSpec: SurfaceSpec<StoredRole> = {
  fields: {
    tenantId: { kind: 'text' },
    name: { kind: 'text' },
    permissions: { kind: 'json' },
    revision: { kind: 'integer' },
    createdAt: { kind: 'time' },
    updatedAt: { kind: 'time' },
  },
  indexes: [{ on: ['tenantId'] }, { on: ['tenantId', 'name'], unique: true }],
  expires: 'never',
}

/** A role that a user holds. The id is made of user, role and tenant, so each triple exists once. */
export interface StoredRoleBinding extends Doc {
  readonly userId: string
  readonly roleId: string
  /** Empty where the role is held everywhere. */
  readonly tenantId: string
  readonly createdAt: number
  /** When a call began to bind it that has not finished: until then it grants nothing. Null once it did. */
  readonly pendingSince: number | null
}

export const roleBindingsSpec: SurfaceSpec<StoredRoleBinding> = {
  fields: {
    userId: { kind: 'text' },
    roleId: { kind: 'text' },
    tenantId: { kind: 'text' },
    createdAt: { kind: 'time' },
    pendingSince: { kind: 'time', nullable: true },
  },
  indexes: [{ on: ['userId'] }, { on: ['roleId'] }],
  expires: 'never',
}

/** Users and roles have UUIDs, so no two bindings have one id, whatever a tenant is called. */
export function roleBindingId({
  userId,
  roleId,
  tenantId,
}: Pick<StoredRoleBinding, 'userId' | 'roleId' | 'tenantId'>): string {
  return `${userId}:${roleId}:${tenantId}`
}
