import { isTenantId } from '../../engine/tenant-id.js'
import { AuthError } from '../../errors/index.js'

/** "Of no tenant" as it is stored: fields of a unique index are never null. */
export function storedTenant(tenantId: string | null): string {
  if (tenantId === null) return ''
  if (!isTenantId(tenantId)) throw new AuthError('invalid_request')
  return tenantId
}

export function shownTenant(stored: string): string | null {
  return stored === '' ? null : stored
}
