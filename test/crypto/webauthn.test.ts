import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { creationOptions, verifyAssertion, verifyRegistration } from '../../src/crypto/webauthn.js'
import { softwareAuthenticator } from '../support/people/passkey-authenticator.js'

const origin = 'https://app.example.com'
const rpId = 'app.example.com'
const challenge = Buffer.alloc(32, 7).toString('base64url')
const expected = { rpId, origins: [origin], challenge, requireUserVerification: true }

async function created(algorithm: 'ES256' | 'EdDSA' = 'ES256') {
  const authenticator = softwareAuthenticator({ origin, algorithm })
  const options = await creationOptions({
    rpId,
    rpName: 'Auth',
    challenge,
    userHandle: 'dXNlcg',
    userName: 'ada@example.org',
    displayName: 'Ada',
    exclude: [],
    residentKey: 'preferred',
    userVerification: 'required',
    timeoutMs: 300_000,
  })
  const registration = { ...authenticator.create(options), type: 'public-key' as const }
  const assertion = { ...authenticator.get({ challenge, rpId }), type: 'public-key' as const }
  return { registration, assertion }
}

/** The bytes of a text in base64url, one of them changed. */
const changed = (text: string, at: number, to: number): string => {
  const bytes = Buffer.from(text, 'base64url')
  bytes[at % bytes.byteLength] = to
  return bytes.toString('base64url')
}

describe('what an authenticator sends', () => {
  it('verifies as it is (WebAuthn §7.1, WebAuthn §7.2)', async () => {
    const { registration, assertion } = await created()
    const credential = await verifyRegistration(registration, expected)
    expect(credential).toMatchObject({ id: registration.id, counter: 0, userVerified: true })
    if (typeof credential === 'string') throw new Error(credential)
    const shown = await verifyAssertion(assertion, expected, credential)
    expect(shown).toMatchObject({ counter: 1, userVerified: true, backedUp: false })
  })

  it.each<[string, (text: string) => string]>([
    ['padding', (text) => `${text}=`],
    ['a line break', (text) => `${text}\n`],
    ['a colon', (text) => `${text.slice(0, 4)}:${text.slice(4)}`],
  ])('is refused with %s, which is another spelling of the same bytes', async (_, spelled) => {
    const { registration, assertion } = await created()
    const credential = await verifyRegistration(registration, expected)
    if (typeof credential === 'string') throw new Error(credential)
    const { response } = assertion
    const members = ['clientDataJSON', 'authenticatorData', 'signature'] as const
    for (const member of members) {
      const other = { ...response, [member]: spelled(response[member]) }
      const shown = await verifyAssertion({ ...assertion, response: other }, expected, credential)
      expect(shown).toBe('malformed')
    }
  })

  it('is refused and never thrown at, whatever bytes it is', async () => {
    const { registration, assertion } = await created()
    const credential = await verifyRegistration(registration, expected)
    if (typeof credential === 'string') throw new Error(credential)
    const { publicKey } = credential
    const bytes = fc
      .uint8Array({ maxLength: 600 })
      .map((one) => Buffer.from(one).toString('base64url'))
    const texts = fc.oneof(bytes, fc.string({ maxLength: 40 }))
    await fc.assert(
      fc.asyncProperty(texts, texts, texts, async (one, two, three) => {
        const known = { id: assertion.id, publicKey }
        const genuine = [registration, assertion].map(({ response }) => response.clientDataJSON)
        for (const clientDataJSON of [one, ...genuine]) {
          const response = { clientDataJSON, attestationObject: two }
          expect(await verifyRegistration({ ...registration, response }, expected)).toBeTypeOf(
            'string',
          )
          const shown = { clientDataJSON, authenticatorData: two, signature: three }
          const given = { ...assertion, response: shown }
          expect(await verifyAssertion(given, expected, known)).toBeTypeOf('string')
        }
      }),
      { numRuns: 300 },
    )
  })

  it('18 25 one byte changed anywhere in an assertion makes it none', async () => {
    // Of ECDSA one signature can be written in several ways, all of them the signer's own.
    const { registration, assertion } = await created('EdDSA')
    const credential = await verifyRegistration(registration, expected)
    if (typeof credential === 'string') throw new Error(credential)
    const members = ['clientDataJSON', 'authenticatorData', 'signature'] as const
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...members),
        fc.nat({ max: 400 }),
        fc.nat({ max: 255 }),
        async (member, at, to) => {
          const text = changed(assertion.response[member], at, to)
          fc.pre(text !== assertion.response[member])
          const response = { ...assertion.response, [member]: text }
          const shown = await verifyAssertion({ ...assertion, response }, expected, credential)
          expect(shown).toBeTypeOf('string')
        },
      ),
      { numRuns: 400 },
    )
  })
})
