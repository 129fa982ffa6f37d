import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import {
  type AssertionResponse,
  creationOptions,
  type NewCredential,
  type RegistrationResponse,
  verifyAssertion,
  verifyRegistration,
} from '../../src/crypto/webauthn.js'
import { type Departure, softwareAuthenticator } from '../support/people/passkey-authenticator.js'
import { changedBytes, changedText } from './changed.js'
import { type Draw, fuzz, oneOf } from './fuzz.js'

const origin = 'https://app.example.com'
const app = 'android:apk-key-hash:FD18FA'
const rpId = 'app.example.com'
const challenge = Buffer.alloc(32, 7).toString('base64url')
const expected = { rpId, origins: [origin, app], challenge, requireUserVerification: true }
const rpIdHash = createHash('sha256').update(rpId).digest()

/** Honest answers, and those that one thing is wrong with. */
const departures: readonly Departure[] = [
  ...[{}, {}, {}, { origin: app }, { counter: 7 }, { backupEligible: true, backedUp: true }],
  ...[{ origin: 'https://evil.example' }, { origin: `${origin}.evil.example` }],
  ...[{ rpId: 'evil.example' }, { type: 'webauthn.other' }, { challenge: 'AAAA' }],
  ...[{ crossOrigin: true }, { crossOrigin: false }, { topOrigin: 'https://evil.example' }],
  ...[{ userPresent: false }, { userVerified: false }, { otherKey: true } as const],
  ...[{ backedUp: true, backupEligible: false }, { trailing: 3 }, { format: 'packed' } as const],
  ...[{ format: 'packed with a certificate' } as const, { format: 'fido-u2f' } as const],
]

const asked = await creationOptions({
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

const fresh = () => softwareAuthenticator({ origin })
const created = (departure: Departure): RegistrationResponse => ({
  ...fresh().create(asked, departure),
  type: 'public-key',
})
const registrations = departures.flatMap((departure) => [created(departure), created(departure)])

const holder = fresh()
const [own] = [holder.create(asked)]
const registered = await verifyRegistration({ ...own, type: 'public-key' }, expected)
if (typeof registered === 'string') throw new Error(registered)
const credential: NewCredential = registered
const assertions = departures.map(
  (departure): AssertionResponse => ({
    ...holder.get({ challenge, rpId }, departure),
    type: 'public-key',
  }),
)

/** A member of one answer: as it is, of another answer, or with other bytes or another spelling. */
function member(draw: Draw, texts: readonly string[], at: number): string {
  const kind = draw(6)
  const text = texts[at] ?? ''
  if (kind === 0) return oneOf(draw, texts)
  if (kind === 1) {
    return Buffer.from(changedBytes(draw, Buffer.from(text, 'base64url'))).toString('base64url')
  }
  if (kind === 2) return changedText(draw, [text])
  return text
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64url')

/** What the browser says, read without the library (WebAuthn §5.8.1). */
function expectOurPage(clientDataJSON: string, type: string): void {
  const data: Record<string, unknown> = JSON.parse(bytesOf(clientDataJSON).toString('utf8'))
  expect(data).toMatchObject({ type, challenge })
  expect(expected.origins).toContain(data['origin'])
  expect([undefined, false]).toContain(data['crossOrigin'])
  expect(data).not.toHaveProperty('topOrigin')
}

/** WebAuthn §6.1: present and verified, and backed up only where that is possible at all. */
function expectShown(flags: number, shown: Pick<NewCredential, 'backedUp' | 'backupEligible'>) {
  expect(flags & 0x05).toBe(0x05)
  expect(shown.backupEligible).toBe((flags & 0x08) !== 0)
  expect(shown.backedUp).toBe((flags & 0x10) !== 0)
  expect(!shown.backedUp || shown.backupEligible).toBe(true)
}

/** The coordinates of a COSE key for ES256, which are its last two members (RFC 9053 §7.1.1). */
const pointOf = (cose: Buffer) => ({ x: cose.subarray(-67, -35), y: cose.subarray(-32) })

/**
 * Whether the bytes from here on are authenticator data that hold this credential (WebAuthn §6.5.1). Of the key its
 * point alone is compared: it is stored as the package writes it, which may be shorter than it came.
 */
function holds(data: Buffer, shown: NewCredential): boolean {
  const id = bytesOf(shown.id)
  const { x, y } = pointOf(bytesOf(shown.publicKey))
  if (data.byteLength < 55 + id.byteLength + 64) return false
  const from = 55 + id.byteLength
  return (
    data.readUInt8(32) % 128 >= 64 &&
    data.readUInt32BE(33) === shown.counter &&
    data.readUInt16BE(53) === id.byteLength &&
    data.subarray(55, from).equals(id) &&
    data.includes(x, from) &&
    data.includes(y, from)
  )
}

fuzz({
  name: 'a new passkey, which is for our challenge, page and domain',
  input: (draw): RegistrationResponse => {
    const at = draw(registrations.length)
    const of = (read: (one: RegistrationResponse) => string) =>
      member(draw, registrations.map(read), at)
    const id = of((one) => one.id)
    return {
      id,
      rawId: draw(20) === 0 ? of((one) => one.rawId) : id,
      type: 'public-key',
      response: {
        clientDataJSON: of((one) => one.response.clientDataJSON),
        attestationObject: of((one) => one.response.attestationObject),
      },
    }
  },
  async takes(answer) {
    const shown = await verifyRegistration(answer, expected)
    if (typeof shown === 'string') return false
    expectOurPage(answer.response.clientDataJSON, 'webauthn.create')
    expect(shown.id).toBe(answer.id)
    const bytes = bytesOf(answer.response.attestationObject)
    const data = bytes.subarray(bytes.indexOf(rpIdHash))
    expect(bytes.includes(rpIdHash)).toBe(true)
    expect(holds(data, shown)).toBe(true)
    expectShown(data.readUInt8(32), shown)
    expect(shown.userVerified).toBe(true)
    return true
  },
})

/** What the passkey signed, by the bytes that were signed, with the two numbers of each signature. */
const signed = new Map(
  departures.flatMap(({ otherKey }, at) => {
    const { response } = oneOf(() => 0, assertions.slice(at, at + 1))
    return otherKey
      ? []
      : [[signedBytes(response), numbersIn(bytesOf(response.signature))] as const]
  }),
)

function signedBytes({ authenticatorData, clientDataJSON }: AssertionResponse['response']): string {
  return `${bytesOf(authenticatorData).toString('hex')}.${bytesOf(clientDataJSON).toString('hex')}`
}

/** Of a signature in DER, without the zero that keeps a number from being negative. */
function numbersIn(signature: Buffer): readonly Buffer[] {
  const first = signature.readUInt8(3)
  const [r, rest] = [signature.subarray(4, 4 + first), signature.subarray(4 + first)]
  return [r, rest.subarray(2)].map((number) => number.subarray(number.readUInt8(0) === 0 ? 1 : 0))
}

fuzz({
  name: 'an assertion, which the passkey signed for our challenge, page and domain',
  input: (draw): AssertionResponse => {
    const at = draw(assertions.length)
    const of = (read: (one: AssertionResponse) => string) => member(draw, assertions.map(read), at)
    const whole = draw(2) === 0
    const rest = (read: (one: AssertionResponse) => string, text: string) =>
      whole ? text : of(read)
    const { id, rawId, response } = oneOf(draw, assertions.slice(at, at + 1))
    return {
      id: rest((one) => one.id, id),
      rawId: rest((one) => one.rawId, rawId),
      type: 'public-key',
      response: {
        clientDataJSON: rest((one) => one.response.clientDataJSON, response.clientDataJSON),
        authenticatorData: rest(
          (one) => one.response.authenticatorData,
          response.authenticatorData,
        ),
        signature: of((one) => one.response.signature),
      },
    }
  },
  async takes(answer) {
    const shown = await verifyAssertion(answer, expected, credential)
    if (typeof shown === 'string') return false
    const { clientDataJSON, authenticatorData, signature } = answer.response
    expectOurPage(clientDataJSON, 'webauthn.get')
    expect(answer.id).toBe(credential.id)
    const data = bytesOf(authenticatorData)
    expect(data.subarray(0, 32)).toEqual(rpIdHash)
    expectShown(data.readUInt8(32), shown)
    expect([shown.userVerified, shown.counter]).toEqual([true, data.readUInt32BE(33)])
    // The package knows more spellings of a signature than DER has. That it is the passkey’s is what counts.
    const numbers = signed.get(signedBytes(answer.response)) ?? []
    expect(numbers).toHaveLength(2)
    for (const number of numbers) expect(bytesOf(signature).includes(number)).toBe(true)
    return true
  },
})
