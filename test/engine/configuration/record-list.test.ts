import { describe, expect, test } from 'vitest'
import {
  FieldBool,
  type FieldDeclaration,
  FieldDuration,
  FieldInt,
  FieldRecordList,
  FieldSecret,
  FieldSelect,
  FieldString,
} from '../../../src/engine/configuration/config-declaration.js'
import { readRecordList } from '../../../src/engine/configuration/config-keys.js'

test('the field types have their names', () => {
  expect([FieldString, FieldSecret, FieldRecordList]).toEqual([
    'FieldString',
    'FieldSecret',
    'FieldRecordList',
  ])
  expect([FieldBool, FieldInt, FieldDuration, FieldSelect]).toEqual([
    'FieldBool',
    'FieldInt',
    'FieldDuration',
    'FieldSelect',
  ])
})

const hooks: FieldDeclaration = {
  key: 'hooks',
  label: 'Hooks',
  type: FieldRecordList,
  group: 'Hooks',
  items: [
    { key: 'url', label: 'URL', type: FieldString, required: true },
    { key: 'secret', label: 'Secret', type: FieldSecret },
  ],
}

describe('readRecordList', () => {
  test('reads elements in roster order, every sub-field present and nothing else', () => {
    const elements = readRecordList(hooks, {
      'hooks.__items': 'b,a-b,a',
      'hooks.a.__label': 'The A',
      'hooks.a.url': 'https://a.example',
      'hooks.a.secret': 'shh',
      'hooks.b.__label': 'The B',
      'hooks.a-b.url': 'https://ab.example',
      'hooks.a-b.undeclared': 'x',
      'hooks.gone.__label': 'Gone',
      'hooks.gone.url': 'https://gone.example',
    })
    expect(elements).toEqual([
      { slug: 'b', label: 'The B', url: '', secret: '' },
      { slug: 'a-b', label: 'a-b', url: 'https://ab.example', secret: '' },
      { slug: 'a', label: 'The A', url: 'https://a.example', secret: 'shh' },
    ])
  })

  test('leaves out undeclared keys and the keys of slugs outside the roster', () => {
    const elements = readRecordList(hooks, {
      'hooks.__items': 'a',
      'hooks.a.old': 'x',
      'hooks.a.__other': 'x',
      'hooks.gone.__label': 'Gone',
      'hooks.gone.url': 'https://gone.example',
      'other.a.url': 'https://other.example',
    })
    expect(elements).toEqual([{ slug: 'a', label: 'a', url: '', secret: '' }])
  })

  test('an absent or empty roster is an empty list', () => {
    expect(readRecordList(hooks, {})).toEqual([])
    expect(readRecordList(hooks, { 'hooks.__items': '' })).toEqual([])
    expect(readRecordList(hooks, { 'hooks.__items': ',a,,b,' }).map(({ slug }) => slug)).toEqual([
      'a',
      'b',
    ])
  })

  test('a damaged roster names an element once, and nothing of the prototype is read', () => {
    const values = { 'hooks.__items': 'a,__proto__,a,constructor', 'hooks.a.url': 'u' }
    const elements = readRecordList(hooks, values)
    expect(elements.map(({ slug, url }) => [slug, url])).toEqual([
      ['a', 'u'],
      ['__proto__', ''],
      ['constructor', ''],
    ])
    expect(readRecordList({ key: 'toString', items: [] }, {})).toEqual([])
  })

  test('a cleared label reads as the slug, and no sub-field passes for slug or label', () => {
    const items = [
      { key: 'slug', label: 'Slug', type: FieldString },
      { key: 'label', label: 'Label', type: FieldString },
      { key: 'constructor', label: 'Name', type: FieldString },
    ] as const
    const values = {
      'hooks.__items': 'a',
      'hooks.a.__label': '',
      'hooks.a.slug': 'other',
      'hooks.a.label': 'Other',
    }
    const [element] = readRecordList({ key: 'hooks', items }, values)
    expect(element).toEqual({ slug: 'a', label: 'a', constructor: '' })
  })

  test('changes nothing it is given and answers alike each time', () => {
    const values = Object.freeze({ 'hooks.__items': 'a', 'hooks.a.url': 'https://a.example' })
    const declaration = Object.freeze({ ...hooks, items: Object.freeze(hooks.items ?? []) })
    const first = readRecordList(declaration, values)
    expect(readRecordList(declaration, values)).toEqual(first)
    expect(first).toHaveLength(1)
  })
})
