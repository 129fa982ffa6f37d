const local = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * The one form of an address that is stored, compared, counted and mailed to: trimmed and
 * lower-cased. Null for anything that is not a plain ASCII address with a dotted domain; refusing
 * other scripts keeps look-alikes from being two accounts. Idempotent.
 */
export function canonicalEmail(typed: string): string | null {
  if (typed.length > 320) return null
  const trimmed = typed.trim()
  // Before lower-casing, which makes a plain "k" of the Kelvin sign.
  if (!/^[!-~]+$/.test(trimmed)) return null
  const email = trimmed.toLowerCase()
  const at = email.lastIndexOf('@')
  if (at < 1 || at > 64 || email.length > 254) return null
  const labels = email.slice(at + 1).split('.')
  const valid = labels.length >= 2 && labels.every((part) => label.test(part))
  return valid && local.test(email.slice(0, at)) ? email : null
}

export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1)
}

/** Addresses below `.invalid` can never receive mail (RFC 2606). */
export function isUndeliverable(email: string): boolean {
  return email.endsWith('.invalid')
}

export interface DomainRule {
  readonly domain: string
  readonly includeSubdomains: boolean
}

/** An empty list allows every domain. */
export function isDomainAllowed(email: string, rules: readonly DomainRule[]): boolean {
  if (rules.length === 0) return true
  const domain = domainOf(email)
  return rules.some((rule) => {
    const allowed = rule.domain.trim().toLowerCase()
    return domain === allowed || (rule.includeSubdomains && domain.endsWith(`.${allowed}`))
  })
}
