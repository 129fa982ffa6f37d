import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { isUuid, uuidv7 } from '../../src/crypto/secrets.js'

const random = { bytes: (length: number) => randomBytes(length) }
const filled = (byte: number) => ({ bytes: (length: number) => new Uint8Array(length).fill(byte) })

test('uuidv7 lays out time, version, variant and randomness as RFC 9562 says', () => {
  // The time of the example in RFC 9562, appendix A.6.
  expect(uuidv7(0x017f22e279b0, filled(0x00))).toBe('017f22e2-79b0-7000-8000-000000000000')
  expect(uuidv7(0x017f22e279b0, filled(0xff))).toBe('017f22e2-79b0-7fff-bfff-ffffffffffff')
})

test('uuidv7 takes the millisecond a fractional time lies in', () => {
  expect(uuidv7(1000.9, filled(0))).toBe(uuidv7(1000, filled(0)))
})

test('uuidv7 sorts by time as text', () => {
  const times = [0, 1, 255, 256, 1_700_000_000_000, 1_700_000_000_001, 2 ** 48 - 1]
  const ids = times.map((time) => uuidv7(time, random))
  expect(ids.toSorted()).toEqual(ids)
})

test('uuidv7 refuses times it cannot hold', () => {
  for (const time of [-1, 2 ** 48, Number.NaN])
    expect(() => uuidv7(time, random)).toThrow('uuidv7: the time is out of range')
})

test('100,000 ids of one millisecond differ', () => {
  const ids = Array.from({ length: 100_000 }, () => uuidv7(1_700_000_000_000, random))
  expect(new Set(ids).size).toBe(100_000)
  expect(ids.slice(0, 1000).every(isUuid)).toBe(true)
})

test('isUuid takes the canonical spelling only', () => {
  expect(isUuid('f81d4fae-7dec-11d0-a765-00a0c91e6bf6')).toBe(true)
  for (const text of [
    '',
    'F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6',
    'f81d4fae7dec11d0a76500a0c91e6bf6',
    '{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}',
    'f81d4fae-7dec-11d0-a765-00a0c91e6bf6\n',
    'f81d4fae-7dec-11d0-a765-00a0c91e6bf6/x',
    '../f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
    'g81d4fae-7dec-11d0-a765-00a0c91e6bf6',
  ]) {
    expect(isUuid(text), text).toBe(false)
  }
})
