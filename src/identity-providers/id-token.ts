import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import type { Clock } from '../ports/host.js'
import type { KeySets } from './key-sets.js'
import type { Claims, OidcProvider, ProviderCredentials, ProviderEndpoints } from './provider.js'
import { ProviderError } from './provider-error.js'

/** By how many seconds a provider's clock may differ from ours. */
const leewaySeconds = 60
/** It was made for the request that fetched it. */
const maxAgeSeconds = 10 * 60

interface Expected {
  readonly provider: OidcProvider
  readonly endpoints: ProviderEndpoints
  readonly credentials: ProviderCredentials
  readonly nonce: string
}

/** The only issuer that an unverified token may come from. Throws a `ProviderError` without one. */
export function expectedIssuer(
  idToken: string,
  { provider, endpoints, credentials }: Omit<Expected, 'nonce'>,
): string {
  const issuer = provider.issuerOf(decodeJwt(idToken), endpoints, credentials)
  if (issuer === null) throw new ProviderError('the ID token is of a tenant that is not allowed')
  return issuer
}

/**
 * The claims of a good ID token (OpenID Connect Core §3.1.3.7): signed with RS256 by a key of the
 * provider's, of the issuer asked, for this client alone, for this sign-in, of now. Rejects otherwise.
 */
export async function verifyIdToken(
  idToken: string,
  expected: Expected,
  { keySets, clock }: { readonly keySets: KeySets; readonly clock: Clock },
): Promise<{ readonly claims: Claims; readonly issuer: string }> {
  const { provider, endpoints, credentials, nonce } = expected
  const issuer = expectedIssuer(idToken, expected)
  const { kid = '' } = decodeProtectedHeader(idToken)
  if (kid === '') throw new ProviderError('the ID token does not name its key')
  const keys = await keySets.read(endpoints.jwks, kid)
  const key = keys.published(kid)
  if (key === null) throw new ProviderError('the key of the ID token is not the provider’s')
  if (!provider.mayKeySign(key, issuer)) {
    throw new ProviderError('the key of the ID token is another tenant’s')
  }
  const { payload } = await jwtVerify(idToken, keys.keyFor, {
    algorithms: ['RS256'],
    issuer,
    audience: credentials.clientId,
    requiredClaims: ['sub', 'exp', 'iat', 'nonce'],
    currentDate: new Date(clock.now()),
    clockTolerance: leewaySeconds,
    maxTokenAge: maxAgeSeconds,
  })
  if (payload['nonce'] !== nonce) throw new ProviderError('the ID token is of another sign-in')
  const { azp, aud } = payload
  const isOthers = azp !== undefined && azp !== credentials.clientId
  if (isOthers || (Array.isArray(aud) && aud.length !== 1 && azp === undefined)) {
    throw new ProviderError('the ID token was made for another application')
  }
  return { claims: { ...payload }, issuer }
}
