import { describe, expect, test } from 'vitest'
import { defineModule } from '../../../src/config/define-module.js'
import {
  FieldBool,
  type FieldDeclaration,
  FieldDuration,
  FieldInt,
  FieldRecordList,
  FieldSecret,
  FieldSelect,
  FieldString,
  type ItemDeclaration,
} from '../../../src/engine/configuration/config-declaration.js'
import {
  assertModule,
  checkDeclarations,
} from '../../../src/engine/configuration/module-declaration.js'
import { DeclarationError } from '../../../src/errors/index.js'
import { authModuleName, authSettingDeclarations } from '../../../src/settings/settings.js'
import { deepFreeze, mailFields } from './mail-module.js'

const field = (
  own: Partial<Omit<FieldDeclaration, 'items'>> & { items?: unknown },
): FieldDeclaration =>
  // Hosts without types can pass anything.
  ({ key: 'f', label: 'F', type: FieldString, group: 'G', ...own }) as FieldDeclaration
const item = (own: Partial<ItemDeclaration>): ItemDeclaration => ({
  key: 'a',
  label: 'A',
  type: FieldString,
  ...own,
})
const list = (...items: readonly ItemDeclaration[]) => field({ type: FieldRecordList, items })

const problems = (...fields: readonly FieldDeclaration[]) => checkDeclarations(deepFreeze(fields))

test('the auth module and a module with every feature are declared correctly', () => {
  expect(checkDeclarations(authSettingDeclarations)).toEqual([])
  expect(checkDeclarations(mailFields)).toEqual([])
  const types = [FieldString, FieldSecret, FieldBool, FieldInt, FieldDuration] as const
  expect(problems(...types.map((type) => field({ key: type, type })))).toEqual([])
})

describe('accepted', () => {
  test.each<[string, FieldDeclaration]>([
    ['a key of the prototype', field({ key: 'constructor' })],
    ['any Max of a list', { ...list(item({})), max: 1000 }],
    ['a number below 0', field({ type: FieldInt, min: -5, max: 5, default: '-1' })],
    ['an empty default', field({ type: FieldInt, default: '' })],
    ['no items on another type', field({ items: null })],
    [
      'a condition that another sub-field is empty',
      list(item({ condition: { field: 'b', equals: '' } }), item({ key: 'b', type: FieldInt })),
    ],
  ])('%s', (_, declared) => {
    expect(problems(declared)).toEqual([])
  })
})

describe('refused', () => {
  test.each<[string, FieldDeclaration, string, RegExp]>([
    [
      'a condition that cannot hold',
      list(item({ condition: { field: 'b', equals: 'yes' } }), item({ key: 'b', type: FieldBool })),
      'f.a',
      /never meet: that must be true or false/,
    ],
    [
      'a condition on a switch that is empty',
      list(item({ condition: { field: 'b', equals: '' } }), item({ key: 'b', type: FieldBool })),
      'f.a',
      /never meet/,
    ],
    ['a sub-field twice', list(item({}), item({})), 'f.a', /twice/],
    ['a sub-field slug', list(item({ key: 'slug' })), 'f.slug', /every element/],
    ['a sub-field label', list(item({ key: 'label' })), 'f.label', /every element/],
    ['a key with a dot', field({ key: 'a.b' }), 'a.b', /rename/],
    ['a key with a comma', field({ key: 'a,b' }), 'a,b', /rename/],
    ['an empty key', field({ key: '' }), '', /rename/],
    ['a sub-field key with a hyphen', list(item({ key: 'a-b' })), 'f.a-b', /rename/],
    ['an unknown type', { ...field({}), type: 'FieldText' as 'FieldString' }, 'f', /unknown type/],
    ['a choice without options', field({ type: FieldSelect }), 'f', /without "options"/],
    ['a choice of no options', field({ type: FieldSelect, options: [] }), 'f', /without "options"/],
    ['a list with a default', { ...list(item({})), default: 'x' }, 'f', /its own rule refuses/],
    ['a choice with an empty option', field({ type: FieldSelect, options: [''] }), 'f', /not set/],
    [
      'a choice with an option twice',
      field({ type: FieldSelect, options: ['a', 'a'] }),
      'f',
      /"a" twice/,
    ],
    ['options on another type', field({ options: ['a'] }), 'f', /only a FieldSelect/],
    [
      'a default that is no option',
      field({ type: FieldSelect, options: ['a'], default: 'b' }),
      'f',
      /must be one of 'a'/,
    ],
    ['a default out of range', field({ type: FieldInt, max: 3, default: '4' }), 'f', /from 0 to 3/],
    [
      'a default of a secret',
      field({ type: FieldSecret, default: 'x' }),
      'f',
      /secret and has a default/,
    ],
    [
      'a default of a field marked secret',
      field({ secret: true, default: 'x' }),
      'f',
      /secret and has a default/,
    ],
    ['min above max', field({ type: FieldInt, min: 2, max: 1 }), 'f', /above/],
    ['a max below the least of 0', field({ type: FieldInt, max: -5 }), 'f', /no "min", which is 0/],
    ['a max that is no number', field({ max: Number.NaN }), 'f', /no whole number/],
    ['a length below 0', field({ min: -1 }), 'f', /only a FieldInt/],
    ['a secret list', { ...list(item({})), secret: true }, 'f', /FieldSecret/],
    ['a list from a variable', { ...list(item({})), envVar: 'F' }, 'f', /can hold no list/],
  ])('%s', (_, declared, at, problem) => {
    expect(problems(declared)).toEqual([{ field: at, problem: expect.stringMatching(problem) }])
  })

  test('a condition on a sub-field of another list', () => {
    const other = { ...list(item({ key: 'b' })), key: 'other' }
    const own = list(item({ condition: { field: 'b', equals: 'x' } }))
    for (const both of [
      [own, other],
      [other, own],
    ]) {
      expect(problems(...both)).toEqual([
        { field: 'f.a', problem: expect.stringMatching(/another sub-field of the same list/) },
      ])
    }
  })

  test('a field twice', () => {
    expect(problems(field({}), field({}))).toEqual([
      { field: 'f', problem: expect.stringMatching(/twice/) },
    ])
  })
})

describe('a declaration of a list', () => {
  const refused = (problem: RegExp, at: string, ...fields: readonly FieldDeclaration[]) =>
    expect(problems(...fields), JSON.stringify(fields)).toEqual([
      { field: at, problem: expect.stringMatching(problem) },
    ])

  test('has items, at least one, and no other type has any', () => {
    for (const items of [undefined, null, []]) {
      refused(/without "items"/, 'f', field({ type: FieldRecordList, items }))
    }
    expect(problems(list(item({})))).toEqual([])
    for (const type of [FieldString, FieldSecret, FieldBool, FieldInt, FieldDuration] as const) {
      refused(/only a FieldRecordList/, 'f', field({ type, items: [item({})] }))
      refused(/only a FieldRecordList/, 'f', field({ type, items: [] }))
    }
  })

  test('has no list inside', () => {
    refused(/inside another/, 'f.a', list(item({ type: FieldRecordList })))
    const nested = { ...item({ type: FieldRecordList }), items: [item({})] } as ItemDeclaration
    refused(/inside another/, 'f.a', list(nested))
  })

  test('has no key that begins with __, and nor has a field', () => {
    for (const key of ['__x', '__', '__label', '__items', '__proto__', '___']) {
      refused(/reserved/, `f.${key}`, list(item({ key })))
      refused(/reserved/, key, field({ key }))
    }
    for (const key of ['_x', 'x__', 'a__b', '_']) {
      expect(problems(list(item({ key })), field({ key: `${key}2` })), key).toEqual([])
    }
  })

  test('has conditions on other sub-fields of the same element alone', () => {
    const on = (name: string) => item({ condition: { field: name, equals: 'x' } })
    const sibling = item({ key: 'b' })
    const elsewhere = { ...list(item({ key: 'c' })), key: 'other' }
    const top = field({ key: 'top' })
    for (const name of ['top', 'f', 'c', 'other', 'other.c', 'f.b', 'z', '', 'a', 'toString']) {
      refused(/another sub-field/, 'f.a', list(on(name), sibling), elsewhere, top)
    }
    // Declared before or after it, and though a field has the same key.
    expect(problems(list(on('b'), sibling), field({ key: 'b' }))).toEqual([])
    expect(problems(list(sibling, on('b')))).toEqual([])
  })
})

test('what is wrong with a type or a sub-field is told once, and not of what hangs on it', () => {
  const unknown = { ...field({ default: 'x' }), type: 'FieldText' as 'FieldString' }
  expect(problems(unknown)).toHaveLength(1)
  const conditional = item({ key: 'b', condition: { field: 'a', equals: 'x' } })
  const mistyped = Object.assign(item({ type: FieldInt }), { label: 5 })
  expect(problems(list(mistyped, conditional))).toHaveLength(1)
})

test('a choice whose options are no texts is refused', () => {
  const options = Object.assign(['a', 'b'], { 1: 5 })
  expect(problems(field({ type: FieldSelect, options }))).toMatchObject([
    { problem: expect.stringContaining('an option that is empty or no text') },
  ])
})

describe('a module', () => {
  test('with any problem is no module, and the error tells all of them with the remedy', () => {
    const define = () =>
      defineModule({
        name: 'mail',
        environments: ['production'],
        fields: [field({ items: [] }), field({ key: 'a.b' })],
      })
    expect(define).toThrow(DeclarationError)
    expect(define).toThrow(
      'Module "mail" is not declared correctly: field "f" has "items", which only a FieldRecordList may have; remove them; field "a.b" has a key',
    )
  })

  test.each([
    ['Mail', ['production'], /has a name/],
    ['a|b', ['production'], /has a name/],
    ['', ['production'], /has a name/],
    ['m'.repeat(64), ['production'], /has a name/],
    ['mail', [], /has no environments/],
    ['mail', ['EU'], /"EU" that is not/],
    ['mail', ['a', 'a'], /twice/],
  ])('is refused by the name %j with the environments %j', (name, environments, problem) => {
    expect(() => assertModule({ name, environments, fields: [] })).toThrow(problem)
  })

  test('auth is one', () => {
    const definition = { name: authModuleName, environments: ['production'] }
    expect(() => assertModule({ ...definition, fields: authSettingDeclarations })).not.toThrow()
  })
})
