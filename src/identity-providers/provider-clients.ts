import { onceLoaded } from '../concurrency/promises.js'
import { sha256 } from '../crypto/secrets.js'
import { loadPart } from '../errors/index.js'
import type { Clock, Fetcher } from '../ports/host.js'
import { outboundOf } from './outbound.js'
import type {
  Profile,
  Provider,
  ProviderAnswer,
  ProviderCredentials,
  ProviderEndpoints,
  SignInRequest,
} from './provider.js'
import { ProviderError } from './provider-error.js'
import type { ProviderSignIn } from './provider-sign-in.js'
import { type ProviderId, providers } from './providers.js'

/** Endpoints other than a provider's own: a test's, or those of a sovereign cloud. */
export type EndpointOverrides = Readonly<Partial<Record<ProviderId, Partial<ProviderEndpoints>>>>

/** The provider's statement about the user who signed in there, and which provider it is. */
export interface ProviderProfile extends Profile {
  readonly provider: ProviderId
}

/** The host as an OAuth client of the providers. Keeps public keys, and no token. */
export interface ProviderClients {
  /** Where to send the browser: authorization code with PKCE S256 (RFC 7636). */
  authorizationUrl(id: ProviderId, credentials: ProviderCredentials, signIn: SignInRequest): string
  /**
   * Finds out who signed in. Rejects with a `ProviderError` for anything but a good answer, and with another error
   * when what checks answers cannot be loaded; the next call tries again.
   */
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

export function createProviderClients(deps: Deps): ProviderClients {
  const { clock } = deps
  const outbound = outboundOf(deps.fetcher)

  function endpointsOf(id: ProviderId, credentials: ProviderCredentials): ProviderEndpoints {
    const provider = providers[id]
    return provider.locate({ ...provider.endpoints, ...deps.endpoints[id] }, credentials)
  }

  /**
   * What checks answers, with the packages it needs: hosts without providers pay nothing for it. One for
   * all calls, because it keeps the providers' keys.
   */
  const signIn = onceLoaded(async (): Promise<ProviderSignIn> => {
    const { createProviderSignIn } = await loadPart(
      'sign-in through identity providers',
      () => import('./provider-sign-in.js'),
    )
    return createProviderSignIn({ outbound, clock, endpointsOf })
  })

  return {
    authorizationUrl: (id, credentials, request) =>
      authorizationUrl(providers[id], endpointsOf(id, credentials), credentials, request),

    async whoSignedIn(id, credentials, answer) {
      const read = await signIn()
      const profile = await read(id, credentials, answer)
      if (profile === null) throw new ProviderError('the provider named nobody')
      return { ...profile, provider: id }
    },
  }
}

/** The authorization request (RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect Core §3.1.2.1). */
function authorizationUrl(
  provider: Provider,
  endpoints: ProviderEndpoints,
  { clientId }: ProviderCredentials,
  { state, nonce, codeVerifier, redirectUri, asksForAccount = false, hints = {} }: SignInRequest,
): string {
  const url = new URL(endpoints.authorization)
  const { loginHint, hostedDomain } = hints
  const prompt = promptOf(asksForAccount ? provider.accountPrompt : null, hints.prompt)
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: provider.scope,
    state,
    code_challenge: sha256(codeVerifier),
    code_challenge_method: 'S256',
    ...(provider.kind === 'oidc' ? { nonce } : {}),
    ...(prompt === '' ? {} : { prompt }),
    ...(loginHint === undefined ? {} : { login_hint: loginHint }),
    ...(hostedDomain === undefined ? {} : { hd: hostedDomain }),
    ...(provider.responseMode === 'form_post' ? { response_mode: 'form_post' } : {}),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

/** Those that ask more of the person. `none` would ask nothing of them. */
const passedPrompts: readonly string[] = ['select_account', 'login', 'consent']

/** What the library asks stays, whatever the page asks beside it (a list with blanks, as OpenID Connect has it). */
function promptOf(own: string | null, asked = ''): string {
  const all = [own ?? '', passedPrompts.includes(asked) ? asked : '']
  return [...new Set(all)].filter((prompt) => prompt !== '').join(' ')
}
