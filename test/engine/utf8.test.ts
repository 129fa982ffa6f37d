import fc from 'fast-check'
import { expect, test } from 'vitest'
import { utf8Length } from '../../src/engine/text.js'

test('utf8Length is the length of the encoded text, whatever the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(utf8Length(text)).toBe(Buffer.byteLength(text, 'utf8'))
    }),
  )
  expect(utf8Length('a\u007f\u0080\u07ff\u0800\uffff\u{10000}\u{10ffff}')).toBe(20)
  expect(utf8Length('\ud800')).toBe(3)
})
