import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type FieldDeclaration,
  FieldRecordList,
  FieldSecret,
  FieldString,
} from '../../../src/engine/configuration/config-declaration.js'
import { readRecordList } from '../../../src/engine/configuration/config-keys.js'
import {
  type ConfigPatch,
  type EnvironmentState,
  planPatch,
} from '../../../src/engine/configuration/config-patch.js'
import { deepFreeze } from './mail-module.js'
import { applyToModel, flatten, type Model, type Shape } from './patch-model.js'

const runs = 10_000
const items = [
  { key: 'url', label: 'URL', type: FieldString },
  { key: 'token', label: 'Token', type: FieldSecret },
] as const
const declarations: readonly FieldDeclaration[] = deepFreeze([
  { key: 'sender', label: 'Sender', type: FieldString, group: 'G' },
  { key: 'constructor', label: 'Maker', type: FieldString, group: 'G' },
  { key: 'hooks', label: 'Hooks', type: FieldRecordList, group: 'G', items, max: 5 },
  { key: 'hook', label: 'Hook', type: FieldRecordList, group: 'G', items, max: 2 },
])
const names = ['url', 'token', '__label']
const shape: Shape = {
  plain: ['sender', 'constructor'],
  lists: new Map([
    ['hooks', { max: 5, names }],
    ['hook', { max: 2, names }],
  ]),
}

/** Neighbours by prefix, names of the prototype, and now and then a malformed one. */
const slug = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('a', 'a-b', 'ab', 'b', 'a-b-c', 'constructor') },
  { weight: 1, arbitrary: fc.constantFrom('A', 'a_b', '__items', '', 'a.b', 'a,b') },
)
const list = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom('hooks', 'hook') },
  { weight: 1, arbitrary: fc.constantFrom('sender', 'nope', '__proto__') },
)
const slugs = fc.array(slug, { maxLength: 3 })
const key = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('sender', 'constructor') },
  {
    weight: 8,
    arbitrary: fc
      .tuple(fc.constantFrom('hooks', 'hook'), slug, fc.constantFrom(...names))
      .map((parts) => parts.join('.')),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'hooks',
      'hooks.__items',
      'hooks.a.old',
      'hooks.a.retired',
      'nope',
      'hooks.a',
      'toString',
    ),
  },
)
const noSlugs = fc.constant([])
const patchShape = fc.record({
  config: fc.dictionary(key, fc.constantFrom('', 'x', 'y'), { maxKeys: 2, noNullPrototype: true }),
  recordLists: fc.array(
    fc.record({
      field: list,
      create: slugs,
      remove: fc.oneof({ weight: 2, arbitrary: noSlugs }, { weight: 1, arbitrary: slugs }),
    }),
    { maxLength: 2 },
  ),
  revision: fc.constantFrom('none', 'none', 'current', 'current', 'current', 'older', 'newer'),
})
type PatchShape = typeof patchShape extends fc.Arbitrary<infer Shape> ? Shape : never

function patchAt({ config, recordLists, revision }: PatchShape, current: number): ConfigPatch {
  if (revision === 'none') return { config, recordLists }
  const offset = { current: 0, older: -1, newer: 1 }[revision]
  return { config, recordLists, revision: current + offset }
}

/** Elements with a sub-field that was declared once: its texts must go with them. */
const initial: Model = {
  revision: 3,
  plain: new Map([['sender', 'me']]),
  lists: new Map([
    [
      'hooks',
      ['a', 'a-b', 'ab'].map((one) => ({
        slug: one,
        texts: new Map([
          ['url', `https://${one}.example`],
          ['retired', `secret of ${one}`],
        ]),
      })),
    ],
  ]),
}

function checkState({ values }: EnvironmentState, model: Model) {
  expect(values).toEqual(flatten(model))
  for (const declaration of declarations.filter(({ type }) => type === FieldRecordList)) {
    const read = readRecordList(declaration, values).map((element) => element.slug)
    expect(read).toEqual((model.lists.get(declaration.key) ?? []).map((element) => element.slug))
    // No key of an element that is not there.
    const prefix = `${declaration.key}.`
    const held = Object.keys(values).filter((one) => one.startsWith(prefix))
    const owners = held.map((one) => one.slice(prefix.length).split('.')[0] ?? '')
    expect(owners.filter((owner) => owner !== '__items' && !read.includes(owner))).toEqual([])
  }
}

function checkKeys(before: EnvironmentState, plan: ReturnType<typeof planPatch>) {
  if (plan.kind === 'refused') return
  const gone = Object.keys(before.values).filter((one) => !Object.hasOwn(plan.values, one))
  expect([...plan.removed].sort()).toEqual(gone.sort())
  const moved = Object.entries(plan.values).filter(([one, text]) => before.values[one] !== text)
  expect(plan.changed).toEqual(expect.arrayContaining(moved.map(([one]) => one)))
}

test('any sequence of patches does what a naive model does', () => {
  let accepted = 0
  const refusals = new Map<string, number>()
  fc.assert(
    fc.property(fc.array(patchShape, { minLength: 1, maxLength: 6 }), (sequence) => {
      let model = initial
      let state: EnvironmentState = deepFreeze({ revision: 3, values: flatten(initial) })
      for (const one of sequence) {
        const patch = deepFreeze(patchAt(one, state.revision))
        const expected = applyToModel(model, patch, shape)
        const plan = planPatch(state, patch, declarations)
        expect(plan.kind === 'refused' ? plan.refusal.code : 'next').toBe(
          typeof expected === 'string' ? expected : 'next',
        )
        checkKeys(state, plan)
        if (plan.kind === 'refused' || typeof expected === 'string') {
          const code = String(expected)
          refusals.set(code, (refusals.get(code) ?? 0) + 1)
          continue
        }
        accepted += 1
        model = expected
        state = deepFreeze({ revision: state.revision + 1, values: plan.values })
        expect(state.revision).toBe(model.revision)
        checkState(state, model)
      }
    }),
    { numRuns: runs },
  )
  // The sequences were worth their name: every outcome was met, and often.
  expect(accepted).toBeGreaterThan(runs / 4)
  expect([...refusals.keys()].sort()).toEqual([
    'config.create_and_remove',
    'config.duplicate_field',
    'config.invalid_slug',
    'config.membership_not_allowed',
    'config.removal_requires_revision',
    'config.revision_conflict',
    'config.roster_conflict',
    'config.too_many_elements',
    'config.unknown_key',
  ])
}, 120_000)

test('two adders who race both succeed, unless they add the same', () => {
  const some = fc.uniqueArray(fc.constantFrom('k', 'l', 'm', 'n'), { minLength: 1, maxLength: 2 })
  const adding = (create: readonly string[]) => ({
    recordLists: [{ field: 'hooks', create, remove: [] }],
  })
  const open = deepFreeze(declarations.map((field) => ({ ...field, max: 50 })))
  fc.assert(
    fc.property(some, some, (winner, loser) => {
      const base = { revision: 3, values: flatten(initial) }
      const first = planPatch(base, adding(winner), open)
      if (first.kind === 'refused') throw new Error(first.refusal.message)
      const again = planPatch({ revision: 4, values: first.values }, adding(loser), open)
      const clash = winner.some((one) => loser.includes(one))
      expect(again).toMatchObject(
        clash
          ? { kind: 'refused', refusal: { status: 409, code: 'config.roster_conflict' } }
          : { values: { 'hooks.__items': ['a', 'a-b', 'ab', ...winner, ...loser].join() } },
      )
    }),
  )
})
