import { AuthError } from '../errors/index.js'
import type { Mountable } from './http-message.js'
import { commonHeaders, problemReply } from './reply.js'

/** What clients of the token endpoint find out by themselves (RFC 8414 §2). */
export interface ServerMetadata {
  readonly issuer: string
  readonly tokenEndpoint: string
  readonly jwksUri: string
}

const wellKnown = '/.well-known/oauth-authorization-server'

/**
 * The metadata at the path of its issuer (RFC 8414 §3.1). Without any, the path is the host's, and `warn`
 * is called when it is first asked for.
 */
export function serverMetadata(known: ServerMetadata | null, warn: () => void): Mountable {
  const path = known === null ? wellKnown : wellKnown + pathOf(known.issuer)
  const body = known === null ? '' : JSON.stringify(membersOf(known))
  let isTold = false
  return {
    paths: [wellKnown],
    async handle(request) {
      if (known === null) {
        const isMeant = request.path === path || request.path.startsWith(`${path}/`)
        if (isMeant && !isTold) warn()
        isTold ||= isMeant
        return null
      }
      if (request.path !== path) return null
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        return problemReply(new AuthError('method_not_allowed'), { allow: 'GET, HEAD' })
      }
      const headers = { ...commonHeaders, 'content-type': 'application/json; charset=utf-8' }
      return { status: 200, headers, cookies: [], body }
    },
  }
}

function membersOf({ issuer, tokenEndpoint, jwksUri }: ServerMetadata) {
  return {
    issuer,
    token_endpoint: tokenEndpoint,
    jwks_uri: jwksUri,
    response_types_supported: [],
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
  }
}

/** Without the slash at its end (RFC 8414 §3.1). */
function pathOf(issuer: string): string {
  return new URL(issuer).pathname.replace(/\/$/, '')
}
