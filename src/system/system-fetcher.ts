import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { BlockList, type IPVersion, isIP, type LookupFunction } from 'node:net'
import type { Fetcher, OutboundReply, OutboundRequest } from '../ports/host.js'

type Resolve = (
  name: string,
  // Node's types promise an array, but a name that does not resolve comes with undefined.
  done: (error: NodeJS.ErrnoException | null, found?: readonly LookupAddress[]) => void,
) => void

export interface PublicRequestOptions {
  readonly isPublic?: (address: string) => boolean
  readonly resolve?: Resolve
  /** Certificates to trust in place of the runtime's. */
  readonly ca?: string
}

/**
 * An `https:` exchange with a machine on the public internet, following no redirect. The addresses
 * a name resolves to are judged where the connection is made, so that a name which resolves
 * differently a moment later (DNS rebinding) leads nowhere else. One private address among them
 * refuses the name.
 */
export function createPublicRequest(options: PublicRequestOptions = {}) {
  const { isPublic = isPublicAddress, resolve = resolveAll, ca } = options

  const lookup: LookupFunction = (name, { all }, done) => {
    resolve(name, (error, found = []) => {
      const [first] = found
      if (error !== null || first === undefined) {
        done(error ?? new Error('the name has no address'), '')
      } else if (!found.every(({ address }) => isPublic(address))) {
        done(notPublic('the name leads to an address that is not public'), '')
      } else if (all === true) {
        done(null, [...found])
      } else {
        done(null, first.address, first.family)
      }
    })
  }

  return async ({ timeoutMs, maxBytes, ...given }: OutboundRequest): Promise<OutboundReply> => {
    const url = new URL(given.url)
    if (url.protocol !== 'https:') throw new Error('only https: is sent to')
    const host = url.hostname.replace(/^\[|\]$/g, '')
    // An address needs no lookup, and gets none.
    if (isIP(host) !== 0 && !isPublic(host)) throw notPublic('the address is not public')
    const response = await send(given, {
      lookup,
      // A new connection: a reused one may have been opened without these checks.
      agent: false,
      signal: AbortSignal.timeout(timeoutMs),
      ...(ca === undefined ? {} : { ca }),
    })
    return { status: response.statusCode ?? 0, body: await readAtMost(response, maxBytes) }
  }
}

function send(
  { url, method, headers, body }: Pick<OutboundRequest, 'url' | 'method' | 'headers' | 'body'>,
  options: RequestOptions,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const request = httpsRequest(url, { ...options, method, headers: { ...headers, ...length } })
    request.once('response', resolve)
    request.on('error', reject)
    // An answer that changes the protocol is neither of the two, and aborting would not be heard.
    request.once('close', () => reject(new Error('the connection ended without a reply')))
    request.end(body)
  })
}

/** With a code, because logs leave out the messages of errors. */
function notPublic(message: string): Error {
  return Object.assign(new Error(message), { code: 'address_not_public' })
}

const resolveAll: Resolve = (name, done) => {
  systemLookup(name, { all: true }, done)
}

/** The whole of a body as text. Rejects, reading no further, when it is larger than `maxBytes`. */
async function readAtMost(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maxBytes) throw new Error(`the reply is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

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

const publicRequest = createPublicRequest()

/** The runtime's own HTTP, bounded in time and size, following no redirect. */
export const systemFetcher: Fetcher = {
  async fetch(request) {
    if (request.publicOnly) return publicRequest(request)
    const { url, method, headers, body, timeoutMs, maxBytes } = request
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body }),
    })
    return {
      status: response.status,
      body: response.body === null ? '' : await readAtMost(response.body, maxBytes),
    }
  },
}
