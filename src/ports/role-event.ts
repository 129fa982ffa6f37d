/** Events about roles and their bindings, all caused by the host's code. */
export type RoleEvent =
  | {
      /** The role was created, or its permissions were replaced. */
      readonly type: 'role.defined'
      readonly actorId: string | null
      readonly roleId: string
      /** The role's name. */
      readonly role: string
      /** The tenant that the role belongs to; null for a role without a tenant. */
      readonly tenantId: string | null
      readonly permissions: readonly string[]
    }
  | {
      /** The role is gone. */
      readonly type: 'role.deleted'
      readonly actorId: string | null
      readonly roleId: string
      readonly role: string
      readonly tenantId: string | null
    }
  | {
      /** A user has a role more, or a role less. */
      readonly type: 'role.bound' | 'role.unbound'
      readonly actorId: string | null
      /** The user who gained or lost the role. */
      readonly targetId: string
      readonly roleId: string
      /** The tenant in which the user holds it; null for everywhere. */
      readonly tenantId: string | null
    }
  | {
      /** A user was to get a role, and did not. */
      readonly type: 'role.bindFailed'
      readonly actorId: string | null
      readonly targetId: string
      readonly roleId: string
      /** The error's code. */
      readonly reason: string
    }
