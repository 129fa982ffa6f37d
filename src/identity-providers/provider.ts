/** The endpoints of a provider. URLs are `https:`, or `http:` on loopback in tests. */
export interface ProviderEndpoints {
  /** Compared character by character (RFC 9207 §2.4, OpenID Connect Core §3.1.3.7). */
  readonly issuer: string
  readonly authorization: string
  readonly token: string
  /** The provider's public keys; empty for a provider without ID tokens. */
  readonly jwks: string
  /** Tells the account of an access token; empty for a provider with ID tokens. */
  readonly user: string
  /** Lists the account's addresses and which are confirmed; empty for a provider with ID tokens. */
  readonly emails: string
  /** Whether the token endpoint takes the secret by `Authorization: Basic` alone (RFC 6749 §2.3.1). Default false. */
  readonly takesBasic?: boolean
  /** Whether each authorization response names its issuer (RFC 9207 §3). Default false. */
  readonly namesIssuer?: boolean
}

/** The host's credentials at a provider, from the settings. */
export interface ProviderCredentials {
  readonly clientId: string
  /** The shared secret; for Apple the key that signs it (PKCS #8 PEM). */
  readonly clientSecret: string
  /** Microsoft only: `common`, `organizations`, `consumers` or the id of a tenant. */
  readonly tenant: string
  /** Apple only, like `keyId`. */
  readonly teamId: string
  readonly keyId: string
}

/** The provider's statement about the user who signed in there. */
export interface Profile {
  /** Identifies the account together with `subject`. Addresses do not: they change hands (nOAuth). */
  readonly issuer: string
  readonly subject: string
  /** Null when the provider gave none. */
  readonly email: string | null
  /** True if the provider confirms that the address belongs to this account now. */
  readonly emailVerified: boolean
  /** Google: the Workspace domain that the account belongs to (`hd`); null of all others. */
  readonly hostedDomain: string | null
  /** For display; empty when the provider gave none. */
  readonly name: string
}

/** The one-time values of one sign-in. */
export interface SignInSecrets {
  /** Sent in the URL and expected back (RFC 6749 §10.12). */
  readonly state: string
  /** Expected back in the ID token (OpenID Connect Core §3.1.2.1). */
  readonly nonce: string
  /** Sent with the token request, and never before it (RFC 7636 §4.1). */
  readonly codeVerifier: string
}

/** What the page asks of a provider beside the library. A provider may do as it likes: it proves nothing. */
export interface SignInHints {
  /** Whom the page expects (OpenID Connect Core §3.1.2.1). */
  readonly loginHint?: string | undefined
  /** Google: the Workspace domain that is offered first. */
  readonly hostedDomain?: string | undefined
  /** One of `passedPrompts`; any other is not passed on. */
  readonly prompt?: string | undefined
}

/** What is asked of a provider when a sign-in begins. */
export interface SignInRequest extends SignInSecrets {
  readonly redirectUri: string
  /** Whether the person is to choose an account, also where one is signed in. Default false. */
  readonly asksForAccount?: boolean
  readonly hints?: SignInHints
}

/** What came back to the callback. */
export interface ProviderAnswer {
  readonly parameters: Readonly<Record<string, string>>
  readonly secrets: SignInSecrets
  /** The very one the sign-in was begun with. */
  readonly redirectUri: string
}

/** Claims of a verified ID token. */
export type Claims = Readonly<Record<string, unknown>>

interface AnyProvider {
  /** The name on a button. */
  readonly name: string
  /** No more than an account needs (RFC 9700 §2.3). */
  readonly scope: string
  /** The form in which the authorization response reaches the callback. */
  readonly responseMode: 'query' | 'form_post'
  /** Has the person choose an account (OpenID Connect Core §3.1.2.1); null where each sign-in asks them anyway. */
  readonly accountPrompt: 'select_account' | null
  /** Whether it tells a person's name at the very first sign-in alone. Default false. */
  readonly tellsNameOnce?: true
  readonly endpoints: ProviderEndpoints
  /** The endpoints, with the parts that depend on settings filled in. */
  locate(endpoints: ProviderEndpoints, credentials: ProviderCredentials): ProviderEndpoints
  /** True if an authorization response may come from this issuer (RFC 9207). */
  isIssuer(issuer: string, endpoints: ProviderEndpoints): boolean
}

/** A provider that identifies the user by an ID token. */
export interface OidcProvider extends AnyProvider {
  readonly kind: 'oidc'
  /** The only issuer that these claims, not yet verified, may come from; null without one. */
  issuerOf(
    claims: Claims,
    endpoints: ProviderEndpoints,
    credentials: ProviderCredentials,
  ): string | null
  /** True if this key of the provider may sign for this issuer. */
  mayKeySign(key: Claims, issuer: string): boolean
  /** `form` holds the other members of the authorization response, which no signature covers. */
  profileOf(claims: Claims, issuer: string, form: Claims): Profile | null
}

/** A provider without ID tokens, whose API identifies the user. */
export interface PlainProvider extends AnyProvider {
  readonly kind: 'plain'
  profileOf(user: unknown, emails: unknown, issuer: string): Profile | null
}

export type Provider = OidcProvider | PlainProvider
