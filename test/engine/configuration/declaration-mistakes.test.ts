import { describe, expect, test } from 'vitest'
import { defineModule } from '../../../src/config/define-module.js'
import {
  type FieldDeclaration,
  FieldInt,
  FieldRecordList,
  FieldSelect,
  FieldString,
} from '../../../src/engine/configuration/config-declaration.js'
import { checkDeclarations } from '../../../src/engine/configuration/module-declaration.js'
import { DeclarationError } from '../../../src/errors/index.js'
import { deepFreeze } from './mail-module.js'

const problems = (...fields: readonly FieldDeclaration[]) => checkDeclarations(deepFreeze(fields))

/** What a host without types passes. */
const untyped = (given: unknown) => given as FieldDeclaration

describe('a mistake of a host without types names the field, the shape and the remedy', () => {
  const plain = { key: 'f', label: 'F', type: FieldString, group: 'G' }
  const sub = { key: 'a', label: 'A', type: FieldString }
  const within = (item: unknown) => ({
    ...plain,
    type: FieldRecordList,
    items: [item, { ...sub, key: 'b' }],
  })
  test.each<[string, unknown, string, RegExp]>([
    ['null for a field', null, 'fields[0]', /is not an object; declare its key/],
    ['a text for a field', 'f', 'fields[0]', /is not an object/],
    ['no key', { ...plain, key: undefined }, 'fields[0]', /no "key" of text; name it/],
    ['a number as key', { ...plain, key: 1 }, 'fields[0]', /no "key" of text/],
    ['no label', { ...plain, label: undefined }, 'f', /has no "label"; give the name/],
    ['an empty label', { ...plain, label: '' }, 'f', /"label" that is not text of at least one/],
    ['label null', { ...plain, label: null }, 'f', /"label" that is not text/],
    ['no group', { ...plain, group: undefined }, 'f', /has no "group"; give the heading/],
    ['no type', { ...plain, type: undefined }, 'f', /unknown type; use one of FieldString/],
    ['child false', { ...plain, child: false }, 'f', /"child" that is not text.*leave it out/],
    ['envVar true', { ...plain, envVar: true }, 'f', /"envVar" that is not text.*name a variable/],
    ['an empty envVar', { ...plain, envVar: '' }, 'f', /"envVar" that is not text/],
    ['secret as text', { ...plain, secret: 'true' }, 'f', /"secret" that is not true or false/],
    [
      'a default that is a number',
      { ...plain, type: FieldInt, default: 3 },
      'f',
      /"default" that is not text; write it in stored form/,
    ],
    ['default null', { ...plain, default: null }, 'f', /"default" that is not text/],
    [
      'required of a field',
      { ...plain, required: true },
      'f',
      /"required", which only a sub-field of a record list may have; remove it/,
    ],
    [
      'a condition of a field',
      { ...plain, condition: null },
      'f',
      /"condition", which only a sub-field of a record list may have/,
    ],
    ['another surface', { ...plain, surface: 'all' }, 'f', /"surface" that is not 'operator'/],
    ['min null', { ...plain, min: null }, 'f', /no whole number/],
    ['options as a text', { ...plain, type: FieldSelect, options: 'a' }, 'f', /without "options"/],
    ['items as an object', { ...plain, type: FieldRecordList, items: {} }, 'f', /without "items"/],
    ['null for a sub-field', within(null), 'f.items[0]', /is not an object/],
    ['no key of a sub-field', within({ ...sub, key: undefined }), 'f.items[0]', /no "key" of text/],
    ['no label of a sub-field', within({ ...sub, label: undefined }), 'f.a', /has no "label"/],
    ['no type of a sub-field', within({ ...sub, type: undefined }), 'f.a', /unknown type/],
    [
      'condition null',
      within({ ...sub, condition: null }),
      'f.a',
      /"condition" that is not an object \{ field, equals \} of two texts; name a sub-field/,
    ],
    [
      'a condition as a text',
      within({ ...sub, condition: 'b' }),
      'f.a',
      /"condition" that is not an object/,
    ],
    [
      'a condition without field',
      within({ ...sub, condition: { equals: '' } }),
      'f.a',
      /"condition" that is not/,
    ],
    [
      'a condition that equals a switch',
      within({ ...sub, condition: { field: 'b', equals: true } }),
      'f.a',
      /"condition" that is not/,
    ],
    [
      'required as text',
      within({ ...sub, required: 'yes' }),
      'f.a',
      /"required" that is not true or false; leave it out/,
    ],
    [
      'secret as text in a sub-field',
      within({ ...sub, secret: 'yes' }),
      'f.a',
      /"secret" that is not true or false/,
    ],
    [
      'required null',
      within({ ...sub, required: null }),
      'f.a',
      /"required" that is not true or false/,
    ],
    [
      'a default of a sub-field',
      within({ ...sub, default: 'x' }),
      'f.a',
      /"default", which only a field may have; remove it/,
    ],
    [
      'an envVar of a sub-field',
      within({ ...sub, envVar: 'X' }),
      'f.a',
      /"envVar", which only a field/,
    ],
  ])('%s', (_, declared, at, problem) => {
    expect(problems(untyped(declared))).toEqual([
      { field: at, problem: expect.stringMatching(problem) },
    ])
  })

  test('a condition on a sibling that is wrong itself is the sibling’s problem alone', () => {
    const condition = { field: 'b', equals: 'x' }
    const wrong = { key: 'b', label: 'B', type: 'FieldText' }
    const list = { ...plain, type: FieldRecordList, items: [{ ...sub, condition }, wrong] }
    expect(problems(untyped(list)).map(({ field: at }) => at)).toEqual(['f.b'])
  })

  const named = { name: 'mail', environments: ['production'], fields: [plain] }
  test.each<[unknown, string]>([
    [
      undefined,
      'Module "" is not declared correctly: it is not an object; pass { name, environments, fields }',
    ],
    [null, 'it is not an object'],
    [[], 'it is not an object'],
    [
      { ...named, name: undefined },
      'Module "" is not declared correctly: it has a name that is not lower-case',
    ],
    [{ ...named, name: 7 }, 'it has a name'],
    [
      { ...named, environments: undefined },
      'Module "mail" is not declared correctly: it has no environments; list one',
    ],
    [{ ...named, environments: 'production' }, 'it has no environments'],
    [{ ...named, environments: [null] }, 'it has an environment null that is not'],
    [
      { ...named, fields: undefined },
      'Module "mail" is not declared correctly: it has no array "fields"; list its fields there',
    ],
    [{ ...named, fields: null }, 'it has no array "fields"'],
    [
      { ...named, fields: [null] },
      'Module "mail" is not declared correctly: field "fields[0]" is not an object',
    ],
    [
      { ...named, validatePatch: true },
      'it has a "validatePatch" that is not a function; pass one, or leave it out',
    ],
    [
      { ...named, validateActivation: null },
      'it has a "validateActivation" that is not a function',
    ],
  ])('the module %j', (module, message) => {
    const define = () => defineModule(module as Parameters<typeof defineModule>[0])
    expect(define).toThrow(DeclarationError)
    expect(define).toThrow(message)
  })
})
