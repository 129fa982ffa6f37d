/** The four external identity providers, in the order they are listed. */
export const providerIds = ['google', 'microsoft', 'apple', 'github'] as const

export type ProviderId = (typeof providerIds)[number]

/** Null for anything that names none of the four. */
export function providerId(text: string): ProviderId | null {
  return providerIds.find((id) => id === text) ?? null
}

/** Where a provider is spoken to. Addresses are `https:`, or `http:` on loopback in tests. */
export interface ProviderEndpoints {
  /** Compared character by character (RFC 9207 §2.4, OpenID Connect Core §3.1.3.7). */
  readonly issuer: string
  readonly authorization: string
  readonly token: string
  /** The provider's public keys; empty for one without ID tokens. */
  readonly jwks: string
  /** Whose account an access token is for; empty for one with ID tokens. */
  readonly user: string
  /** The account's addresses and which of them are confirmed; empty for one with ID tokens. */
  readonly emails: string
}

/** What a provider knows this host by, from the settings. */
export interface ProviderCredentials {
  readonly clientId: string
  /** The shared secret; of Apple the key that signs one (PKCS #8 PEM). */
  readonly clientSecret: string
  /** Of Microsoft alone: `common`, `organizations`, `consumers` or a tenant's id. */
  readonly tenant: string
  /** Of Apple alone. */
  readonly teamId: string
  readonly keyId: string
}

/** What a provider says about whoever signed in there. */
export interface ProviderProfile {
  readonly provider: ProviderId
  /** With `subject` the account's only lasting name: addresses change hands (nOAuth). */
  readonly issuer: string
  readonly subject: string
  /** Null when the provider told none. */
  readonly email: string | null
  /** Whether the provider vouches that the address is this account's, now. */
  readonly emailVerified: boolean
  /** For display; empty when the provider told none. */
  readonly name: string
}

/** What one sign-in sends to the provider and expects back. */
export interface SignInSecrets {
  /** One time, in the address (RFC 6749 §10.12). */
  readonly state: string
  /** Comes back in the ID token (OpenID Connect Core §3.1.2.1). */
  readonly nonce: string
  /** Never leaves this side before the token request (RFC 7636 §4.1). */
  readonly codeVerifier: string
}

/** Claims of a verified ID token. */
export type Claims = Readonly<Record<string, unknown>>

interface AnyProvider {
  readonly id: ProviderId
  /** For buttons. */
  readonly name: string
  /** No more than an account needs (RFC 9700 §2.3). */
  readonly scope: string
  /** How the answer reaches the callback: in its address, or as a form. */
  readonly responseMode: 'query' | 'form_post'
  readonly endpoints: ProviderEndpoints
  /** Endpoints with what depends on the settings filled in. */
  locate(endpoints: ProviderEndpoints, credentials: ProviderCredentials): ProviderEndpoints
  /** Whether an authorization response may come from this issuer (RFC 9207). */
  isIssuer(issuer: string, endpoints: ProviderEndpoints): boolean
}

/** A provider that says who signed in by an ID token. */
export interface OidcProvider extends AnyProvider {
  readonly kind: 'oidc'
  /** The one issuer these claims, not yet verified, may be of; null when there is none. */
  issuerOf(
    claims: Claims,
    endpoints: ProviderEndpoints,
    credentials: ProviderCredentials,
  ): string | null
  /** Whether a key of the provider's may sign for this issuer. */
  mayKeySign(key: Claims, issuer: string): boolean
  /** `form` is what came with the answer and is signed by nobody. */
  profileOf(claims: Claims, issuer: string, form: Claims): ProviderProfile | null
}

/** A provider that has to be asked who signed in. */
export interface PlainProvider extends AnyProvider {
  readonly kind: 'plain'
  profileOf(user: unknown, emails: unknown, issuer: string): ProviderProfile | null
}

export type Provider = OidcProvider | PlainProvider
