import { describe, expect, test, vi } from 'vitest'
import {
  type ConfigPatch,
  checkPatch,
  type EnvironmentState,
  mayRetry,
  planPatch,
} from '../../../src/engine/configuration/config-patch.js'
import { deepFreeze, environment, mailFields } from './mail-module.js'

const stored = environment({
  sender: 'noreply@example.com',
  apiKey: 'enc:v1:k1:aaaa:bbbb',
  'hooks.__items': 'a,a-b,ab',
  'hooks.a.__label': 'The A',
  'hooks.a.url': 'https://a.example',
  'hooks.a.token': 'enc:v1:k1:cccc:dddd',
  'hooks.a.retired': 'enc:v1:k1:eeee:ffff',
  'hooks.a-b.url': 'https://a-b.example',
  'hooks.ab.url': 'https://ab.example',
})

function plan(patch: ConfigPatch, state: EnvironmentState = stored) {
  return planPatch(state, deepFreeze(patch), mailFields)
}

function next(patch: ConfigPatch, state: EnvironmentState = stored) {
  const planned = plan(patch, state)
  if (planned.kind === 'refused') throw new Error(planned.refusal.message)
  return planned
}

function refusal(patch: ConfigPatch, state: EnvironmentState = stored) {
  const planned = plan(patch, state)
  return planned.kind === 'refused' ? planned.refusal : null
}

describe('changing keys', () => {
  test('changes what it mentions, clears by an empty text, keeps the rest', () => {
    const { values, changed, removed } = next({ config: { sender: 'new', apiKey: '' } })
    expect(values).toEqual({ ...stored.values, sender: 'new', apiKey: '' })
    expect([changed, removed]).toEqual([['sender', 'apiKey'], []])
  })

  test.each([{}, { config: {} }, { recordLists: [] }])('%j changes nothing', (patch) => {
    expect(next(patch)).toEqual({ kind: 'next', values: stored.values, changed: [], removed: [] })
  })

  test('a new label changes neither slug nor roster', () => {
    const { values, changed } = next({ config: { 'hooks.a.__label': 'Renamed' } })
    expect(values).toEqual({ ...stored.values, 'hooks.a.__label': 'Renamed' })
    expect(changed).toEqual(['hooks.a.__label'])
  })

  test('needs no revision, and honours one that is stated', () => {
    expect(next({ config: { sender: 'x' }, revision: 7 }).changed).toEqual(['sender'])
    expect(refusal({ config: { sender: 'x' }, revision: 6 })).toMatchObject({ status: 409 })
  })
})

describe('a key that is not declared', () => {
  const state = environment({ ...stored.values, gone: 'enc:v1:k1:aaaa:bbbb', 'hooks.a.old': 'x' })

  test('is removed by an empty text where it is stored, and by no other', () => {
    const { values, changed, removed } = next({ config: { gone: '', 'hooks.a.old': '' } }, state)
    expect(values).toEqual(stored.values)
    expect([changed, removed]).toEqual([[], ['gone', 'hooks.a.old']])
    expect(refusal({ config: { gone: 'x' } }, state)).toMatchObject({ code: 'config.unknown_key' })
  })

  test('is named once where its element goes as well', () => {
    const recordLists = [{ field: 'hooks', create: [], remove: ['a'] }]
    const { removed } = next({ recordLists, config: { 'hooks.a.old': '' }, revision: 7 }, state)
    expect(removed.filter((key) => key === 'hooks.a.old')).toHaveLength(1)
  })

  test.each(['gone', '__proto__', 'constructor', 'hooks.a.old'])(
    '%s is refused where it is not stored',
    (key) => {
      const patch = { config: Object.fromEntries([[key, '']]) }
      expect(refusal(patch)).toMatchObject({ status: 422, code: 'config.unknown_key', field: key })
    },
  )
})

describe('creating', () => {
  test('appends to the roster and takes keys of the new elements', () => {
    const { values, changed } = next({
      recordLists: [{ field: 'hooks', create: ['z', 'b'], remove: [] }],
      config: { 'hooks.z.url': 'https://z.example', 'hooks.z.__label': 'Zed' },
    })
    expect(values['hooks.__items']).toBe('a,a-b,ab,z,b')
    expect(values['hooks.z.url']).toBe('https://z.example')
    expect(changed).toEqual(['hooks.__items', 'hooks.z.url', 'hooks.z.__label'])
  })

  test('makes the first element of an absent and of an empty list', () => {
    const patch = { recordLists: [{ field: 'regions', create: ['eu'], remove: [] }] }
    for (const values of [{}, { 'regions.__items': '' }]) {
      expect(next(patch, environment(values)).values).toEqual({ 'regions.__items': 'eu' })
    }
  })

  test('begins empty where orphan keys lie', () => {
    const state = environment({ 'hooks.__items': 'a', 'hooks.b.token': 'enc:v1:k1:x:y' })
    const { values, removed } = next(
      {
        recordLists: [{ field: 'hooks', create: ['b'], remove: [] }],
        config: { 'hooks.b.url': 'https://b.example' },
      },
      state,
    )
    expect(values).toEqual({ 'hooks.__items': 'a,b', 'hooks.b.url': 'https://b.example' })
    expect(removed).toEqual(['hooks.b.token'])
  })
})

describe('removing', () => {
  test('destroys every key of `a`, and nothing of `a-b` or `ab`', () => {
    const { values, removed, changed } = next({
      recordLists: [{ field: 'hooks', create: [], remove: ['a'] }],
      revision: 7,
    })
    expect(values).toEqual({
      sender: 'noreply@example.com',
      apiKey: 'enc:v1:k1:aaaa:bbbb',
      'hooks.__items': 'a-b,ab',
      'hooks.a-b.url': 'https://a-b.example',
      'hooks.ab.url': 'https://ab.example',
    })
    expect(removed).toEqual(['hooks.a.__label', 'hooks.a.url', 'hooks.a.token', 'hooks.a.retired'])
    expect(changed).toEqual(['hooks.__items'])
  })

  test('the roster of an emptied list stays, empty', () => {
    const state = environment({ 'regions.__items': 'eu', 'regions.eu.host': 'h' })
    const patch = { recordLists: [{ field: 'regions', create: [], remove: ['eu'] }], revision: 7 }
    expect(next(patch, state).values).toEqual({ 'regions.__items': '' })
  })

  test('needs a revision, which may be 0', () => {
    const patch = { recordLists: [{ field: 'hooks', create: [], remove: ['a'] }] }
    expect(refusal(patch)).toMatchObject({
      status: 422,
      code: 'config.removal_requires_revision',
    })
    const atZero = environment(stored.values, 0)
    expect(next({ ...patch, revision: 0 }, atZero).values['hooks.__items']).toBe('a-b,ab')
    expect(next({ recordLists: [{ field: 'hooks', create: [], remove: [] }] }).changed).toEqual([])
  })
})

const slugs = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `s${index + from}`)

describe('the number of elements', () => {
  const holding = (count: number) => environment({ 'hooks.__items': slugs(count).join(',') })
  const adding = (create: readonly string[], remove: readonly string[] = []) => ({
    recordLists: [{ field: 'hooks', create, remove }],
    revision: 7,
  })
  const tooMany = { status: 422, code: 'config.too_many_elements', field: 'hooks' }

  test('is at most 50, counted on the roster after the patch', () => {
    expect(refusal(adding(slugs(50)), holding(0))).toBeNull()
    expect(refusal(adding(slugs(51)), holding(0))).toMatchObject(tooMany)
    expect(refusal(adding(['new']), holding(49))).toBeNull()
    expect(refusal(adding(['new']), holding(50))).toMatchObject(tooMany)
    expect(refusal(adding(['new'], ['s0']), holding(50))).toBeNull()
    expect(refusal(adding(['n1', 'n2'], ['s0']), holding(50))).toMatchObject(tooMany)
  })

  test('an overfull list can be made shorter, but takes no new element', () => {
    expect(refusal(adding([], ['s0']), holding(60))).toBeNull()
    expect(refusal(adding(['new'], ['s0']), holding(60))).toMatchObject(tooMany)
  })

  test('Max makes fifty fewer, and never more', () => {
    for (const [max, effective] of [
      [undefined, 50],
      [0, 50],
      [10, 10],
      [50, 50],
      [51, 50],
      [1000, 50],
    ] as const) {
      const fields = mailFields
        .filter(({ key }) => key === 'hooks')
        .map((field) => (max === undefined ? field : { ...field, max }))
      const judge = (count: number) =>
        planPatch(
          environment({}),
          { recordLists: [{ field: 'hooks', create: slugs(count), remove: [] }] },
          fields,
        ).kind
      expect([judge(effective), judge(effective + 1)], `${max}`).toEqual(['next', 'refused'])
    }
  })
})

describe('what moved meanwhile', () => {
  test('a revision that is not the present one is 409, whatever is patched', () => {
    for (const revision of [6, 8, 0]) {
      expect(refusal({ revision })).toMatchObject({
        status: 409,
        code: 'config.revision_conflict',
        field: null,
        revision: 7,
      })
    }
  })

  test.each<[string, ConfigPatch, string, readonly string[]]>([
    [
      'creating what exists',
      { recordLists: [{ field: 'hooks', create: ['new', 'a'], remove: [] }] },
      'hooks',
      ['a'],
    ],
    [
      'removing what does not',
      { recordLists: [{ field: 'hooks', create: [], remove: ['a', 'gone'] }], revision: 7 },
      'hooks',
      ['gone'],
    ],
    [
      'a key of an element that does not exist',
      { config: { 'hooks.gone.__label': 'x' } },
      'hooks.gone.__label',
      ['gone'],
    ],
    [
      'a key of a slug that another list has',
      {
        config: { 'regions.a.host': 'x' },
        recordLists: [{ field: 'regions', create: ['b'], remove: [] }],
      },
      'regions.a.host',
      ['a'],
    ],
  ])('%s is 409', (_, patch, field, conflicting) => {
    expect(refusal(patch)).toMatchObject({
      status: 409,
      code: 'config.roster_conflict',
      field,
      revision: 7,
      slugs: conflicting,
    })
  })

  test('only a patch without a revision is planned again', () => {
    expect([mayRetry({}), mayRetry({ revision: 0 }), mayRetry({ revision: 7 })]).toEqual([
      true,
      false,
      false,
    ])
  })
})

describe('what can never succeed', () => {
  const list = (field: string, create: readonly string[] = [], remove: readonly string[] = []) => ({
    field,
    create,
    remove,
  })

  test.each<[string, ConfigPatch, string, string | null]>([
    ['a field twice', { recordLists: [list('hooks'), list('hooks')] }, 'duplicate_field', 'hooks'],
    [
      'a slug in both',
      { recordLists: [list('hooks', ['x'], ['x'])] },
      'create_and_remove',
      'hooks',
    ],
    ['a slug twice', { recordLists: [list('hooks', ['x', 'x'])] }, 'invalid_slug', 'hooks'],
    [
      'a slug removed twice',
      { recordLists: [list('hooks', [], ['a', 'a'])], revision: 7 },
      'invalid_slug',
      'hooks',
    ],
    ['a slug with a comma', { recordLists: [list('hooks', ['a,b'])] }, 'invalid_slug', 'hooks'],
    [
      'a malformed slug to remove',
      { recordLists: [list('hooks', [], ['A'])], revision: 7 },
      'invalid_slug',
      'hooks',
    ],
    ['a list nobody declared', { recordLists: [list('nope')] }, 'unknown_key', 'nope'],
    ['a field that is no list', { recordLists: [list('sender', ['x'])] }, 'unknown_key', 'sender'],
    ['a list of the prototype', { recordLists: [list('__proto__')] }, 'unknown_key', '__proto__'],
    ['an unknown key', { config: { sendr: 'x' } }, 'unknown_key', 'sendr'],
    ['a key of the prototype', { config: { constructor: 'x' } }, 'unknown_key', 'constructor'],
    ['a list itself', { config: { hooks: 'x' } }, 'unknown_key', 'hooks'],
    [
      'an undeclared sub-field',
      { config: { 'hooks.a.retired': 'x' } },
      'unknown_key',
      'hooks.a.retired',
    ],
    ['a key too deep', { config: { 'hooks.a.b.url': 'x' } }, 'unknown_key', 'hooks.a.b.url'],
    [
      'a key with a malformed slug',
      { config: { 'hooks.A.url': 'x' } },
      'unknown_key',
      'hooks.A.url',
    ],
    [
      'a key below a plain field',
      { config: { 'sender.a.url': 'x' } },
      'unknown_key',
      'sender.a.url',
    ],
    ['another reserved name', { config: { 'hooks.__order': 'x' } }, 'unknown_key', 'hooks.__order'],
    ['the roster', { config: { 'hooks.__items': 'a' } }, 'membership_not_allowed', 'hooks.__items'],
    [
      'a key of an element that is removed',
      { recordLists: [list('hooks', [], ['a'])], config: { 'hooks.a.url': 'x' }, revision: 7 },
      'unknown_key',
      'hooks.a.url',
    ],
    [
      'more than 50 at once',
      { recordLists: [list('hooks', slugs(51))] },
      'too_many_elements',
      'hooks',
    ],
  ])('%s is 422', (_, patch, code, field) => {
    const expected = { status: 422, code: `config.${code}`, field }
    expect(refusal(patch)).toMatchObject(expected)
    expect(checkPatch(patch, mailFields, 'environment')).toMatchObject(expected)
    // R-4.5-21: with a stale revision too.
    expect(refusal({ ...patch, revision: 1 })).toMatchObject(expected)
  })

  test.each([
    ['no object', null],
    ['a list', []],
    ['a number as a text', { config: { sender: 5 } }],
    ['a list of texts', { config: ['sender'] }],
    ['a member with another name', { conf: { sender: 'x' } }],
    ['a revision as text', { revision: '7' }],
    ['half a revision', { revision: 7.5 }],
    ['a record list that is no list', { recordLists: { field: 'hooks' } }],
    ['no record list', { recordLists: [null] }],
    ['a hole in place of a record list', { recordLists: new Array(1) }],
    ['a hole in place of a slug', { recordLists: [{ field: 'hooks', create: new Array(1) }] }],
    ['a map', new Map([['config', {}]])],
    ['texts in a map', { config: new Map([['sender', 'x']]) }],
    ['a record list without a name', { recordLists: [{ create: ['x'] }] }],
    ['a slug that is no text', { recordLists: [{ field: 'hooks', create: [1] }] }],
    ['a slug that is no list', { recordLists: [{ field: 'hooks', remove: 'x' }], revision: 7 }],
    ['another member of a record list', { recordLists: [{ field: 'hooks', add: ['x'] }] }],
  ])('what no compiler checked is refused by its form: %s', (_, given) => {
    const patch = given as ConfigPatch
    expect(() => refusal(patch)).toThrow(TypeError)
    expect(() => refusal(patch)).toThrow(/^planPatch: "patch" must be \{ config\?, recordLists\?/)
    const check = () => checkPatch(patch, mailFields, 'environment')
    expect(check).toThrow(/^checkPatch: "patch" must be /)
  })

  test('a record list may name only what is created, or only what is removed', () => {
    const created = { recordLists: [{ field: 'hooks', create: ['b'] }] }
    const removed = { recordLists: [{ field: 'hooks', remove: ['a'] }], revision: 7 }
    expect([refusal(created), refusal(removed)]).toEqual([null, null])
  })

  test('`__proto__` as parsed JSON has it is an unknown key', () => {
    const config: Record<string, string> = JSON.parse('{"__proto__":"x"}')
    expect(refusal({ config })).toMatchObject({ code: 'config.unknown_key', field: '__proto__' })
  })

  test('the module door takes no membership, but a rename', () => {
    const judge = (patch: ConfigPatch) => checkPatch(patch, mailFields, 'module')
    const refused = { status: 422, code: 'config.membership_not_allowed' }
    expect(judge({ recordLists: [list('hooks', ['x'])] })).toMatchObject(refused)
    expect(judge({ recordLists: [] })).toMatchObject(refused)
    expect(judge({ config: { 'hooks.__items': 'a' } })).toMatchObject(refused)
    expect(judge({ config: { 'hooks.a.__label': 'x', sender: 'y' } })).toBeNull()
  })

  test('messages name what is wrong, cut short, and never a value', () => {
    const refused = refusal({ config: { ['k'.repeat(500)]: 'S3CR3T' } })
    expect(refused?.message).toContain('Check its spelling')
    expect(refused?.message.length).toBeLessThan(200)
    expect(JSON.stringify(refused)).not.toContain('S3CR3T')
  })
})

test('the same patch of the same environment has the same plan, and changes neither', () => {
  const patch = deepFreeze({
    config: { sender: 'x', 'hooks.z.url': 'u', apiKey: '' },
    recordLists: [{ field: 'hooks', create: ['z'], remove: ['a'] }],
    revision: 7,
  })
  const state = deepFreeze(structuredClone(stored))
  const fields = deepFreeze(structuredClone(mailFields))
  const before = structuredClone({ patch, state, fields })
  const plans = [1, 2, 3].map(() => planPatch(state, patch, fields))
  expect(plans[0]).toMatchObject({ kind: 'next' })
  expect(plans[1]).toEqual(plans[0])
  expect(plans[2]).toEqual(plans[0])
  expect(checkPatch(patch, fields, 'environment')).toBeNull()
  expect({ patch, state, fields }).toEqual(before)
})

test('removing many of many elements takes steps in proportion', () => {
  const few = stepsOfRemoval(200)
  expect(stepsOfRemoval(800)).toBeLessThan(5 * few)
})

/** How often a name to remove is read, and how often a key is compared. */
function stepsOfRemoval(count: number): number {
  const all = Array.from({ length: count }, (_, index) => `s${index}`)
  const values = {
    'hooks.__items': all.join(','),
    ...Object.fromEntries(all.map((slug) => [`hooks.${slug}.url`, 'u'])),
  }
  let steps = 0
  const remove = new Proxy(all, {
    get(target, member, receiver) {
      steps += 1
      return Reflect.get(target, member, receiver)
    },
  })
  const compared = vi.spyOn(String.prototype, 'startsWith')
  const recordLists = [{ field: 'hooks', create: [], remove }]
  const planned = planPatch({ revision: 7, values }, { recordLists, revision: 7 }, mailFields)
  steps += compared.mock.calls.length
  compared.mockRestore()
  expect(planned).toMatchObject({ kind: 'next', values: { 'hooks.__items': '' } })
  return steps
}
