import { expect } from 'vitest'
import {
  type FieldDeclaration,
  isSecret,
} from '../../src/engine/configuration/config-declaration.js'
import {
  elementPrefix,
  fieldsByKey,
  isSlug,
  type KeyPlace,
  keyLocator,
  readRoster,
  rosterKey,
} from '../../src/engine/configuration/config-keys.js'
import { secretTest } from '../../src/engine/configuration/revisions.js'
import { changedText } from './changed.js'
import { fuzz } from './fuzz.js'

const shown = { label: 'L', group: 'G' } as const
const items = [
  { key: 'url', label: 'U', type: 'FieldString' },
  { key: 'secret', label: 'S', type: 'FieldSecret' },
] as const
const fields: readonly FieldDeclaration[] = [
  { ...shown, key: 'sender', type: 'FieldString' },
  { ...shown, key: 'apiKey', type: 'FieldSecret' },
  { ...shown, key: 'hooks', type: 'FieldRecordList', items },
  { ...shown, key: 'hook', type: 'FieldRecordList', items },
]
const byKey = fieldsByKey(fields)
/** One for all keys, as for one pass: what it remembers of a key must not decide about the next. */
const locate = keyLocator(byKey)
const holdsSecret = secretTest(fields)

/** The only key of a place. */
function keyOf(place: KeyPlace): string {
  if (place.kind === 'field') return place.field.key
  if (place.kind === 'roster') return rosterKey(place.field.key)
  expect(isSlug(place.slug)).toBe(true)
  return elementPrefix(place.field.key, place.slug) + (place.item?.key ?? '__label')
}

const isSecretAt = (place: KeyPlace): boolean => {
  if (place.kind === 'roster') return false
  const declaration = place.kind === 'field' ? place.field : place.item
  return declaration !== null && isSecret(declaration)
}

fuzz({
  name: 'a key of the configuration store, which is the only key of its place',
  input: (draw) =>
    changedText(draw, [
      ...['sender', 'apiKey', 'hooks.__items', 'hook.__items', 'hooks.main.url'],
      ...['hooks.main.secret', 'hooks.main.__label', 'hook.eu-west-1.secret', 'hook.s.secret'],
      ...['__proto__.main.url', 'hooks.__proto__.secret', 'hooks.main.constructor'],
    ]),
  takes(key) {
    const place = locate(key)
    expect(keyLocator(byKey)(key)).toEqual(place)
    // What no declaration accounts for is a secret where it is encrypted.
    const secret = place === null ? null : isSecretAt(place)
    expect([holdsSecret(key, 'plain'), holdsSecret(key, 'enc:v1:x')]).toEqual(
      secret === null ? [false, true] : [secret, secret],
    )
    if (place === null) return false
    expect(keyOf(place)).toBe(key)
    return true
  },
})

fuzz({
  name: 'a roster, which names each element once',
  input: (draw) => changedText(draw, ['main', 'main,eu-west-1', 'a,b,a', ',a,,b', '__items,x']),
  takes(text) {
    const slugs = readRoster('hooks', { [rosterKey('hooks')]: text })
    expect(new Set(slugs).size).toBe(slugs.length)
    for (const slug of slugs) expect(text.split(',')).toContain(slug)
    expect(slugs).not.toContain('')
    return slugs.length > 0
  },
})

fuzz({
  name: 'a slug, which no key of a record list can be mistaken for',
  input: (draw) => changedText(draw, ['main', 'eu-west-1', 'a', '__items', 'a.b', '__proto__']),
  takes(text) {
    if (!isSlug(text)) return false
    expect(text).toMatch(/^[a-z0-9-]+$/)
    expect(text in {}).toBe(false)
    return true
  },
})
