import { expect, test } from 'vitest'
import { isSlug, mintSlug } from '../../../src/engine/configuration/slug.js'

test.each([
  ['Gmail EU', 'gmail-eu'],
  [' A  B ', 'a-b'],
  ['Ünïcode & Co.', 'unicode-co'],
  ['A,B.c', 'a-b-c'],
  ['__items', 'items'],
  ['Straße Øst', 'strasse-ost'],
  ['ﬁne ２', 'fine-2'],
  ['x'.repeat(70), 'x'.repeat(63)],
  [`${'x'.repeat(62)} y`, 'x'.repeat(62)],
])('R-2.6-25 T-84 the slug of %j is %j', (name, slug) => {
  expect(mintSlug(name)).toBe(slug)
  expect(isSlug(slug)).toBe(true)
})

test.each(['___', '', '!!!', '  ', '東京'])('R-2.6-25 %j has no slug', (name) => {
  expect(() => mintSlug(name)).toThrow(RangeError)
})

test.each(['a', '0', 'a-b', 'constructor', 'a'.repeat(63)])('T-68 %j is a slug', (text) => {
  expect(isSlug(text)).toBe(true)
})

test.each([
  '',
  'A',
  'a_b',
  '-a',
  'a-',
  'a--b',
  'a,b',
  'a.b',
  '__x',
  'a b',
  'ä',
  'a\n',
  'a'.repeat(64),
])('T-68 R-4.5-28 %j is no slug', (text) => {
  expect(isSlug(text)).toBe(false)
})
