import { describe, expect, test } from 'vitest'
import {
  type FieldDeclaration,
  FieldRecordList,
} from '../../../src/engine/configuration/config-declaration.js'
import {
  type ConfigPatch,
  checkPatch,
  planPatch,
  type RecordListChange,
} from '../../../src/engine/configuration/config-patch.js'
import { deepFreeze, environment } from './mail-module.js'

/** A fault by itself, made on a list of its own so that any two fit into one patch. */
interface Fault {
  readonly what: string
  readonly code: string
  readonly lists?: readonly RecordListChange[]
  readonly config?: Readonly<Record<string, string>>
  /** What the fault needs of the revision; anything will do when absent. */
  readonly revision?: 'none' | 'stale'
}

const change = (field: string, create: readonly string[], remove: readonly string[] = []) => ({
  field,
  create,
  remove,
})
const many = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`)

/** In the order of T-61. */
const faults: readonly Fault[] = [
  {
    what: 'the same field twice',
    code: 'config.duplicate_field',
    lists: [change('twice', []), change('twice', [])],
  },
  {
    what: 'created and removed',
    code: 'config.create_and_remove',
    lists: [change('both', ['x'], ['x'])],
  },
  {
    what: 'a removal without revision',
    code: 'config.removal_requires_revision',
    lists: [change('removal', [], ['a'])],
    revision: 'none',
  },
  { what: 'a slug twice', code: 'config.invalid_slug', lists: [change('repeated', ['x', 'x'])] },
  { what: 'a malformed slug', code: 'config.invalid_slug', lists: [change('malformed', ['X'])] },
  { what: 'an unknown list', code: 'config.unknown_key', lists: [change('nobody', [])] },
  {
    what: 'a roster as a key',
    code: 'config.membership_not_allowed',
    config: { 'removal.__items': 'a' },
  },
  { what: 'an unknown key', code: 'config.unknown_key', config: { nothing: 'x' } },
  {
    what: 'a key of what is removed',
    code: 'config.unknown_key',
    lists: [change('edited', [], ['a'])],
    config: { 'edited.a.url': 'x' },
  },
  {
    what: 'too many created',
    code: 'config.too_many_elements',
    lists: [change('flooded', many(51))],
  },
  { what: 'a stale revision', code: 'config.revision_conflict', revision: 'stale' },
  { what: 'removing what is not there', code: 'config.unknown_key', config: { absent: '' } },
  {
    what: 'creating what exists',
    code: 'config.roster_conflict',
    lists: [change('existing', ['a'])],
  },
  {
    what: 'a key of no element',
    code: 'config.roster_conflict',
    config: { 'removal.gone.url': 'x' },
  },
  { what: 'an overfull list', code: 'config.too_many_elements', lists: [change('full', ['one'])] },
]
const firstNeedingState = faults.findIndex(({ revision }) => revision === 'stale')

const names = ['twice', 'both', 'removal', 'repeated', 'malformed', 'edited', 'flooded']
const declarations: readonly FieldDeclaration[] = deepFreeze(
  [...names, 'existing', 'full'].map((key) => ({
    key,
    label: key,
    type: FieldRecordList,
    group: 'G',
    items: [{ key: 'url', label: 'URL', type: 'FieldString' as const }],
  })),
)
const state = environment({
  'removal.__items': 'a',
  'edited.__items': 'a',
  'existing.__items': 'a',
  'full.__items': many(50).join(','),
})

/** Both faults in one patch; null where they exclude each other. */
function together(...some: readonly Fault[]): ConfigPatch | null {
  const needs = some.flatMap(({ revision }) => revision ?? [])
  if (needs.includes('none') && needs.includes('stale')) return null
  const removes = some.some(({ lists = [] }) => lists.some(({ remove = [] }) => remove.length > 0))
  const current = removes && !needs.includes('none') ? { revision: 7 } : {}
  return {
    recordLists: some.flatMap(({ lists = [] }) => lists),
    config: Object.assign({}, ...some.map(({ config = {} }) => config)),
    ...(needs.includes('stale') ? { revision: 6 } : current),
  }
}

const codeOf = (patch: ConfigPatch) => {
  const plan = planPatch(state, deepFreeze(patch), declarations)
  return plan.kind === 'refused' ? plan.refusal.code : 'none'
}

const pairs = faults.flatMap((first, index) =>
  faults.slice(index + 1).flatMap((second) => {
    const patch = together(first, second)
    const reversed = together(second, first)
    return patch === null || reversed === null ? [] : [{ first, second, patch, reversed }]
  }),
)

describe('the order of refusals', () => {
  test.each(faults)('$what alone is $code', (fault) => {
    const patch = together(fault)
    expect(patch && codeOf(patch)).toBe(fault.code)
  })

  test.each(pairs)('$first.what comes before $second.what', ({ first, patch, reversed }) => {
    expect([codeOf(patch), codeOf(reversed)]).toEqual([first.code, first.code])
  })

  test.each(faults.slice(0, firstNeedingState))(
    '$what is 422 before anything is loaded',
    (fault) => {
      const patch = together(fault) ?? {}
      const found = checkPatch(patch, declarations, 'environment')
      expect([found?.status, found?.code]).toEqual([422, fault.code])
    },
  )

  test.each(faults.slice(firstNeedingState))('$what is not known before', (fault) => {
    expect(checkPatch(together(fault) ?? {}, declarations, 'environment')).toBeNull()
  })

  test('covers every pair but one that cannot be', () => {
    expect(pairs).toHaveLength((faults.length * (faults.length - 1)) / 2 - 1)
  })
})
