import { readTokenRequest, type TokenRequest } from '../../engine/client-authentication.js'
import { AuthError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/surface.js'
import type { AccessGrant } from '../sessions/tokens.js'
import type { ServiceGrants } from './service-grants.js'

/** The same grant in the form of RFC 6749: one service, one set of limits, two ways to ask. */
export interface TokenEndpoint {
  /**
   * Throws `invalid_request`, `unsupported_grant_type` and `invalid_scope` before any credential is looked
   * at, and then what a grant throws.
   */
  exchange(asked: TokenRequest, address: string, source: RequestSource): Promise<AccessGrant>
}

export function createTokenEndpoint(grants: ServiceGrants): TokenEndpoint {
  return {
    async exchange(asked, address, source) {
      const read = readTokenRequest(asked)
      if (!read.ok) throw new AuthError(read.code)
      const { clientId, clientSecret } = read
      return grants.grant({ clientId, clientSecret }, address, source)
    },
  }
}
