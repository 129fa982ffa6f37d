import { onceLoaded } from '../concurrency/promises.js'
import { sha256 } from '../crypto/secrets.js'
import { loadPart } from '../errors/index.js'
import type { Clock, Fetcher } from '../ports/host.js'
import { createDiscovery, type DeclaredProvider, providerOf } from './declared-providers.js'
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
  readonly provider: string
  /** The mail domains of which it is the directory, as the host declared. Default none. */
  readonly authoritativeFor?: readonly string[]
}

/** What the host declared of its own providers, and the four. */
export interface KnownProviders {
  /** In the order in which they are listed: the four, then those of the host. */
  readonly ids: readonly string[]
  /** Null for a text that names no provider. */
  find(id: string): Provider | null
  /** Null for one of the four, and for a text that names no provider. */
  declared(id: string): DeclaredProvider | null
}

/** The host as an OAuth client of the providers. Keeps public keys, and no token. */
export interface ProviderClients extends KnownProviders {
  /**
   * Where to send the browser: authorization code with PKCE S256 (RFC 7636). Rejects with a `ProviderError` where the
   * endpoints of a declared provider cannot be discovered.
   */
  authorizationUrl(
    id: string,
    credentials: ProviderCredentials,
    signIn: SignInRequest,
  ): Promise<string>
  /**
   * Finds out who signed in. Rejects with a `ProviderError` for anything but a good answer, and with another error
   * when what checks answers cannot be loaded; the next call tries again.
   */
  whoSignedIn(
    id: string,
    credentials: ProviderCredentials,
    answer: ProviderAnswer,
  ): Promise<ProviderProfile>
}

interface Deps {
  readonly fetcher: Fetcher
  readonly clock: Clock
  readonly endpoints: EndpointOverrides
  /** Default none. */
  readonly declared?: readonly DeclaredProvider[]
}

export function knownProviders(declared: readonly DeclaredProvider[]): KnownProviders {
  const own = new Map(declared.map((one) => [one.id, one]))
  const all = new Map<string, Provider>([
    ...Object.entries(providers),
    ...declared.map((one) => [one.id, providerOf(one)] as const),
  ])
  return {
    ids: [...all.keys()],
    find: (id) => all.get(id) ?? null,
    declared: (id) => own.get(id) ?? null,
  }
}

export function createProviderClients(deps: Deps): ProviderClients {
  const { clock } = deps
  const outbound = outboundOf(deps.fetcher)
  const known = knownProviders(deps.declared ?? [])
  const discovery = createDiscovery(outbound, clock)
  const overrides = new Map(Object.entries(deps.endpoints))

  /** A text that names no provider comes from no caller. */
  function providerNamed(id: string): Provider {
    const provider = known.find(id)
    if (provider === null) throw new ProviderError('there is no such provider')
    return provider
  }

  async function endpointsOf(
    id: string,
    credentials: ProviderCredentials,
  ): Promise<ProviderEndpoints> {
    const declared = known.declared(id)
    if (declared !== null) return discovery.read(declared.issuer)
    const provider = providerNamed(id)
    return provider.locate({ ...provider.endpoints, ...overrides.get(id) }, credentials)
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
    ...known,
    async authorizationUrl(id, credentials, request) {
      const endpoints = await endpointsOf(id, credentials)
      return authorizationUrl(providerNamed(id), endpoints, credentials, request)
    },

    async whoSignedIn(id, credentials, answer) {
      const read = await signIn()
      const profile = await read({ id, provider: providerNamed(id) }, credentials, answer)
      if (profile === null) throw new ProviderError('the provider named nobody')
      const declared = known.declared(id)
      const { authoritativeFor = [] } = declared ?? {}
      return { ...profile, provider: id, ...(declared === null ? {} : { authoritativeFor }) }
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
