import { sha256 } from '../crypto/secrets.js'
import type { Provider, ProviderCredentials, ProviderEndpoints, SignInRequest } from './provider.js'

/** The authorization request (RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect Core §3.1.2.1). */
export function authorizationUrl(
  provider: Provider,
  endpoints: ProviderEndpoints,
  { clientId }: ProviderCredentials,
  { state, nonce, codeVerifier, redirectUri, asksForAccount = false }: SignInRequest,
): string {
  const url = new URL(endpoints.authorization)
  const { accountPrompt: prompt } = provider
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: provider.scope,
    state,
    code_challenge: sha256(codeVerifier),
    code_challenge_method: 'S256',
    ...(provider.kind === 'oidc' ? { nonce } : {}),
    ...(asksForAccount && prompt !== null ? { prompt } : {}),
    ...(provider.responseMode === 'form_post' ? { response_mode: 'form_post' } : {}),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}
