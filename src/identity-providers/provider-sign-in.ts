import { AuthorizationResponseError } from 'oauth4webapi'
import type { Clock } from '../ports/host.js'
import { createAppleSecrets } from './apple-secret.js'
import { exchangeCode } from './exchange-code.js'
import { expectedIssuer, verifyIdToken } from './id-token.js'
import { createKeySets } from './key-sets.js'
import type { Outbound } from './outbound.js'
import type {
  Profile,
  Provider,
  ProviderAnswer,
  ProviderCredentials,
  ProviderEndpoints,
} from './provider.js'
import { ProviderError } from './provider-error.js'
import { type ProviderId, providers } from './providers.js'

interface Deps {
  readonly outbound: Outbound
  readonly clock: Clock
  endpointsOf(id: ProviderId, credentials: ProviderCredentials): ProviderEndpoints
}

/**
 * Reads a provider's answer: who signed in, or null when the provider named no person. Rejects with a
 * `ProviderError` for anything but a good answer.
 */
export type ProviderSignIn = (
  id: ProviderId,
  credentials: ProviderCredentials,
  answer: ProviderAnswer,
) => Promise<Profile | null>

/** What a provider calls it when the person said no. */
const denials = ['access_denied', 'user_cancelled_authorize', 'consent_required', 'login_required']

/**
 * The most characters of an access token, which becomes a header: servers take headers below 8 kB. GitHub
 * speaks of 255 at most.
 */
const longestAccessToken = 4096

/** Keeps the public keys of providers and a client secret for Apple, and no token. */
export function createProviderSignIn({ outbound, clock, endpointsOf }: Deps): ProviderSignIn {
  const keySets = createKeySets({ outbound, clock })
  const appleSecrets = createAppleSecrets(clock)

  async function askFor(url: string, accessToken: string): Promise<unknown> {
    if (accessToken.length > longestAccessToken) {
      throw new ProviderError('the provider sent an access token that is too long')
    }
    const headers = {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${accessToken}`,
    }
    const reply = await outbound(url, { method: 'GET', headers, body: null })
    if (reply.status !== 200) throw new ProviderError('a provider refused to say who signed in')
    return reply.json()
  }

  async function whoSignedIn(
    id: ProviderId,
    credentials: ProviderCredentials,
    { parameters, secrets, redirectUri }: ProviderAnswer,
  ): Promise<Profile | null> {
    const provider: Provider = providers[id]
    const endpoints = endpointsOf(id, credentials)
    const { iss, ...others } = parameters
    // Compared here, because one provider's issuer has a part that is not known yet (RFC 9207).
    if (iss !== undefined && !provider.isIssuer(iss, endpoints)) {
      throw new ProviderError('the answer came from another issuer')
    }
    const isOidc = provider.kind === 'oidc'
    const tokens = await exchangeCode(outbound, {
      parameters: others,
      secrets,
      redirectUri,
      endpoints,
      clientId: credentials.clientId,
      clientSecret:
        id === 'apple'
          ? await appleSecrets.secretFor(credentials, endpoints.issuer)
          : credentials.clientSecret,
      issuerOf: isOidc
        ? (idToken) => expectedIssuer(idToken, { provider, endpoints, credentials })
        : null,
    })
    if (isOidc) {
      const expected = { provider, endpoints, credentials, nonce: secrets.nonce }
      const { claims, issuer } = await verifyIdToken(tokens.idToken, expected, { keySets, clock })
      return provider.profileOf(claims, issuer, parameters)
    }
    const [user, emails] = await Promise.all([
      askFor(endpoints.user, tokens.accessToken),
      askFor(endpoints.emails, tokens.accessToken),
    ])
    return provider.profileOf(user, emails, endpoints.issuer)
  }

  return async (id, credentials, answer) => {
    try {
      return await whoSignedIn(id, credentials, answer)
    } catch (cause) {
      if (cause instanceof ProviderError) throw cause
      if (cause instanceof AuthorizationResponseError && denials.includes(cause.error)) {
        throw new ProviderError('the person said no', { isDenial: true, cause })
      }
      throw new ProviderError('the provider gave no good answer', { cause })
    }
  }
}
