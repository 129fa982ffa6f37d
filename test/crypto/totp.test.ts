import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { matchTotp, otpauthUri, totpSecret } from '../../src/crypto/totp.js'

/** RFC 6238 appendix B, SHA-1: epoch seconds and the last six of the eight digits. */
const vectors = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
] as const
/** That of RFC 4226: `12345678901234567890` in base32. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

describe('matchTotp', () => {
  it.each(vectors)('the code of %i is %s (RFC 6238)', async (seconds, code) => {
    const at = (now: number) => matchTotp(secret, code, { now, skewSteps: 0, lastStep: 0 })
    expect(await at(seconds * 1000)).toBe(Math.floor(seconds / 30))
    expect(await at(seconds * 1000 + 30_000)).toBeNull()
  })

  it.each([0, 1, 2])('accepts a code %i steps away, to the millisecond', async (skew) => {
    const at = (now: number) => matchTotp(secret, '287082', { now, skewSteps: skew, lastStep: 0 })
    // The code of step 1, which lasts from 30 s to 60 s.
    const [first, last] = [30_000 - skew * 30_000, 60_000 + skew * 30_000 - 1]
    if (first > 0) expect(await at(first - 1)).toBeNull()
    expect([await at(Math.max(0, first)), await at(last)]).toEqual([1, 1])
    expect(await at(last + 1)).toBeNull()
  })

  it('a code is good once, and again where the next step happens to have the same (RFC 6238)', async () => {
    const [step, code] = [910_737, '911617']
    const match = (lastStep: number, now = (step + 1) * 30_000) =>
      matchTotp(secret, code, { now, skewSteps: 1, lastStep })
    expect(await match(0)).toBe(step)
    expect(await match(step - 1)).toBe(step)
    expect(await match(step)).toBe(step + 1)
    // Nothing is good after what was used last, be it of a clock that was ahead.
    for (const used of [step + 1, step + 2, step + 3, step + 900]) {
      expect(await match(used)).toBeNull()
    }
    expect(await match(step - 1, (step - 1) * 30_000)).toBe(step)
    expect(await match(step, (step - 1) * 30_000)).toBeNull()
  })

  it('takes six ASCII digits and nothing else', async () => {
    const spellings = [
      ...['', '28708', '2870821', ' 287082', '287082 ', '287 082', '287082\n', '287082\0'],
      ...['２８７０８２', '+87082', '2e5082', '-287082'],
    ]
    for (const spelling of spellings) {
      const moment = { now: 59_000, skewSteps: 2, lastStep: 0 }
      expect(await matchTotp(secret, spelling, moment)).toBeNull()
    }
  })
})

describe('a secret for an authenticator app', () => {
  it('is 160 bits in base32 without padding (RFC 4226)', async () => {
    expect(await totpSecret(randomBytes(20))).toMatch(/^[A-Z2-7]{32}$/)
    expect(await totpSecret(Buffer.from('12345678901234567890'))).toBe(secret)
    // Not of a length that fills its last group, which would be padded.
    expect(await totpSecret(Buffer.from('1234'))).toBe('GEZDGNA')
  })

  it('comes with an otpauth URI naming issuer and account', async () => {
    const uri = new URL(await otpauthUri(secret, 'Acme: EU & Co', 'ada@example.org'))
    expect(uri.protocol + uri.host).toBe('otpauth:totp')
    expect(decodeURIComponent(uri.pathname)).toBe('/Acme  EU & Co:ada@example.org')
    expect(uri.searchParams.get('issuer')).toBe('Acme  EU & Co')
    expect(uri.searchParams.get('secret')).toBe(secret)
  })
})
