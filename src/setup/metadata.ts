import type { Mountable } from '../http/http-message.js'
import { type ServerMetadata, serverMetadata } from '../http/surface-router.js'
import type { AuthOptions } from '../options.js'
import type { Logger } from '../ports/host.js'
import { hostNamesOf } from './surface-hosts.js'
import { routesUrlOf } from './surface-options.js'

/** What the tokens of service accounts name as `iss`, and where those are got. */
export function metadataOf(options: AuthOptions, issuer: string, logger: Logger): Mountable {
  return serverMetadata(knownOf(options, issuer), () =>
    logger.warn(
      'no authorization server metadata is served: the option "issuer" must be an https URL without a query, on a host of the operator surface',
    ),
  )
}

/** A client compares the issuer with the URL it asked, so it must be a URL that leads here (RFC 8414 §3.3). */
function knownOf({ surfaces }: AuthOptions, issuer: string): ServerMetadata | null {
  const { operator } = surfaces
  if (!URL.canParse(issuer)) return null
  const url = new URL(issuer)
  if (url.protocol !== 'https:' || /[?#]/.test(issuer) || url.username + url.password) return null
  if (!hostNamesOf(operator).includes(url.hostname.replace(/\.$/, ''))) return null
  const routes = routesUrlOf(operator)
  return {
    issuer,
    tokenEndpoint: `${routes}/v1/auth/oauth2/token`,
    jwksUri: `${routes}/v1/auth/operator/jwks`,
  }
}
