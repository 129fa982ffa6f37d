import { isTenantId } from '../../engine/accounts.js'
import { AuthError } from '../../errors/index.js'

/** "Of no tenant" as it is stored: fields of a unique index are never null. */
export function storedTenant(tenantId: string | null): string {
  if (tenantId === null) return ''
  if (!isTenantId(tenantId)) {
    const detail =
      'tenantId must be a text of 1 to 64 characters, or left out where no tenant is meant.'
    throw new AuthError('invalid_request', { detail })
  }
  return tenantId
}

/**
 * Throws `invalid_request` for a member `tenantId` that is there and undefined: what was to name the
 * tenant is missing, and the role would hold everywhere.
 */
export function refuseUndefinedTenant(given: { readonly tenantId?: string | null }): void {
  if (!Object.hasOwn(given, 'tenantId') || given.tenantId !== undefined) return
  const detail =
    'tenantId is there and undefined: name a tenant, or leave the member out where no tenant is meant.'
  throw new AuthError('invalid_request', { detail })
}

export function shownTenant(stored: string): string | null {
  return stored === '' ? null : stored
}
