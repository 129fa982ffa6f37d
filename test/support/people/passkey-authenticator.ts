import assert from 'node:assert/strict'
import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { cbor } from './cbor.js'

/** What of `navigator.credentials.create`'s options this authenticator goes by. */
export interface CreationOptions {
  readonly challenge: string
  readonly rp: { readonly id?: string | undefined }
  readonly user: { readonly id: string }
  readonly pubKeyCredParams: readonly { readonly alg: number }[]
  readonly excludeCredentials?: readonly { readonly id: string }[] | undefined
}

export interface RequestOptions {
  readonly challenge: string
  readonly rpId?: string | undefined
  readonly allowCredentials?: readonly { readonly id: string }[] | undefined
  readonly userVerification?: string | undefined
}

/** Where a response departs from what an honest browser and authenticator would make of the options. */
export interface Departure {
  readonly origin?: string
  readonly rpId?: string
  readonly type?: string
  readonly challenge?: string
  readonly crossOrigin?: boolean
  readonly topOrigin?: string
  readonly userPresent?: boolean
  readonly userVerified?: boolean
  readonly backupEligible?: boolean
  readonly backedUp?: boolean
  /** The signature counter shown. */
  readonly counter?: number
  /** Signs with a key nobody registered. */
  readonly otherKey?: true
  /** Null leaves it out. */
  readonly userHandle?: string | null
  readonly credentialId?: string
  /** The attestation's format; `packed` is signed by the credential itself. */
  readonly format?: 'none' | 'packed' | 'packed with a certificate' | 'fido-u2f'
  /** What an attestation with a certificate is signed with; without it, nothing that verifies. */
  readonly certificate?: { readonly cert: string; readonly key: string }
  /** Bytes after the end of the authenticator data. */
  readonly trailing?: number
}

export interface AuthenticatorTraits {
  /** The page it is used on. */
  readonly origin: string
  /** Default ES256. */
  readonly algorithm?: 'ES256' | 'RS256' | 'EdDSA'
  /** A synced passkey: backed up, and without a counter. */
  readonly synced?: boolean
  /** Whether it asks for a PIN or a fingerprint. Default true. */
  readonly verifies?: boolean
}

interface Credential {
  readonly id: string
  readonly privateKey: KeyObject
  readonly rpId: string
  readonly userHandle: string
  counter: number
}

const coseAlgorithms = { ES256: -7, EdDSA: -8, RS256: -257 } as const

/**
 * An authenticator and the browser in front of it, in software (WebAuthn §5.1, §6), for tests. It
 * answers as `PublicKeyCredential.toJSON` would, honestly unless told to depart from it.
 */
export function softwareAuthenticator(traits: AuthenticatorTraits) {
  const { algorithm = 'ES256', synced = false, verifies = true } = traits
  const credentials: Credential[] = []

  function clientData(type: string, challenge: string, departure: Departure): Buffer {
    const { crossOrigin, topOrigin } = departure
    return Buffer.from(
      JSON.stringify({
        type: departure.type ?? type,
        challenge: departure.challenge ?? challenge,
        origin: departure.origin ?? traits.origin,
        ...(crossOrigin === undefined ? {} : { crossOrigin }),
        ...(topOrigin === undefined ? {} : { topOrigin }),
      }),
    )
  }

  function authenticatorData(
    rpId: string,
    counter: number,
    attested: Buffer | null,
    departure: Departure,
  ): Buffer {
    const flags = [
      departure.userPresent ?? true,
      false,
      departure.userVerified ?? verifies,
      departure.backupEligible ?? synced,
      departure.backedUp ?? synced,
      false,
      attested !== null,
    ].reduce((bits, isSet, index) => bits | (isSet ? 1 << index : 0), 0)
    const head = Buffer.alloc(5)
    head.writeUInt8(flags, 0)
    head.writeUInt32BE(counter, 1)
    const tail = Buffer.alloc(departure.trailing ?? 0)
    return Buffer.concat([sha256(departure.rpId ?? rpId), head, attested ?? Buffer.alloc(0), tail])
  }

  const signed = (key: KeyObject, data: Buffer): Buffer =>
    sign(algorithm === 'EdDSA' ? null : 'sha256', data, key)

  /** WebAuthn §8: none, one the credential signed, or one with a certificate. */
  function statementOf(data: Buffer, own: KeyObject, departure: Departure): Map<string, unknown> {
    const { format = 'none', certificate } = departure
    if (format === 'none') return new Map()
    const statement = new Map<string, unknown>([['alg', coseAlgorithms[algorithm]]])
    if (format === 'packed') {
      const by = departure.otherKey ? keyPair(algorithm).privateKey : own
      return statement.set('sig', signed(by, data))
    }
    const key = certificate ? createPrivateKey(certificate.key) : own
    const x5c = certificate ? new X509Certificate(certificate.cert).raw : randomBytes(300)
    return statement.set('sig', signed(key, data)).set('x5c', [x5c])
  }

  return {
    /** Answers a registration; the credential stays here. */
    create(options: CreationOptions, departure: Departure = {}) {
      const known = credentials.map(({ id }) => id)
      const excluded = options.excludeCredentials?.some(({ id }) => known.includes(id)) ?? false
      assert.ok(!excluded, 'InvalidStateError: the person has a passkey on this authenticator')
      const alg = coseAlgorithms[algorithm]
      assert.ok(
        options.pubKeyCredParams.some((wanted) => wanted.alg === alg),
        'NotSupportedError',
      )
      const rpId = options.rp.id ?? new URL(traits.origin).hostname
      const { publicKey, privateKey } = keyPair(algorithm)
      const id = departure.credentialId ?? randomBytes(32).toString('base64url')
      const counter = departure.counter ?? 0
      credentials.push({ id, privateKey, rpId, userHandle: options.user.id, counter })
      const rawId = Buffer.from(id, 'base64url')
      const length = Buffer.alloc(2)
      length.writeUInt16BE(rawId.byteLength)
      const cose = coseKey(publicKey.export({ format: 'jwk' }), alg)
      const attested = Buffer.concat([Buffer.alloc(16), length, rawId, cose])
      const authData = authenticatorData(rpId, counter, attested, departure)
      const clientDataJSON = clientData('webauthn.create', options.challenge, departure)
      const toBeSigned = Buffer.concat([authData, sha256(clientDataJSON)])
      const { format = 'none' } = departure
      const attestationObject = cbor(
        new Map<string, unknown>([
          ['fmt', format === 'packed with a certificate' ? 'packed' : format],
          ['attStmt', statementOf(toBeSigned, privateKey, departure)],
          ['authData', authData],
        ]),
      )
      return {
        id,
        rawId: id,
        type: 'public-key',
        authenticatorAttachment: 'platform',
        clientExtensionResults: { credProps: { rk: true } },
        response: {
          clientDataJSON: clientDataJSON.toString('base64url'),
          attestationObject: attestationObject.toString('base64url'),
          authenticatorData: authData.toString('base64url'),
          publicKeyAlgorithm: alg,
          transports: ['internal', 'hybrid'],
        },
      }
    },

    /** Answers a login with the newest credential that fits. */
    get(options: RequestOptions, departure: Departure = {}) {
      const rpId = options.rpId ?? new URL(traits.origin).hostname
      const allowed = options.allowCredentials?.map(({ id }) => id) ?? null
      const credential = credentials.findLast(
        ({ id, rpId: of }) => of === rpId && (allowed === null || allowed.includes(id)),
      )
      assert.ok(credential, 'NotAllowedError: there is no passkey for this')
      if (!synced && departure.counter === undefined) credential.counter += 1
      const counter = departure.counter ?? credential.counter
      const authData = authenticatorData(rpId, counter, null, departure)
      const clientDataJSON = clientData('webauthn.get', options.challenge, departure)
      const key = departure.otherKey ? keyPair(algorithm).privateKey : credential.privateKey
      const id = departure.credentialId ?? credential.id
      const handle =
        departure.userHandle === undefined ? credential.userHandle : departure.userHandle
      return {
        id,
        rawId: id,
        type: 'public-key',
        authenticatorAttachment: 'platform',
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientDataJSON.toString('base64url'),
          authenticatorData: authData.toString('base64url'),
          signature: signed(key, Buffer.concat([authData, sha256(clientDataJSON)])).toString(
            'base64url',
          ),
          ...(handle === null ? {} : { userHandle: handle }),
        },
      }
    },

    /** The ids of the credentials on it, oldest first. */
    get ids(): readonly string[] {
      return credentials.map(({ id }) => id)
    },
  }
}

export type SoftwareAuthenticator = ReturnType<typeof softwareAuthenticator>

function keyPair(algorithm: 'ES256' | 'RS256' | 'EdDSA') {
  if (algorithm === 'EdDSA') return generateKeyPairSync('ed25519')
  if (algorithm === 'RS256') return generateKeyPairSync('rsa', { modulusLength: 2048 })
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

/** RFC 9053, RFC 8230. */
function coseKey(jwk: JsonWebKey, alg: number): Buffer {
  const bytes = (text = '') => Buffer.from(text, 'base64url')
  if (jwk.kty === 'RSA') {
    return cbor(
      new Map<number, unknown>([
        [1, 3],
        [3, alg],
        [-1, bytes(jwk.n)],
        [-2, bytes(jwk.e)],
      ]),
    )
  }
  const isOkp = jwk.kty === 'OKP'
  return cbor(
    new Map<number, unknown>([
      [1, isOkp ? 1 : 2],
      [3, alg],
      [-1, isOkp ? 6 : 1],
      [-2, bytes(jwk.x)],
      ...(isOkp ? [] : ([[-3, bytes(jwk.y)]] as const)),
    ]),
  )
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest()
}
