import type { FieldDeclaration } from '../../src/engine/configuration/config-declaration.js'
import { readRoster, rosterKey } from '../../src/engine/configuration/config-keys.js'
import {
  type ConfigPatch,
  type EnvironmentState,
  mayRetry,
  type PatchPlan,
  planPatch,
} from '../../src/engine/configuration/config-patch.js'
import { decisionTree, type Input } from './spin/decision-tree.js'

export type Planner = (
  environment: EnvironmentState,
  patch: ConfigPatch,
  declarations: readonly FieldDeclaration[],
) => PatchPlan

/** What an editor asks for: a new text, an element of one of two names, a new text of a stated revision. */
export const kinds = ['setsText', 'createsA', 'createsB', 'setsStated'] as const

/** What a plan can come to, and what it makes of the two elements. */
export const plans = ['planned', 'elementConflict', 'revisionConflict'] as const

const declarations: readonly FieldDeclaration[] = [
  { key: 'text', label: 'Text', type: 'FieldString', group: 'All' },
  {
    key: 'shops',
    label: 'Shops',
    type: 'FieldRecordList',
    group: 'All',
    items: [{ key: 'city', label: 'City', type: 'FieldString' }],
  },
]

const revision = 5
const creating = (slug: string): ConfigPatch => ({
  recordLists: [{ field: 'shops', create: [slug], remove: [] }],
})

function patchOf(kind: number, isRevisionStated: boolean): ConfigPatch {
  if (kind === 1) return creating('a')
  if (kind === 2) return creating('b')
  const config = { text: 'new' }
  if (kind === 0) return { config }
  return { config, revision: isRevisionStated ? revision : revision - 1 }
}

const inputsOf = (n: number): readonly Input[] => [
  { expression: `kind${n}`, values: [0, 1, 2, 3] },
  { expression: `(stated${n} == seen${n})`, values: [0, 1] },
  { expression: `seenA${n}`, values: [0, 1] },
  { expression: `seenB${n}`, values: [0, 1] },
]

type Situation = readonly number[]

function planOf([kind = 0, stated, a, b]: Situation, planner: Planner): PatchPlan {
  const roster = [...(a === 1 ? ['a'] : []), ...(b === 1 ? ['b'] : [])].join(',')
  const environment = { revision, values: { [rosterKey('shops')]: roster } }
  return planner(environment, patchOf(kind, stated === 1), declarations)
}

const planNames: Readonly<Record<string, string>> = {
  'config.roster_conflict': 'elementConflict',
  'config.revision_conflict': 'revisionConflict',
}

/** `planPatch` itself, asked about every situation that an editor's request can meet. */
export function planVerdict(n: number, planner: Planner = planPatch): string {
  return decisionTree(inputsOf(n), (situation) => {
    const plan = planOf(situation, planner)
    if (plan.kind === 'next') return 'planned'
    const { code } = plan.refusal
    const name = planNames[code]
    if (name === undefined) throw new Error(`a plan of the model came to ${code}`)
    return name
  })
}

/** Whether the next values that `planPatch` gives hold the element. */
export function elementAfter(n: number, slug: 'a' | 'b', planner: Planner = planPatch): string {
  return decisionTree(inputsOf(n), (situation) => {
    const plan = planOf(situation, planner)
    return plan.kind === 'next' && readRoster('shops', plan.values).includes(slug) ? '1' : '0'
  })
}

/** `mayRetry` itself, for each kind. */
export function retryVerdict(n: number): string {
  return decisionTree([{ expression: `kind${n}`, values: [0, 1, 2, 3] }], ([kind = 0]) =>
    mayRetry(patchOf(kind, true)) ? '1' : '0',
  )
}
