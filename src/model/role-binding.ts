import type { Doc } from '../ports/store.js'
import type { SurfaceSpec } from './surface-spec.js'

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
