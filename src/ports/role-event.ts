/** Of roles and who holds them, by the host's code. */
export type RoleEvent =
  | {
      /** Made, or given other permissions. */
      readonly type: 'role.defined'
      readonly actorId: string | null
      readonly roleId: string
      /** Its name. */
      readonly role: string
      /** Null for a role of no tenant. */
      readonly tenantId: string | null
      readonly permissions: readonly string[]
    }
  | {
      readonly type: 'role.deleted'
      readonly actorId: string | null
      readonly roleId: string
      readonly role: string
      readonly tenantId: string | null
    }
  | {
      readonly type: 'role.bound' | 'role.unbound'
      readonly actorId: string | null
      /** Who holds the role, or does no more. */
      readonly targetId: string
      readonly roleId: string
      /** Null where it is held everywhere. */
      readonly tenantId: string | null
    }
  | {
      readonly type: 'role.bindFailed'
      readonly actorId: string | null
      readonly targetId: string
      readonly roleId: string
      /** The error's code. */
      readonly reason: string
    }
