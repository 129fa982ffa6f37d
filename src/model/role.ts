import type { CollectionSpec, Doc } from '../ports/store.js'
import type { Surface } from '../ports/surface.js'

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

export function rolesOf(surface: Surface): CollectionSpec<StoredRole> {
  return {
    name: `${surface}_roles`,
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
}
