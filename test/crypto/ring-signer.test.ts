import { createPublicKey, sign as signBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type KeyRing, loadKeyRing, type SigningInput } from '../../src/crypto/key-ring.js'
import { isSignatureOf, signAccess, verifyToken } from '../../src/crypto/tokens.js'
import { accessClaims, issuer, now } from './claims.js'
import { rsaPair } from './forge.js'

const [own, other] = [rsaPair(), rsaPair()]
const publicKey = createPublicKey(own.publicKey)
const data = Buffer.from('header.payload')

describe('whether it is a signature', () => {
  it('holds for the bytes of RS256 under the key alone', () => {
    const good = signBytes('RSA-SHA256', data, own.privateKey)
    expect(isSignatureOf(publicKey, data, good)).toBe(true)
    expect(isSignatureOf(publicKey, data, new Uint8Array(good))).toBe(true)
    expect(isSignatureOf(publicKey, Buffer.from('header.payloae'), good)).toBe(false)
    const wrong = [
      signBytes('RSA-SHA256', data, other.privateKey),
      signBytes('RSA-SHA512', data, own.privateKey),
      good.toString('base64url'),
      new Uint8Array(),
      null,
      undefined,
    ]
    for (const one of wrong) expect(isSignatureOf(publicKey, data, one)).toBe(false)
  })
})

describe('a ring whose key is kept elsewhere', () => {
  const asked: SigningInput[] = []
  const ringOf = (more: Partial<KeyRing> = {}) =>
    loadKeyRing({
      current: own.publicKey,
      async sign(input) {
        asked.push(input)
        // A view of a larger buffer, as drivers give them.
        const bytes = signBytes('RSA-SHA256', input.data, own.privateKey)
        const larger = new Uint8Array(bytes.length + 16)
        larger.set(bytes, 8)
        return larger.subarray(8, 8 + bytes.length)
      },
      ...more,
    })

  it('signs tokens that it verifies, with the key id that it publishes', async () => {
    const ring = await ringOf()
    const claims = accessClaims()
    const token = await signAccess(claims, ring)
    const wanted = { ring, issuer, accepts: [claims.aud], now }
    const verified = verifyToken(token, { ...wanted, use: 'access', leewaySeconds: 0 })
    expect(verified.ok).toBe(true)
    expect(asked.at(-1)).toMatchObject({ kid: ring.jwks().keys[0]?.kid, alg: 'RS256' })
    expect(asked.at(-1)?.signal.aborted).toBe(false)
    expect([ring.signer.isElsewhere, ring.kid]).toEqual([true, asked.at(-1)?.kid])
  })

  it('may name the next key by its public half, and no ring without a signer may', async () => {
    expect((await ringOf({ next: other.publicKey })).jwks().keys).toHaveLength(2)
    const inProcess = { current: own.privateKey, next: other.publicKey }
    await expect(loadKeyRing(inProcess)).rejects.toMatchObject({ option: 'keys.next' })
    expect((await loadKeyRing({ current: own.privateKey })).signer.isElsewhere).toBe(false)
  })

  it.each([
    [{ current: own.privateKey }, 'keys.current', 'the public half'],
    [{ sign: 'text' }, 'keys.sign', 'a function'],
  ])('refuses %o by its option, and repeats no key', async (wrong, option, remedy) => {
    const refused = ringOf(wrong as Partial<KeyRing>).catch((error: unknown) => error)
    expect(await refused).toMatchObject({ option, message: expect.stringContaining(remedy) })
    expect(String(await refused)).not.toContain('BEGIN')
  })
})
