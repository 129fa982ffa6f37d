import type { Doc } from '../ports/store.js'
import type { SurfaceSpec } from './surface-spec.js'

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
