import type { Surface } from '../shared/surface-switch.ts'

/** Where roles belong. */
export interface RolePlace {
  readonly surface: Surface
  /** Null for roles without a tenant. */
  readonly tenantId: string | null
}
