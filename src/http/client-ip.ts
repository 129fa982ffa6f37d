import { BlockList, isIP, isIPv4 } from 'node:net'
import { ipv6Groups } from '../engine/addresses.js'

/**
 * The proxies whose `X-Forwarded-For` and `X-Forwarded-Host` count. `false` ignores both; a number trusts that many
 * hops, counted from the socket; a list trusts hosts in these networks (`10.0.0.0/8`, `::1`).
 */
export type TrustProxy = false | number | readonly string[]

export type ClientIp = (
  remoteAddress: string | undefined,
  forwardedFor: string | undefined,
) => string | null

/**
 * The host that the browser asked for, as a trusted proxy forwarded it in `X-Forwarded-Host`;
 * undefined where the header is missing or the peer is not trusted.
 */
export type ForwardedHost = (
  remoteAddress: string | undefined,
  forwardedFor: string | undefined,
  forwardedHost: string | undefined,
) => string | undefined

/** Throws a `RangeError` for a network it cannot read. */
export function clientIp(trust: TrustProxy): ClientIp {
  const isTrusted = trusted(trust)
  return (remoteAddress, forwardedFor) => chainOf(isTrusted, remoteAddress, forwardedFor).client
}

/** Throws a `RangeError` for a network it cannot read. */
export function forwardedHost(trust: TrustProxy): ForwardedHost {
  const isTrusted = trusted(trust)
  return (remoteAddress, forwardedFor, header) => {
    const { proxies } = chainOf(isTrusted, remoteAddress, forwardedFor)
    if (header === undefined || proxies === 0) return undefined
    // A proxy replaces the header or appends to it: what stands before may be the client's own.
    const hosts = header.split(',')
    return hosts[Math.max(0, hosts.length - proxies)]?.trim()
  }
}

type IsTrusted = (address: string | null, hop: number) => boolean

interface Chain {
  readonly client: string | null
  /** How many trusted proxies stand before this process. */
  readonly proxies: number
}

function chainOf(
  isTrusted: IsTrusted,
  remoteAddress: string | undefined,
  forwardedFor = '',
): Chain {
  let client = normalized(remoteAddress ?? '')
  let end = forwardedFor.length
  let proxies = 0
  // Nearest first: each hop vouches for the one before it, until one is not trusted. What lies
  // before that may be forged by any client, so it is not read.
  while (isTrusted(client, proxies)) {
    proxies += 1
    if (end <= 0) break
    const start = forwardedFor.lastIndexOf(',', end - 1) + 1
    const address = normalized(forwardedFor.slice(start, end).trim())
    if (address === null) break
    client = address
    end = start - 1
  }
  return { client, proxies }
}

function trusted(trust: TrustProxy): IsTrusted {
  if (trust === false) return () => false
  if (typeof trust === 'number') {
    if (!Number.isInteger(trust) || trust < 0) throw new RangeError('must be a number of hops')
    return (_address, hop) => hop < trust
  }
  const networks = new BlockList()
  for (const network of trust) addNetwork(networks, network)
  return (address) => address !== null && networks.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
}

function addNetwork(networks: BlockList, network: string): void {
  const [address = '', prefix, ...rest] = network.split('/')
  const family = isIP(address)
  const widest = family === 4 ? 32 : 128
  const bits = prefix === undefined ? widest : Number(prefix)
  if (family === 0 || rest.length > 0 || !/^\d{1,3}$/.test(prefix ?? '1') || bits > widest) {
    throw new RangeError(`"${network}" is not an address or a network such as 10.0.0.0/8`)
  }
  if (bits === 0) throw new RangeError(`"${network}" would trust every address`)
  networks.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6')
}

/** The longest text that can be an address: a mapped one with a zone, brackets and a port. */
const longestAddress = 80

/** `[2001:db8::1]:443` and `192.0.2.1:443`: some proxies add the port. */
const withPort = /^(?:\[([\da-f:.]+(?:%[\w.-]+)?)\]|([\d.]+))(?::\d{1,5})?$/i

/** A plain IP address, IPv4 also where it came mapped into IPv6; null for anything else. */
function normalized(address: string): string | null {
  if (address.length > longestAddress) return null
  const [, bracketed, dotted] = withPort.exec(address) ?? []
  const bare = bracketed ?? dotted ?? address
  if (isIPv4(bare)) return bare
  const zoneless = bare.split('%')[0] ?? ''
  return isIP(zoneless) === 6 ? (mappedIPv4(zoneless) ?? zoneless) : null
}

/** The IPv4 address in `::ffff:192.0.2.1`, however it is spelled; else null. */
function mappedIPv4(address: string): string | null {
  const groups = ipv6Groups(address)
  if (groups.slice(0, 6).join() !== '0,0,0,0,0,ffff') return null
  const bytes = groups.slice(6).flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 255]
  })
  return bytes.join('.')
}
