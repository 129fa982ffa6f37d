import { AuthorizationResponseError } from 'oauth4webapi'
import type { Clock } from '../ports/clock.js'
import type { Fetcher } from '../ports/fetcher.js'
import { createAppleSecrets } from './apple-secret.js'
import { authorizationUrl } from './authorization-url.js'
import { exchangeCode } from './exchange-code.js'
import { expectedIssuer, verifyIdToken } from './id-token.js'
import { createKeySets } from './key-sets.js'
import { outboundOf } from './outbound.js'
import type {
  Profile,
  Provider,
  ProviderCredentials,
  ProviderEndpoints,
  SignInSecrets,
} from './provider.js'
import { ProviderError } from './provider-error.js'
import { type ProviderId, providers } from './providers.js'

/** Endpoints other than a provider's own: a test's, or those of a sovereign cloud. */
export type EndpointOverrides = Readonly<Partial<Record<ProviderId, Partial<ProviderEndpoints>>>>

/** What came back to the callback. */
export interface ProviderAnswer {
  readonly parameters: Readonly<Record<string, string>>
  readonly secrets: SignInSecrets
  /** The very one the sign-in was begun with. */
  readonly redirectUri: string
}

/** The provider's statement about the user who signed in there, and which provider it is. */
export interface ProviderProfile extends Profile {
  readonly provider: ProviderId
}

/** The host as an OAuth client of the providers. Keeps public keys, and no token. */
export interface ProviderClients {
  /** Where to send the browser: authorization code with PKCE S256 (RFC 7636). */
  authorizationUrl(
    id: ProviderId,
    credentials: ProviderCredentials,
    signIn: SignInSecrets & { readonly redirectUri: string },
  ): string
  /** Who signed in. Rejects with a `ProviderError` for anything but a good answer. */
  whoSignedIn(
    id: ProviderId,
    credentials: ProviderCredentials,
    answer: ProviderAnswer,
  ): Promise<ProviderProfile>
}

interface Deps {
  readonly fetcher: Fetcher
  readonly clock: Clock
  readonly endpoints: EndpointOverrides
}

/** What a provider calls it when the person said no. */
const denials = ['access_denied', 'user_cancelled_authorize', 'consent_required', 'login_required']

export function createProviderClients(deps: Deps): ProviderClients {
  const { clock } = deps
  const outbound = outboundOf(deps.fetcher)
  const keySets = createKeySets({ outbound, clock })
  const appleSecrets = createAppleSecrets(clock)

  function endpointsOf(id: ProviderId, credentials: ProviderCredentials): ProviderEndpoints {
    const provider = providers[id]
    return provider.locate({ ...provider.endpoints, ...deps.endpoints[id] }, credentials)
  }

  async function askFor(url: string, accessToken: string): Promise<unknown> {
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

  return {
    authorizationUrl: (id, credentials, signIn) =>
      authorizationUrl(providers[id], endpointsOf(id, credentials), credentials, signIn),

    async whoSignedIn(id, credentials, answer) {
      let profile: Profile | null
      try {
        profile = await whoSignedIn(id, credentials, answer)
      } catch (cause) {
        if (cause instanceof ProviderError) throw cause
        if (cause instanceof AuthorizationResponseError && denials.includes(cause.error)) {
          throw new ProviderError('the person said no', { isDenial: true, cause })
        }
        throw new ProviderError('the provider gave no good answer', { cause })
      }
      if (profile === null) throw new ProviderError('the provider named nobody')
      return { ...profile, provider: id }
    },
  }
}
