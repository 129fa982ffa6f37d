import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  importPKCS8,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
  SignJWT,
} from 'jose'
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type Client,
  ClientSecretBasic,
  ClientSecretPost,
  clockTolerance,
  customFetch,
  processAuthorizationCodeResponse,
  validateAuthResponse,
} from 'oauth4webapi'
import type { Clock } from '../ports/host.js'
import { createKeySets, type KeySets, type PublishedKey } from './key-sets.js'
import type { Outbound } from './outbound.js'
import type {
  Claims,
  OidcProvider,
  Profile,
  Provider,
  ProviderAnswer,
  ProviderCredentials,
  ProviderEndpoints,
  SignInSecrets,
} from './provider.js'
import { ProviderError } from './provider-error.js'

interface Deps {
  readonly outbound: Outbound
  readonly clock: Clock
  endpointsOf(id: string, credentials: ProviderCredentials): Promise<ProviderEndpoints>
}

/**
 * Reads a provider's answer: who signed in, or null when the provider named no person. Rejects with a
 * `ProviderError` for anything but a good answer.
 */
export type ProviderSignIn = (
  which: { readonly id: string; readonly provider: Provider },
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

  async function askFor(url: string, accessToken: string, accept: string): Promise<unknown> {
    if (accessToken.length > longestAccessToken) {
      throw new ProviderError('the provider sent an access token that is too long')
    }
    const headers = {
      accept,
      authorization: `Bearer ${accessToken}`,
    }
    const reply = await outbound(url, { method: 'GET', headers, body: null })
    if (reply.status !== 200) throw new ProviderError('a provider refused to say who signed in')
    return reply.json()
  }

  /**
   * What the ID token leaves out, from the UserInfo endpoint: some issuers tell addresses there alone. It is believed
   * only if it is about the same person (OpenID Connect Core §5.3.2).
   */
  async function completed(claims: Claims, url: string, accessToken: string): Promise<Claims> {
    if (url === '' || claims['email'] !== undefined) return claims
    const told = { ...Object(await askFor(url, accessToken, 'application/json')) }
    if (told['sub'] !== claims['sub']) {
      throw new ProviderError('the issuer told of another person than it signed for')
    }
    const { email, email_verified, name } = told
    return { name, ...claims, email, email_verified }
  }

  async function whoSignedIn(
    { id, provider }: { readonly id: string; readonly provider: Provider },
    credentials: ProviderCredentials,
    { parameters, secrets, redirectUri }: ProviderAnswer,
  ): Promise<Profile | null> {
    const endpoints = await endpointsOf(id, credentials)
    const { iss, ...others } = parameters
    // Compared here, because one provider's issuer has a part that is not known yet (RFC 9207).
    if (iss === undefined ? endpoints.namesIssuer : !provider.isIssuer(iss, endpoints)) {
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
      const all = await completed(claims, endpoints.user, tokens.accessToken)
      return provider.profileOf(all, issuer, parameters)
    }
    const github = 'application/vnd.github+json'
    const [user, emails] = await Promise.all([
      askFor(endpoints.user, tokens.accessToken, github),
      askFor(endpoints.emails, tokens.accessToken, github),
    ])
    return provider.profileOf(user, emails, endpoints.issuer)
  }

  return async (which, credentials, answer) => {
    try {
      return await whoSignedIn(which, credentials, answer)
    } catch (cause) {
      if (cause instanceof ProviderError) throw cause
      if (cause instanceof AuthorizationResponseError && denials.includes(cause.error)) {
        throw new ProviderError('the person said no', { isDenial: true, cause })
      }
      throw new ProviderError('the provider gave no good answer', { cause })
    }
  }
}

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
    (endpoints.takesBasic ? ClientSecretBasic : ClientSecretPost)(given.clientSecret),
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
  const published = (await keySets.read(endpoints.jwks, kid)).published(kid)
  if (published.length === 0) {
    throw new ProviderError('the key of the ID token is not the provider’s')
  }
  const keys = published.filter(({ entry }) => provider.mayKeySign(entry, issuer))
  if (keys.length === 0) throw new ProviderError('the key of the ID token is another tenant’s')
  const payload = await verifiedByOne(idToken, keys, {
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

/** The claims of a token that one of the keys signed. Rejects with what the last of them was refused for. */
async function verifiedByOne(
  token: string,
  keys: readonly PublishedKey[],
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  let refusal: unknown
  for (const { keyFor } of keys) {
    try {
      return (await jwtVerify(token, keyFor, options)).payload
    } catch (error) {
      // The signature was good: what the token says is the same with every other key.
      if (error instanceof errors.JWTClaimValidationFailed) throw error
      if (error instanceof errors.JWTExpired) throw error
      refusal = error
    }
  }
  throw refusal
}

/** Apple allows six months. One that got out should not be good for as long. */
const lifeSeconds = 60 * 60

interface Minted {
  readonly credentials: ProviderCredentials
  readonly audience: string
  readonly mintedAt: number
  readonly secret: Promise<string>
}

/** Makes the client secrets Apple asks for: JWTs signed with ES256 by the key of the settings. */
export interface AppleSecrets {
  /** A secret with at least half of its life left. Rejects for a key that cannot be read. */
  secretFor(credentials: ProviderCredentials, audience: string): Promise<string>
}

export function createAppleSecrets(clock: Clock): AppleSecrets {
  let newest: Minted | null = null

  return {
    async secretFor(credentials, audience) {
      const now = clock.now()
      const isGood =
        newest !== null &&
        newest.audience === audience &&
        sameKey(newest.credentials, credentials) &&
        now >= newest.mintedAt &&
        now - newest.mintedAt < (lifeSeconds * 1000) / 2
      if (newest === null || !isGood) {
        newest = { credentials, audience, mintedAt: now, secret: mint(credentials, audience, now) }
      }
      const { secret } = newest
      try {
        return await secret
      } catch (error) {
        newest = null
        throw error
      }
    },
  }
}

async function mint(
  { clientId, clientSecret, teamId, keyId }: ProviderCredentials,
  audience: string,
  now: number,
): Promise<string> {
  const key = await importPKCS8(clientSecret, 'ES256')
  const issuedAt = Math.floor(now / 1000)
  return new SignJWT({})
    .setProtectedHeader({ alg: 'ES256', kid: keyId })
    .setIssuer(teamId)
    .setSubject(clientId)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + lifeSeconds)
    .sign(key)
}

function sameKey(a: ProviderCredentials, b: ProviderCredentials): boolean {
  return (
    a.clientId === b.clientId &&
    a.clientSecret === b.clientSecret &&
    a.teamId === b.teamId &&
    a.keyId === b.keyId
  )
}
