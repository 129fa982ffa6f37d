import { expect, test } from 'vitest'
import { uuidv7 } from '../../src/crypto/secrets.js'
import { namesAhead } from '../../src/system/machine.js'

/** Bytes that say where they stand among all that were drawn, four at a time. */
function counting() {
  let at = 0
  const calls: number[] = []
  const bytes = (length: number): Uint8Array => {
    calls.push(length)
    const view = new DataView(new ArrayBuffer(length))
    for (let offset = 0; offset + 4 <= length; offset += 4) view.setUint32(offset, at++)
    return new Uint8Array(view.buffer)
  }
  return { calls, random: namesAhead({ bytes }) }
}

const hexOf = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('hex')

test('gives each byte for a name once, and asks for many at a time', () => {
  const { random, calls } = counting()
  const names = Array.from({ length: 5000 }, () => random.nameBytes?.(8))
  expect(names.every((name) => name?.length === 8)).toBe(true)
  expect(new Set(names.map((name) => hexOf(name))).size).toBe(5000)
  expect(calls).toEqual(Array.from({ length: 10 }, () => 4096))
})

test('names given before stay as they are when more is drawn', () => {
  const { random } = counting()
  const first = random.nameBytes?.(8)
  const kept = hexOf(first)
  for (let draw = 0; draw < 2000; draw += 1) random.nameBytes?.(8)
  expect(hexOf(first)).toBe(kept)
})

test('secrets, and more than it draws at a time, are drawn when they are asked for', () => {
  const { random, calls } = counting()
  random.bytes(32)
  expect(random.nameBytes?.(10_000).length).toBe(10_000)
  expect(calls).toEqual([32, 10_000])
})

test('an id is made of bytes for names where there are such, and of any other random bytes else', () => {
  const bytes = (fill: number) => (length: number) => new Uint8Array(length).fill(fill)
  const tail = (id: string) => id.slice(-12)
  expect(tail(uuidv7(0, { bytes: bytes(1), nameBytes: bytes(2) }))).toBe('02'.repeat(6))
  expect(tail(uuidv7(0, { bytes: bytes(1) }))).toBe('01'.repeat(6))
})
