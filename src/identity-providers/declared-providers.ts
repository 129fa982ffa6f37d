import type { Clock } from '../ports/host.js'
import type { Surface } from '../ports/surface.js'
import type { Outbound } from './outbound.js'
import type { OidcProvider, ProviderEndpoints } from './provider.js'
import { ProviderError } from './provider-error.js'
import { displayName, emailOf, identifier } from './read-claims.js'

// OpenID Connect issuers that a host declares beside the four.

/** An OpenID Connect provider of the host's own choice. */
export interface DeclaredProvider {
  /** Its name in paths, identities and events: `[a-z][a-z0-9-]{1,31}`. It must never change. */
  readonly id: string
  /** The name on a button. */
  readonly label: string
  /** As its discovery document and its ID tokens have it, character by character. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** Where people may sign in by it. */
  readonly surfaces: readonly Surface[]
  /**
   * Mail domains of which it is the directory, such as `example.com` of a company's own issuer. For an address there its
   * word is enough, where it says `email_verified: true`. Default: none.
   */
  readonly authoritativeFor?: readonly string[]
}

/**
 * Declares an OpenID Connect issuer for `createAuth({ providers: [oidc({ … })] })`. Its endpoints come from
 * `<issuer>/.well-known/openid-configuration`. `createAuth` rejects what cannot work.
 *
 * @example
 * import { createAuth } from 'postern'
 * import { oidc } from 'postern/providers'
 * const { ACME_CLIENT_ID = '', ACME_CLIENT_SECRET = '' } = process.env
 * const acme = oidc({
 *   id: 'acme',
 *   label: 'Acme',
 *   issuer: 'https://sso.acme.example/realms/staff',
 *   clientId: ACME_CLIENT_ID,
 *   clientSecret: ACME_CLIENT_SECRET,
 *   surfaces: ['operator'],
 * })
 * await createAuth({ ...options, providers: [acme] })
 */
export function oidc(declared: DeclaredProvider): DeclaredProvider {
  return Object.freeze({ ...declared })
}

/** What the flow asks of it; the endpoints are discovered. */
export function providerOf({ label, issuer }: DeclaredProvider): OidcProvider {
  return {
    kind: 'oidc',
    name: label,
    scope: 'openid email profile',
    responseMode: 'query',
    accountPrompt: null,
    endpoints: { issuer, authorization: '', token: '', jwks: '', user: '', emails: '' },
    locate: (endpoints) => endpoints,
    isIssuer: (given) => given === issuer,
    issuerOf: () => issuer,
    mayKeySign: () => true,
    profileOf(claims) {
      const subject = identifier(claims['sub'])
      if (subject === null) return null
      return {
        issuer,
        subject,
        email: emailOf(claims),
        // A text may mean anything: some providers write what the person typed.
        emailVerified: claims['email_verified'] === true,
        hostedDomain: null,
        name: displayName(claims['name']),
      }
    },
  }
}

/** The endpoints of issuers, from their own documents. */
export interface Discovery {
  /** Rejects with a `ProviderError` for a document that cannot be had, or is not of this issuer. */
  read(issuer: string): Promise<ProviderEndpoints>
}

interface Known {
  readonly endpoints: ProviderEndpoints
  readonly readAt: number
}

const freshMs = 60 * 60 * 1000
/** While the issuer cannot be reached, as its keys. */
const longestMs = 24 * 60 * 60 * 1000

export function createDiscovery(outbound: Outbound, clock: Clock): Discovery {
  const known = new Map<string, Known>()
  const underway = new Map<string, Promise<ProviderEndpoints>>()

  async function fetched(issuer: string): Promise<ProviderEndpoints> {
    const before = known.get(issuer)
    try {
      const endpoints = await discover(outbound, issuer)
      known.set(issuer, { endpoints, readAt: clock.now() })
      return endpoints
    } catch (cause) {
      const age = before === undefined ? longestMs : clock.now() - before.readAt
      if (before !== undefined && age >= 0 && age < longestMs) return before.endpoints
      if (cause instanceof ProviderError) throw cause
      throw new ProviderError('the discovery document of the issuer could not be read', { cause })
    } finally {
      underway.delete(issuer)
    }
  }

  return {
    async read(issuer) {
      const found = known.get(issuer)
      const age = found === undefined ? freshMs : clock.now() - found.readAt
      if (found !== undefined && age >= 0 && age < freshMs) return found.endpoints
      const begun = underway.get(issuer) ?? fetched(issuer)
      underway.set(issuer, begun)
      return begun
    },
  }
}

/** OpenID Connect Discovery §4.1: the path is put behind that of the issuer. */
async function discover(outbound: Outbound, issuer: string): Promise<ProviderEndpoints> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const headers = { accept: 'application/json' }
  const response = await outbound(url, { method: 'GET', headers, body: null })
  if (response.status !== 200) {
    throw new ProviderError(`the issuer answered its discovery with the status ${response.status}`)
  }
  const document: unknown = await response.json()
  const members: ReadonlyMap<string, unknown> = new Map(Object.entries(Object(document)))
  // A document of another issuer would lead people, and the code, elsewhere (§4.3).
  if (members.get('issuer') !== issuer) {
    throw new ProviderError('the discovery document is of another issuer')
  }
  const listed = (name: string): readonly unknown[] | null => {
    const value = members.get(name)
    return Array.isArray(value) ? value : null
  }
  requireListed(listed('response_types_supported'), 'code')
  requireListed(listed('id_token_signing_alg_values_supported'), 'RS256')
  requireListed(listed('code_challenge_methods_supported') ?? ['S256'], 'S256')
  const endpoint = (name: string) => addressIn(members.get(name), issuer, name)
  const methods = listed('token_endpoint_auth_methods_supported') ?? ['client_secret_basic']
  return {
    issuer,
    authorization: endpoint('authorization_endpoint'),
    token: endpoint('token_endpoint'),
    jwks: endpoint('jwks_uri'),
    user: members.has('userinfo_endpoint') ? endpoint('userinfo_endpoint') : '',
    emails: '',
    takesBasic: !methods.includes('client_secret_post'),
    namesIssuer: members.get('authorization_response_iss_parameter_supported') === true,
  }
}

function requireListed(values: readonly unknown[] | null, needed: string): void {
  if (values?.includes(needed)) return
  throw new ProviderError(`the issuer does not offer ${needed}`)
}

/** https, as the issuer; or http on the issuer's own host, where the host's options allow that issuer. */
function addressIn(value: unknown, issuer: string, name: string): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null
  const own = new URL(issuer)
  const isSafe =
    url?.protocol === 'https:' ||
    (url?.protocol === 'http:' && own.protocol === 'http:' && url.hostname === own.hostname)
  if (url === null || !isSafe || url.username !== '' || url.hash !== '') {
    throw new ProviderError(`the discovery document has no good ${name}`)
  }
  return url.href
}
