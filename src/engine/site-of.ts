import { ipv6Groups } from './ipv6-groups.js'

/**
 * What one attacker easily gets hold of as a whole: of IPv4 the /24, of IPv6 the /48, as RFC 6177 has it
 * for a site. Callers without an address share one.
 */
export function siteOf(ip: string | null): string {
  if (ip === null) return 'unknown'
  if (ip.includes(':')) return `${ipv6Groups(ip).slice(0, 3).join(':')}::/48`
  return `${ip.split('.').slice(0, 3).join('.')}.0/24`
}
