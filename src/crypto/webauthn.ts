import { type AsymmetricKeyDetails, createPublicKey, type JsonWebKey } from 'node:crypto'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { loadPart } from '../errors/index.js'
import type { PasskeyRefusal } from '../ports/events.js'
import { sha256 } from './secrets.js'
import { decodeSegment } from './token-format.js'

// Loaded by the first passkey: hosts without any pay nothing for it.
const library = () =>
  loadPart('WebAuthn', async () => ({
    ...(await import('@simplewebauthn/server')),
    ...(await import('@simplewebauthn/server/helpers')),
  }))

type Library = Awaited<ReturnType<typeof library>>

/** The party that asks for passkeys: what browsers bind them to, and the pages and apps that may use them. */
export interface RelyingParty {
  /** A domain name. */
  readonly rpId: string
  /** `https://…` of pages, `android:apk-key-hash:…` of apps. */
  readonly origins: readonly string[]
}

// Not the library's types: a strict host would have to compile those of its certificates too.

/** A credential that the options name. */
interface Descriptor {
  id: string
  type: string
  transports?: string[]
}

/** For `navigator.credentials.create`, as JSON (WebAuthn §5.1.9). */
export interface CreationOptions {
  rp: { id?: string; name: string }
  user: { id: string; name: string; displayName: string }
  challenge: string
  pubKeyCredParams: { type: 'public-key'; alg: number }[]
  timeout?: number
  excludeCredentials?: Descriptor[]
  authenticatorSelection?: {
    residentKey?: string
    requireResidentKey?: boolean
    userVerification?: string
  }
  attestation?: string
  hints?: string[]
  extensions?: { credProps?: boolean }
}

/** For `navigator.credentials.get`, as JSON (WebAuthn §5.1.10). */
export interface RequestOptions {
  rpId?: string
  challenge: string
  timeout?: number
  allowCredentials?: Descriptor[]
  userVerification?: string
}

/** A credential that was registered before. */
export interface KnownCredential {
  readonly id: string
  readonly transports: readonly string[]
}

/** What `navigator.credentials.create` gave, as JSON (WebAuthn §5.1.8). */
export interface RegistrationResponse {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly response: {
    readonly clientDataJSON: string
    readonly attestationObject: string
    readonly transports?: readonly string[] | null | undefined
  }
}

/** What `navigator.credentials.get` gave, as JSON. */
export interface AssertionResponse {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly response: {
    readonly clientDataJSON: string
    readonly authenticatorData: string
    readonly signature: string
    readonly userHandle?: string | null | undefined
  }
}

/** What a registration showed. */
export interface NewCredential {
  readonly id: string
  /** COSE key, base64url. */
  readonly publicKey: string
  readonly counter: number
  readonly transports: readonly string[]
  readonly userVerified: boolean
  readonly backupEligible: boolean
  readonly backedUp: boolean
}

/** What an assertion showed. Whether its counter went back is for the caller to judge. */
export type Assertion = Pick<
  NewCredential,
  'counter' | 'userVerified' | 'backupEligible' | 'backedUp'
>

/** The options for a new passkey. */
export interface CreationRequest {
  readonly rpId: string
  readonly rpName: string
  readonly challenge: string
  readonly userHandle: string
  readonly userName: string
  readonly displayName: string
  readonly exclude: readonly KnownCredential[]
  readonly residentKey: 'preferred' | 'required'
  readonly userVerification: 'preferred' | 'required'
  readonly timeoutMs: number
}

/** The options for a login. If `allow` is `null`, the person chooses among the passkeys of the page. */
export interface AssertionRequest {
  readonly rpId: string
  readonly challenge: string
  readonly allow: readonly KnownCredential[] | null
  readonly userVerification: 'preferred' | 'required'
  readonly timeoutMs: number
}

export interface Expected extends RelyingParty {
  readonly challenge: string
  readonly requireUserVerification: boolean
}

/** ES256, EdDSA, RS256 (COSE), the one most authenticators have first. */
const algorithms = [-7, -8, -257]

/** WebAuthn §4, "Credential ID". */
const maxIdBytes = 1023

/** For `navigator.credentials.create`. `userHandle` is all the authenticator learns of the account's id. */
export async function creationOptions(asked: CreationRequest): Promise<CreationOptions> {
  const { residentKey, userVerification } = asked
  return (await library()).generateRegistrationOptions({
    rpID: asked.rpId,
    rpName: asked.rpName,
    challenge: bytesOf(asked.challenge),
    userID: bytesOf(asked.userHandle),
    userName: asked.userName,
    userDisplayName: asked.displayName,
    timeout: asked.timeoutMs,
    attestationType: 'none',
    excludeCredentials: asked.exclude.map(descriptor),
    authenticatorSelection: { residentKey, userVerification },
    supportedAlgorithmIDs: algorithms,
  })
}

/** For `navigator.credentials.get`. Without `allow`, the person chooses among those of the page. */
export async function requestOptions(asked: AssertionRequest): Promise<RequestOptions> {
  return (await library()).generateAuthenticationOptions({
    rpID: asked.rpId,
    challenge: bytesOf(asked.challenge),
    timeout: asked.timeoutMs,
    userVerification: asked.userVerification,
    ...(asked.allow === null ? {} : { allowCredentials: asked.allow.map(descriptor) }),
  })
}

/**
 * Verifies a registration (WebAuthn §7.1). If it does not verify, the reason, for an event: the reply gives none. We ask
 * for no attestation, and read only those without a certificate: certificates name addresses to fetch.
 */
export async function verifyRegistration(
  response: RegistrationResponse,
  expected: Expected,
): Promise<NewCredential | PasskeyRefusal> {
  const { clientDataJSON, attestationObject } = response.response
  const data = areCanonical(clientDataJSON, attestationObject) ? clientDataOf(clientDataJSON) : null
  if (data === null) return 'malformed'
  if (isFramed(data)) return 'cross_origin'
  const webauthn = await library()
  const isPlain = await orNull(async () => isPlainAttestation(webauthn, attestationObject))
  if (isPlain !== true) return isPlain === null ? 'malformed' : 'attestation_unsupported'
  const given: RegistrationResponseJSON = {
    ...withoutExtensions(response),
    response: { clientDataJSON, attestationObject },
  }
  const result = await orNull(() =>
    webauthn.verifyRegistrationResponse({
      response: given,
      ...expectations(expected),
      supportedAlgorithmIDs: algorithms,
    }),
  )
  if (!result?.verified) {
    const shown = webauthn.decodeAttestationObject(bytesOf(attestationObject)).get('authData')
    const refusal = await refusalOf(webauthn, { data, type: 'webauthn.create', shown }, expected)
    return refusal ?? (result === null ? 'malformed' : 'signature_invalid')
  }
  const { credential, userVerified, credentialDeviceType, credentialBackedUp } =
    result.registrationInfo
  const { id, publicKey } = credential
  if (id !== response.id || bytesOf(id).byteLength > maxIdBytes) return 'malformed'
  if (!(await isSupported(webauthn, publicKey))) return 'public_key_unsupported'
  return {
    id,
    publicKey: Buffer.from(publicKey).toString('base64url'),
    counter: credential.counter,
    transports: response.response.transports ?? [],
    userVerified,
    backupEligible: credentialDeviceType === 'multiDevice',
    backedUp: credentialBackedUp,
  }
}

/** WebAuthn §7.2, up to the signature. The reason, for an event, if it does not verify. */
export async function verifyAssertion(
  response: AssertionResponse,
  expected: Expected,
  credential: { readonly id: string; readonly publicKey: string },
): Promise<Assertion | PasskeyRefusal> {
  const { clientDataJSON, authenticatorData, signature } = response.response
  const isReadable = areCanonical(clientDataJSON, authenticatorData, signature)
  const data = isReadable ? clientDataOf(clientDataJSON) : null
  if (data === null) return 'malformed'
  if (isFramed(data)) return 'cross_origin'
  if (response.id !== credential.id) return 'credential_unknown'
  const given: AuthenticationResponseJSON = {
    ...withoutExtensions(response),
    response: { clientDataJSON, authenticatorData, signature },
  }
  const webauthn = await library()
  const result = await orNull(() =>
    webauthn.verifyAuthenticationResponse({
      response: given,
      ...expectations(expected),
      // Zero: a counter that went back is told of only once the signature is known to be good.
      credential: { id: credential.id, publicKey: bytesOf(credential.publicKey), counter: 0 },
    }),
  )
  if (!result?.verified) {
    const shown = bytesOf(authenticatorData)
    const refusal = await refusalOf(webauthn, { data, type: 'webauthn.get', shown }, expected)
    return refusal ?? (result === null ? 'malformed' : 'signature_invalid')
  }
  const { newCounter, userVerified, credentialDeviceType, credentialBackedUp } =
    result.authenticationInfo
  return {
    counter: newCounter,
    userVerified,
    backupEligible: credentialDeviceType === 'multiDevice',
    backedUp: credentialBackedUp,
  }
}

function expectations({ rpId, origins, challenge, requireUserVerification }: Expected) {
  return {
    expectedChallenge: challenge,
    expectedOrigin: [...origins],
    expectedRPID: rpId,
    requireUserVerification,
  }
}

/** The library says what is wrong by throwing bare errors, at bytes of every kind. */
async function orNull<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch {
    return null
  }
}

/**
 * Base64url in its one spelling (WebAuthn §5.1.8). In others, with a colon in it for instance, our decoder and the
 * package's see different bytes: what is judged here would not be what is verified there.
 */
function areCanonical(...texts: readonly string[]): boolean {
  return texts.every((text) => decodeSegment(text) !== null)
}

function clientDataOf(clientDataJSON: string): object | null {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8'))
    return typeof data === 'object' ? data : null
  } catch {
    return null
  }
}

/** In a page of another origin, which no host asked for (WebAuthn §13.4.9). */
function isFramed(data: object): boolean {
  const crossOrigin: unknown = Reflect.get(data, 'crossOrigin')
  return (crossOrigin !== undefined && crossOrigin !== false) || 'topOrigin' in data
}

/**
 * Why the package refused a response. Its error messages may change, so this looks at the response itself. It only
 * names the refusal, and decides nothing. Null if only the verification itself can tell.
 */
async function refusalOf(
  webauthn: Library,
  { data, type, shown }: { data: object; type: string; shown: Uint8Array<ArrayBuffer> },
  { rpId, origins, challenge, requireUserVerification }: Expected,
): Promise<PasskeyRefusal | null> {
  const said = (member: string): unknown => Reflect.get(data, member)
  if (said('type') !== type) return 'type_mismatch'
  if (said('challenge') !== challenge) return 'challenge_mismatch'
  if (!origins.some((origin) => origin === said('origin'))) return 'origin_mismatch'
  const read = await orNull(async () => webauthn.parseAuthenticatorData(shown))
  if (read === null) return 'malformed'
  const { rpIdHash, flags, credentialPublicKey: key } = read
  if (Buffer.from(rpIdHash).toString('base64url') !== sha256(rpId)) return 'rp_id_mismatch'
  if (!flags.up) return 'user_not_present'
  if (requireUserVerification && !flags.uv) return 'user_not_verified'
  if (flags.bs && !flags.be) return 'backup_state_invalid'
  return key === undefined || (await isSupported(webauthn, key)) ? null : 'public_key_unsupported'
}

/** None, or one the credential signed itself. Throws for what cannot be read. */
function isPlainAttestation(
  { decodeAttestationObject }: Library,
  attestationObject: string,
): boolean {
  const decoded = decodeAttestationObject(bytesOf(attestationObject))
  const format = decoded.get('fmt')
  if (format === 'none') return true
  return format === 'packed' && decoded.get('attStmt').get('x5c') === undefined
}

async function isSupported(webauthn: Library, key: Uint8Array<ArrayBuffer>): Promise<boolean> {
  return (await orNull(async () => isUsableKey(webauthn, key))) === true
}

/** Nothing was asked of extensions, so nothing they say is looked at (WebAuthn §9). */
function withoutExtensions({ id, rawId, type }: RegistrationResponse | AssertionResponse) {
  return { id, rawId, type, clientExtensionResults: {} }
}

function descriptor({ id, transports }: KnownCredential) {
  return { id, transports: [...transports] }
}

/** A copy with a buffer of its own, which is what the library's types ask for. */
function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(base64url, 'base64url'))
}

/** Labels and values of COSE (RFC 9053 §2 and §7, RFC 8230 §4). */
const kty = { okp: 1, ec2: 2, rsa: 3 } as const
const curve = { p256: 1, ed25519: 6 } as const
const algorithmOf = new Map<unknown, number>([
  [kty.ec2, -7],
  [kty.okp, -8],
  [kty.rsa, -257],
])

/** Reads COSE. */
interface KeyDecoder {
  decodeCredentialPublicKey(cose: Uint8Array<ArrayBuffer>): { get(label: number): unknown }
}

/**
 * Whether signatures can be verified with this COSE key: one for ES256, EdDSA or RS256 that names its own algorithm,
 * whose members are whole and whose point lies on its curve. Where no attestation is signed, nothing else shows it
 * before the first use, and the decoder of CBOR takes bytes that end too early. Throws for what is no COSE key.
 */
export function isUsableKey(
  { decodeCredentialPublicKey }: KeyDecoder,
  cose: Uint8Array<ArrayBuffer>,
): boolean {
  const key = decodeCredentialPublicKey(cose)
  const jwk = jwkOf(key)
  if (jwk === null || key.get(3) !== algorithmOf.get(key.get(1))) return false
  const { asymmetricKeyDetails: of = {} } = createPublicKey({ key: jwk, format: 'jwk' })
  return jwk.kty !== 'RSA' || isStrong(of)
}

/** FIPS 186-5 §5.1 and §5.4. */
function isStrong({ modulusLength = 0, publicExponent = 0n }: AsymmetricKeyDetails): boolean {
  return modulusLength >= 2048 && publicExponent > 2n ** 16n
}

function jwkOf(key: { get(label: number): unknown }): JsonWebKey | null {
  const [type, crv, x, y] = [key.get(1), key.get(-1), text(key.get(-2)), text(key.get(-3))]
  if (type === kty.ec2 && crv === curve.p256) return { kty: 'EC', crv: 'P-256', x, y }
  if (type === kty.okp && crv === curve.ed25519) return { kty: 'OKP', crv: 'Ed25519', x }
  return type === kty.rsa ? { kty: 'RSA', n: text(crv), e: x } : null
}

/** Empty for what is no bytes, which no key has for a member. */
function text(bytes: unknown): string {
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString('base64url') : ''
}
