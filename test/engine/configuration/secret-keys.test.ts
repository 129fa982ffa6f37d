import { describe, expect, test } from 'vitest'
import {
  type FieldDeclaration,
  FieldRecordList,
  FieldSecret,
  FieldString,
} from '../../../src/engine/configuration/config-declaration.js'
import { publicValues, secretTest } from '../../../src/engine/configuration/revisions.js'
import { mapTexts } from '../../../src/engine/configuration/stored-value.js'

const items = [
  { key: 'url', label: 'URL', type: FieldString },
  { key: 'token', label: 'Token', type: FieldSecret },
] as const
const fields: readonly FieldDeclaration[] = [
  { key: 'sender', label: 'Sender', group: 'Mail', type: FieldString },
  { key: 'apiKey', label: 'Key', group: 'Mail', type: FieldSecret },
  { key: 'hooks', label: 'Hooks', group: 'Hooks', type: FieldRecordList, items },
]

describe('which stored texts are secrets', () => {
  const isSecret = secretTest(fields)

  test.each(['apiKey', 'hooks.mail-eu.token'])(
    '%s is by its declaration, encrypted or not',
    (key) => {
      expect([isSecret(key, ''), isSecret(key, 'plain'), isSecret(key, 'enc:v1:k:a:b')]).toEqual([
        true,
        true,
        true,
      ])
    },
  )

  test.each(['sender', 'hooks.__items', 'hooks.mail-eu.__label', 'hooks.mail-eu.url'])(
    '%s is none, encrypted or not',
    (key) => {
      expect([isSecret(key, ''), isSecret(key, 'plain'), isSecret(key, 'enc:v1:k:a:b')]).toEqual([
        false,
        false,
        false,
      ])
    },
  )

  test.each(['sender', 'hooks.mail-eu.url'])(
    '%s is one where it was declared as a secret before, and is encrypted',
    (key) => {
      expect(isSecret(key, `enc:v1:k:${'n'.repeat(16)}:${'c'.repeat(23)}`)).toBe(true)
      expect(isSecret(key, `enc:v1:k:${'n'.repeat(16)}:${'c'.repeat(22)}`)).toBe(false)
    },
  )

  test.each([
    'gone',
    'hooks',
    'apiKey.__items',
    'sender.mail-eu.token',
    'hooks.token',
    'hooks.__label',
    'hooks.Not a slug.token',
    'hooks.Not a slug.url',
    'hooks..token',
    'hooks.mail-eu.gone',
    'hooks.mail-eu.token.more',
    'hooks.mail-eu.__items',
    '__proto__',
    'hooks.mail-eu.constructor',
  ])('%s is declared by nothing, so its text decides', (key) => {
    expect([isSecret(key, ''), isSecret(key, 'plain'), isSecret(key, 'enc:v1:k:a:b')]).toEqual([
      false,
      false,
      true,
    ])
  })
})

describe('a map of texts that was made of another', () => {
  const values: Readonly<Record<string, string>> = JSON.parse(
    '{"__proto__":"kept","sender":"a","apiKey":"enc:v1:k:a:b","constructor":"b"}',
  )

  test('has every key of the other, in its order, and is an ordinary object', () => {
    const copy = mapTexts(values, (key, text) => (key === 'sender' ? null : text))
    expect(Object.entries(copy)).toEqual([
      ['__proto__', 'kept'],
      ['apiKey', 'enc:v1:k:a:b'],
      ['constructor', 'b'],
    ])
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
  })

  test('of a revision holds no secret, and names those that are set', () => {
    const { values: shown, secretsSet } = publicValues(values, fields)
    expect([Object.keys(shown), secretsSet]).toEqual([
      ['__proto__', 'sender', 'constructor'],
      ['apiKey'],
    ])
  })
})
