/** The tenant of all personal accounts. */
const consumers = '9188040d-6c67-4c5b-b112-36a304b66dad'
const guids = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi

/** Whether the setting `microsoftTenant` lets people of this tenant in. */
export function isTenantAllowed(tid: string, setting: string): boolean {
  const allowed = setting.toLowerCase()
  if (allowed === 'common') return true
  if (allowed === 'organizations') return tid !== consumers
  if (allowed === 'consumers') return tid === consumers
  return tid === allowed
}

/** The tenant in the issuer of a stored identity, which always names it last; null for one that names none. */
export function tenantOfIssuer(issuer: string): string | null {
  return issuer.match(guids)?.at(-1)?.toLowerCase() ?? null
}
