import { describe, expect, it } from 'vitest'
import {
  type AssertionResponse,
  creationOptions,
  type Expected,
  type RegistrationResponse,
  requestOptions,
  verifyAssertion,
  verifyRegistration,
} from '../../src/crypto/webauthn.js'
import type { PasskeyRefusal } from '../../src/ports/events.js'
import {
  type AuthenticatorTraits,
  type Departure,
  softwareAuthenticator,
} from '../support/people/passkey-authenticator.js'

const origin = 'https://app.example.com'
const rpId = 'app.example.com'
const challenge = Buffer.alloc(32, 7).toString('base64url')
const expected: Expected = { rpId, origins: [origin], challenge, requireUserVerification: true }
const asked = {
  rpId,
  rpName: 'Acme',
  challenge,
  userHandle: 'dXNlcg',
  userName: 'ada@example.org',
  displayName: 'Ada',
  exclude: [{ id: 'AQID', transports: ['usb'] }],
  residentKey: 'required',
  userVerification: 'preferred',
  timeoutMs: 300_000,
} as const

async function registered(departure: Departure = {}, traits: Partial<AuthenticatorTraits> = {}) {
  const authenticator = softwareAuthenticator({ origin, ...traits })
  const made = authenticator.create(await creationOptions(asked), departure)
  return { authenticator, response: made as RegistrationResponse }
}

/** What comes of a registration, and of the first use of what was registered. */
async function used(departure: Departure, terms: Partial<Expected> = {}, traits = {}) {
  const { authenticator, response } = await registered({}, traits)
  const credential = await verifyRegistration(response, expected)
  if (typeof credential === 'string') throw new Error(credential)
  const shown = authenticator.get({ challenge, rpId }, departure) as AssertionResponse
  return verifyAssertion(shown, { ...expected, ...terms }, credential)
}

describe('what an authenticator is asked for', () => {
  it('at a registration', async () => {
    expect(await creationOptions(asked)).toMatchObject({
      rp: { id: rpId, name: 'Acme' },
      user: { id: 'dXNlcg', name: 'ada@example.org', displayName: 'Ada' },
      ...{ challenge, timeout: 300_000, attestation: 'none' },
      pubKeyCredParams: [-7, -8, -257].map((alg) => ({ alg, type: 'public-key' })),
      excludeCredentials: [{ id: 'AQID', type: 'public-key', transports: ['usb'] }],
      authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
    })
  })

  it('at a login, with the passkeys that may answer, or with any', async () => {
    const login = { rpId, challenge, userVerification: 'required', timeoutMs: 60_000 } as const
    const allow = [{ id: 'AQID', transports: ['internal'] }]
    const common = { rpId, challenge, timeout: 60_000, userVerification: 'required' }
    expect(await requestOptions({ ...login, allow })).toMatchObject({
      ...common,
      allowCredentials: [{ id: 'AQID', type: 'public-key', transports: ['internal'] }],
    })
    const any = await requestOptions({ ...login, allow: null })
    expect(any).toMatchObject(common)
    expect(any.allowCredentials).toBeUndefined()
  })
})

describe('a registration', () => {
  it.each(['ES256', 'EdDSA', 'RS256'] as const)(
    'with %s tells what was made',
    async (algorithm) => {
      const { response } = await registered({}, { algorithm })
      expect(await verifyRegistration(response, expected)).toEqual({
        id: response.id,
        publicKey: expect.stringMatching(/^[\w-]+$/),
        ...{ counter: 0, transports: ['internal', 'hybrid'] },
        ...{ userVerified: true, backupEligible: false, backedUp: false },
      })
    },
  )

  it('tells of a passkey that is synced, and of transports that were not named', async () => {
    const { response } = await registered({}, { synced: true })
    const { transports: _, ...rest } = response.response
    const credential = await verifyRegistration({ ...response, response: rest }, expected)
    expect(credential).toMatchObject({ transports: [], backupEligible: true, backedUp: true })
  })

  it('may be attested by the credential itself', async () => {
    const { response } = await registered({ format: 'packed' })
    expect(await verifyRegistration(response, expected)).toMatchObject({ id: response.id })
  })

  it.each<[string, PasskeyRefusal, Departure]>([
    ['another page', 'origin_mismatch', { origin: 'https://evil.example.com' }],
    ['another domain', 'rp_id_mismatch', { rpId: 'example.com' }],
    [
      'another challenge',
      'challenge_mismatch',
      { challenge: Buffer.alloc(32, 8).toString('base64url') },
    ],
    ['another ceremony', 'type_mismatch', { type: 'webauthn.get' }],
    ['a frame of another origin', 'cross_origin', { crossOrigin: true }],
    ['a frame that names the page around it', 'cross_origin', { topOrigin: origin }],
    ['nobody there', 'user_not_present', { userPresent: false }],
    ['nobody verified', 'user_not_verified', { userVerified: false }],
    [
      'an attestation with a certificate',
      'attestation_unsupported',
      { format: 'packed with a certificate' },
    ],
    ['an attestation by another key', 'signature_invalid', { format: 'packed', otherKey: true }],
    ['an attestation of another kind', 'attestation_unsupported', { format: 'fido-u2f' }],
    ['bytes after its end', 'malformed', { trailing: 1 }],
    [
      'an id that is too long',
      'malformed',
      { credentialId: Buffer.alloc(1024, 1).toString('base64url') },
    ],
  ])('from %s is none: %s', async (_name, reason, departure) => {
    const { response } = await registered(departure)
    expect(await verifyRegistration(response, expected)).toBe(reason)
  })

  it('may have the longest id, and come from a frame of the page itself', async () => {
    const longest = Buffer.alloc(1023, 1).toString('base64url')
    for (const departure of [{ credentialId: longest }, { crossOrigin: false }])
      expect(
        await verifyRegistration((await registered(departure)).response, expected),
      ).toMatchObject({ userVerified: true })
  })

  it('of another id than it names is none', async () => {
    const { response } = await registered()
    for (const id of [Buffer.alloc(32, 1).toString('base64url'), ''])
      expect(await verifyRegistration({ ...response, id, rawId: id }, expected)).toBe('malformed')
  })

  // A key of ES256 whose algorithm is one that nobody asked for, or EdDSA. The package refuses the first alone.
  it.each(['01020325', '01020327'])('with a key that begins with %s is none', async (other) => {
    const { response } = await registered()
    const bytes = Buffer.from(response.response.attestationObject, 'base64url').toString('hex')
    const of = Buffer.from(bytes.replace('01020326', other), 'hex').toString('base64url')
    const given = { ...response, response: { ...response.response, attestationObject: of } }
    expect(await verifyRegistration(given, expected)).toBe('public_key_unsupported')
  })

  it('needs no verified person where that is preferred alone', async () => {
    const { response } = await registered({ userVerified: false })
    const terms = { ...expected, requireUserVerification: false }
    expect(await verifyRegistration(response, terms)).toMatchObject({ userVerified: false })
  })

  it('whose attestation cannot be read is none', async () => {
    const { response } = await registered()
    const given = { ...response, response: { ...response.response, attestationObject: 'AAAA' } }
    expect(await verifyRegistration(given, expected)).toBe('malformed')
  })

  it.each(['null', '7', '[', '"text"', '', '{}'])(
    'with client data of %j is none',
    async (text) => {
      const { response } = await registered()
      const clientDataJSON = Buffer.from(text).toString('base64url')
      const given = { ...response, response: { ...response.response, clientDataJSON } }
      const isObject = text.startsWith('{')
      expect(await verifyRegistration(given, expected)).toBe(
        isObject ? 'type_mismatch' : 'malformed',
      )
    },
  )
})

describe('an assertion', () => {
  it('tells what was shown', async () => {
    expect(await used({})).toEqual({
      ...{ counter: 1, userVerified: true, backupEligible: false, backedUp: false },
    })
    // Whether a counter went back is not judged here.
    expect(await used({ counter: 0 })).toMatchObject({ counter: 0 })
    const synced = await used({}, {}, { synced: true })
    expect(synced).toMatchObject({ backupEligible: true, backedUp: true })
  })

  it.each<[string, PasskeyRefusal, Departure]>([
    ['another page', 'origin_mismatch', { origin: 'https://evil.example.com' }],
    [
      'another challenge',
      'challenge_mismatch',
      { challenge: Buffer.alloc(32, 8).toString('base64url') },
    ],
    ['another ceremony', 'type_mismatch', { type: 'webauthn.create' }],
    ['a frame of another origin', 'cross_origin', { crossOrigin: true }],
    ['a frame that names the page around it', 'cross_origin', { topOrigin: origin }],
    ['nobody there', 'user_not_present', { userPresent: false }],
    ['nobody verified', 'user_not_verified', { userVerified: false }],
    ['another key', 'signature_invalid', { otherKey: true }],
    [
      'another credential',
      'credential_unknown',
      { credentialId: Buffer.alloc(32, 1).toString('base64url') },
    ],
  ])('from %s is none: %s', async (_name, reason, departure) => {
    expect(await used(departure)).toBe(reason)
  })

  it('is good for one of several pages, and for one domain', async () => {
    const origins = ['https://other.example.com', origin]
    expect(await used({}, { origins })).toMatchObject({ counter: 1 })
    expect(await used({}, { origins: [] })).toBe('origin_mismatch')
    expect(await used({}, { rpId: 'example.com' })).toBe('rp_id_mismatch')
  })

  it('needs no verified person where that is preferred alone', async () => {
    const shown = await used({ userVerified: false }, { requireUserVerification: false })
    expect(shown).toMatchObject({ userVerified: false })
  })
})

describe('a text that decoders read differently', () => {
  // Node leaves a colon out, and the package reads an A in its place.
  const respelled = (text: string): string => text.replace('AAAA', 'AA:A')

  it('is no registration (WebAuthn §5.1.8)', async () => {
    const { response } = await registered()
    for (const member of ['clientDataJSON', 'attestationObject'] as const) {
      const honest = response.response[member]
      for (const text of [respelled(honest), `${honest}=`, `${honest}:`]) {
        if (text === honest) continue
        const given = { ...response, response: { ...response.response, [member]: text } }
        expect(await verifyRegistration(given, expected)).toBe('malformed')
      }
    }
  })

  it('is no assertion (WebAuthn §5.1.8)', async () => {
    const { authenticator, response } = await registered()
    const credential = await verifyRegistration(response, expected)
    if (typeof credential === 'string') throw new Error(credential)
    const shown = authenticator.get({ challenge, rpId }) as AssertionResponse
    for (const member of ['clientDataJSON', 'authenticatorData', 'signature'] as const) {
      const honest = shown.response[member]
      for (const text of [respelled(honest), `${honest}=`, `${honest}:`]) {
        if (text === honest) continue
        const given = { ...shown, response: { ...shown.response, [member]: text } }
        expect(await verifyAssertion(given, expected, credential)).toBe('malformed')
      }
    }
    const unsigned = { ...shown, response: { ...shown.response, signature: 'AAAA' } }
    expect(await verifyAssertion(unsigned, expected, credential)).toBe('malformed')
    expect(await verifyAssertion(shown, expected, credential)).toMatchObject({ counter: 1 })
  })
})
