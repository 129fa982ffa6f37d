import { expect, it } from 'vitest'
import { mapTexts } from '../../../src/engine/configuration/stored-value.js'

it('a copy holds what each text was changed to, and not what was left out', () => {
  const given = { a: 'one', b: '', c: 'three' }
  const copy = mapTexts(given, (key, text) => (key === 'c' ? null : `${key}=${text}`))
  expect(copy).toEqual({ a: 'a=one', b: 'b=' })
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
  expect(given).toEqual({ a: 'one', b: '', c: 'three' })
})

it('a key that objects are born with is a key like any other', () => {
  const given = JSON.parse('{"__proto__": "a", "toString": "b"}')
  const copy = mapTexts(given, (_key, text) => text)
  expect(Object.entries(copy)).toEqual([
    ['__proto__', 'a'],
    ['toString', 'b'],
  ])
})
