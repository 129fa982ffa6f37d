import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeObject, decodeSegment } from '../../src/crypto/token-format.js'

/** What an object's segment is, said by writing: the one text that our signer would give it. */
function byWriting(segment: string): unknown {
  try {
    const value: unknown = JSON.parse(Buffer.from(segment, 'base64url').toString())
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    return Buffer.from(JSON.stringify(value)).toString('base64url') === segment ? value : null
  } catch {
    return null
  }
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const foreign = [...'+/= \n\t\u0000é\u0141Ā=.'].map((sign) => sign)
const sign = fc.constantFrom(...alphabet, ...foreign)

const written = fc
  .dictionary(fc.string({ unit: 'binary' }), fc.jsonValue())
  .map((value) => JSON.stringify(value))
/** Texts of objects that parse, and that our signer would not write so. */
const strange = fc.constantFrom(
  ...[
    '{"a":1,"a":2}',
    '{"a":1,"a":1}',
    '{ "a":1}',
    '{"a":1e0}',
    '{"a":1.0}',
    '{"a":-0}',
    '{"\\u0061":1}',
  ],
  ...[
    '{"a":{"b":1,"b":1}}',
    '{"__proto__":{"a":1}}',
    '{"a":1,"__proto__":{},"a":1}',
    '{"b":1,"1":1}',
  ],
  ...[
    '{"a":"\\/"}',
    '{"a":"\\ud800"}',
    '{"a":"\ufeff"}',
    '\ufeff{"a":1}',
    '{"a":"é"}',
    '{"a":"\\u00e9"}',
  ],
  ...['[]', 'null', '1', '""', '', '{"a":1}\n', '{"a":123456789012345678901234567890}'],
)
const encoded = fc
  .oneof(
    fc.oneof(written, strange).map((text) => Buffer.from(text)),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    // Not UTF-8 between quotes: replaced by decoders, and then all the same.
    fc
      .uint8Array({ maxLength: 4 })
      .map((bytes) => Buffer.concat([Buffer.from('{"a":"'), bytes, Buffer.from('"}')])),
  )
  .map((bytes) => bytes.toString('base64url'))

/** A segment with some signs put in, replaced or left out. */
const segment = fc
  .tuple(
    encoded,
    fc.array(fc.tuple(fc.nat(), fc.nat(1), fc.string({ unit: sign, maxLength: 2 })), {
      maxLength: 3,
    }),
  )
  .map(([text, changes]) =>
    changes.reduce((changed, [place, gone, put]) => {
      const at = place % (changed.length + 1)
      return changed.slice(0, at) + put + changed.slice(at + gone)
    }, text),
  )

test('an object is read exactly where writing it again gives the same segment (RFC 7515)', () => {
  let read = 0
  fc.assert(
    fc.property(segment, (text) => {
      const expected = byWriting(text)
      if (expected !== null) read += 1
      expect(decodeObject(text)).toEqual(expected)
    }),
    { numRuns: 5000 },
  )
  expect(read).toBeGreaterThan(200)
})

test('bytes are read of their one canonical spelling alone (RFC 4648)', () => {
  const spelt = fc.oneof(segment, fc.string({ unit: sign, maxLength: 12 }))
  fc.assert(
    fc.property(spelt, (text) => {
      const isCanonical = Buffer.from(text, 'base64url').toString('base64url') === text
      expect(decodeSegment(text) !== null).toBe(isCanonical)
    }),
    { numRuns: 5000 },
  )
  // Each last sign of a text of two or three: of 64 spellings, 4 and 16 have no spare bits set.
  const last = (start: string) => [...alphabet].filter((end) => decodeSegment(start + end) !== null)
  expect([last('A').length, last('AA').length, last('AAA').length]).toEqual([4, 16, 64])
  expect(decodeSegment('A')).toBeNull()
  expect(decodeSegment('QQ==')).toBeNull()
})
