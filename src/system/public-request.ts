import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { OutboundReply, OutboundRequest } from '../ports/host.js'
import { isPublicAddress } from './public-address.js'
import { readAtMost } from './read-at-most.js'

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
