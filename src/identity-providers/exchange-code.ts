import {
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type Client,
  ClientSecretPost,
  clockTolerance,
  customFetch,
  processAuthorizationCodeResponse,
  validateAuthResponse,
} from 'oauth4webapi'
import type { Outbound } from './outbound.js'
import type { ProviderEndpoints, SignInSecrets } from './provider.js'
import { ProviderError } from './provider-error.js'

interface Exchange {
  /** What came to the callback, but for `iss`. */
  readonly parameters: Readonly<Record<string, string>>
  readonly secrets: SignInSecrets
  readonly redirectUri: string
  readonly endpoints: ProviderEndpoints
  readonly clientId: string
  readonly clientSecret: string
  /** The issuer an ID token has to be of; null for a provider that sends none. */
  readonly issuerOf: ((idToken: string) => string) | null
}

/** What the provider gave for the code. Used at once, and neither stored nor logged. */
export interface ProviderTokens {
  readonly accessToken: string
  /** Its signature is still to be checked; empty for a provider that sends none. */
  readonly idToken: string
}

/** Turns the answer into tokens, once (RFC 6749 §4.1.3, RFC 7636 §4.5). Rejects for any other. */
export async function exchangeCode(outbound: Outbound, given: Exchange): Promise<ProviderTokens> {
  const { endpoints, secrets } = given
  const server = { issuer: endpoints.issuer, token_endpoint: endpoints.token }
  const client: Client = {
    client_id: given.clientId,
    // It reads the machine's clock. Times are judged by ours, together with the signature.
    [clockTolerance]: 1e12,
  }
  const parameters = new URLSearchParams(given.parameters)
  const response = await authorizationCodeGrantRequest(
    server,
    client,
    ClientSecretPost(given.clientSecret),
    validateAuthResponse(server, client, parameters, secrets.state),
    given.redirectUri,
    secrets.codeVerifier,
    {
      [customFetch]: outbound,
      // Where such an address is allowed was decided when the endpoints were given.
      [allowInsecureRequests]: endpoints.token.startsWith('http:'),
    },
  )
  const body: unknown = JSON.parse(await response.clone().text())
  throwIfRefused(body)
  if (given.issuerOf === null) {
    const tokens = await processAuthorizationCodeResponse(server, client, response)
    return { accessToken: tokens.access_token, idToken: '' }
  }
  const idToken = idTokenIn(body)
  const issuer = given.issuerOf(idToken)
  const expected = { expectedNonce: secrets.nonce, requireIdToken: true }
  const tokens = await processAuthorizationCodeResponse(
    { ...server, issuer },
    client,
    response,
    expected,
  )
  return { accessToken: tokens.access_token, idToken }
}

/** An error code of RFC 6749 §5.2 or of a provider's own: a word, and no place for a secret. */
const errorCode = /^[a-z_]{1,64}$/

/** With its reason: it tells a host that its credentials or its registered address are wrong. */
function throwIfRefused(body: unknown): void {
  if (typeof body !== 'object' || body === null || !('error' in body)) return
  const { error } = body
  const reason = typeof error === 'string' && errorCode.test(error) ? error : 'no known reason'
  throw new ProviderError(`the provider refused the code: ${reason}`)
}

function idTokenIn(body: unknown): string {
  const named = typeof body === 'object' && body !== null && 'id_token' in body
  if (named && typeof body.id_token === 'string') return body.id_token
  throw new ProviderError('the provider sent no ID token')
}
