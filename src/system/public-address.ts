import { BlockList, type IPVersion, isIP } from 'node:net'

/**
 * Addresses that are not on the public internet or not one machine's own: the special-purpose
 * registries of RFC 6890, as IANA keeps them, with multicast. Only 2000::/3 of IPv6 is handed out;
 * what in there only wraps an IPv4 address (6to4, Teredo) could lead anywhere and is left out too.
 */
const notPublicV4 = blockListOf('ipv4', [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
  ...['172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24'],
  ...['192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
])
const notPublicV6 = blockListOf('ipv6', [
  ...['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16'],
  ...['2620:4f:8000::/48', '3fff::/20'],
])

/** Whether text is an IP address of the public internet; false for a name. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address)
  if (version === 4) return !notPublicV4.check(address, 'ipv4')
  return version === 6 && !notPublicV6.check(address, 'ipv6')
}

/** One list a version: a list would compare IPv4 addresses, as mapped ones, with IPv6 networks. */
function blockListOf(version: IPVersion, networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    list.addSubnet(address, Number(bits), version)
  }
  return list
}
