import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { equalConstantTime, randomToken, sha256 } from '../../src/crypto/secrets.js'

const random = { bytes: (length: number) => randomBytes(length) }

test('a random token is 256 bits, base64url', () => {
  const token = randomToken(random)
  expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/)
  expect(randomToken({ bytes: (length) => new Uint8Array(length).fill(0xff) })).toBe(
    `${'_'.repeat(42)}8`,
  )
  expect(Buffer.from(randomToken(random, 16), 'base64url')).toHaveLength(16)
})

test('100,000 random tokens differ', () => {
  expect(new Set(Array.from({ length: 100_000 }, () => randomToken(random))).size).toBe(100_000)
})

test('sha256 is FIPS 180-4 in base64url, of UTF-8 text as of its bytes', () => {
  expect(Buffer.from(sha256('abc'), 'base64url').toString('hex')).toBe(
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  )
  expect(sha256('Zoë')).toBe(sha256(Buffer.from('Zoë', 'utf8')))
})

test('equalConstantTime is exact, whatever the lengths', () => {
  const token = randomToken(random)
  expect(equalConstantTime(token, `${token}`)).toBe(true)
  expect(equalConstantTime('', '')).toBe(true)
  for (const other of ['', token.slice(1), `${token}=`, ` ${token}`, token.toUpperCase()]) {
    expect(equalConstantTime(token, other), other).toBe(false)
  }
  expect(equalConstantTime('\ud800', '\ufffd')).toBe(false)
  expect(equalConstantTime('\u00e9', 'e\u0301')).toBe(false)
})
