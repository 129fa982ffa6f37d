import { expect, test } from 'vitest'
import { isSlug, mintSlug } from '../../../src/engine/configuration/config-keys.js'

const names = [
  ['Gmail EU', 'gmail-eu'],
  [' A  B ', 'a-b'],
  ['Ünïcode & Co.', 'unicode-co'],
  ['A,B.c', 'a-b-c'],
  ['__items', 'items'],
  ['Straße Øst', 'strasse-ost'],
  ['ﬁne ２', 'fine-2'],
  ['№ 7', 'no-7'],
  ['𝐇ello', 'hello'],
  ['x'.repeat(70), 'x'.repeat(63)],
  [`${'x'.repeat(62)} y`, 'x'.repeat(62)],
] as const

test('a name has one slug, in lower case with hyphens, or is refused', () => {
  for (const [name, slug] of names) {
    expect(mintSlug(name), name).toBe(slug)
    expect(isSlug(slug), slug).toBe(true)
  }
  for (const name of ['___', '', '!!!', '  ', '🎉', ',', '.']) {
    expect(() => mintSlug(name), name).toThrow(RangeError)
  }
})

test.each([
  ['Mail 東京', 'mail-e7270f77'],
  ['東京', 'item-06271ed0'],
  ['大阪', 'item-e5aaee84'],
  ['Почта 2', '2-f8c7be6d'],
  [' ПОЧТА ', 'item-c6f0153f'],
  ['почта', 'item-c6f0153f'],
  ['عربي ٣', 'item-0fc70e9c'],
  ['हिन्दी', 'item-5ae90204'],
  ['हिन्दू', 'item-5ce9052a'],
  ['Hawaiʻi', 'hawai-i'],
  [`${'x'.repeat(70)}東`, `${'x'.repeat(54)}-e09afce4`],
])('a name in another script has a slug of its own: %j is %j', (name, slug) => {
  expect(mintSlug(name)).toBe(slug)
  expect(isSlug(slug)).toBe(true)
})

test.each(['a', '0', 'a-b', 'constructor', 'a'.repeat(63)])('%j is a slug', (text) => {
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
])('%j is no slug', (text) => {
  expect(isSlug(text)).toBe(false)
})
