import { ipv6Groups } from './ipv6-groups.js'

/**
 * The network that one customer holds, as limits and queues tell callers apart: an IPv4 address itself,
 * of IPv6 the /64. Callers without an address share one.
 */
export function networkOf(ip: string | null): string {
  if (ip === null) return 'unknown'
  return ip.includes(':') ? `${ipv6Groups(ip).slice(0, 4).join(':')}::/64` : ip
}
