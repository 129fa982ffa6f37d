import { planPatch } from '../../src/engine/configuration/config-patch.js'
import { editorActions, editorPlaces } from './edits-editor.js'
import { editsPlants } from './edits-plants.js'
import {
  elementAfter,
  kinds,
  type Planner,
  plans,
  planVerdict,
  retryVerdict,
} from './edits-verdict.js'
import { bit, byte, type Model, numbered, type Scenario, type Variable } from './spin/model.js'

const editors = [0, 1, 2] as const

function editorVariables(n: number): Readonly<Record<string, Variable>> {
  return {
    [`kind${n}`]: byte(0),
    [`place${n}`]: byte(0),
    // What its request read of the environment, last and first; 0 = nothing yet.
    [`seen${n}`]: byte(0),
    [`seenA${n}`]: bit(0),
    [`seenB${n}`]: bit(0),
    [`first${n}`]: byte(0),
    // The revision that it states; 0 = none.
    [`stated${n}`]: byte(0),
    // Races lost, and how often its edit took effect.
    [`tries${n}`]: byte(0),
    [`applied${n}`]: byte(0),
    // The revision that its write made; 0 = none.
    [`wrote${n}`]: byte(0),
    // A write that its request no longer waits for.
    [`late${n}`]: bit(0),
  }
}

const variables: Readonly<Record<string, Variable>> = {
  // The environment: its revision and its two elements.
  ...{ revision: byte(1), a: bit(0), b: bit(0) },
  // The newest revision of which the history has a record, as it has of all before.
  recorded: byte(0),
  // Elements of which somebody was told that they are made.
  ...{ madeA: byte(0), madeB: byte(0) },
  faults: byte(2),
  ...editorVariables(0),
  ...editorVariables(1),
  ...editorVariables(2),
}

const scenarios: readonly Scenario[] = [
  {
    name: 'three editors',
    transitions: 1_077_214,
    fingerprint: '7c9164bf253e7962',
    processes: ['editor0', 'editor1', 'editor2', 'store'],
    initially: { kind0: [0, 1, 3], kind1: [0, 1, 2, 3], kind2: [1, 3] },
    eventually: null,
  },
  {
    name: 'two editors among many',
    transitions: 1_555_184,
    fingerprint: '2ab34d3c0623382b',
    processes: ['editor0', 'editor1', 'others', 'store'],
    initially: { kind0: [0, 1, 2, 3], kind1: [0, 1, 2], faults: [1] },
    eventually: null,
  },
  {
    name: 'an editor among many',
    transitions: 2_336,
    fingerprint: 'b700b47e9b5b9671',
    processes: ['editor2', 'others', 'store'],
    initially: { kind2: [0, 1, 3] },
    eventually: null,
  },
  {
    name: 'one of the contenders commits',
    transitions: 105_525,
    fingerprint: '19c0f47b297107b6',
    processes: ['editor0', 'editor1', 'editor2'],
    initially: { kind0: [0, 1, 3], kind1: [0, 1], kind2: [0, 3], faults: [0] },
    eventually: '<> (place0 == answered || place1 == answered || place2 == answered)',
  },
]

function modelOf(planner: Planner): Omit<Model, 'plants'> {
  const perEditor = (name: string, of: (n: number) => string) =>
    Object.fromEntries(editors.map((n) => [`${name}${n}`, of(n)]))
  return {
    name: 'edits',
    variables,
    definitions: {
      ...numbered(editorPlaces),
      ...numbered(kinds),
      ...numbered(plans),
      ...{ newest: '5', most: '3' },
      ...perEditor('plan', (n) => planVerdict(n, planner)),
      ...perEditor('afterA', (n) => elementAfter(n, 'a', planner)),
      ...perEditor('afterB', (n) => elementAfter(n, 'b', planner)),
      ...perEditor('mayRetry', retryVerdict),
    },
    actions: [
      ...editors.flatMap(editorActions),
      {
        name: 'another editor sets a text',
        by: 'others',
        when: 'revision < newest',
        effects: ['recorded = recorded + (revision > recorded)', 'revision = revision + 1'],
      },
    ],
    invariants: [
      {
        name: 'every revision that was replaced has its record',
        holds: 'revision <= recorded + 1',
      },
      { name: 'an element is created once', holds: 'madeA <= 1 && madeB <= 1' },
      {
        name: 'an element that was answered is there',
        holds: '(madeA == 0 || a) && (madeB == 0 || b)',
      },
      {
        name: 'an edit takes effect once',
        holds: 'applied0 <= 1 && applied1 <= 1 && applied2 <= 1',
      },
    ],
    scenarios,
    never: {},
  }
}

const build = (planner: Planner): Model => ({ ...modelOf(planner), plants: [] })

/** Administrators who edit one environment at once: what compare-and-set keeps of their work. */
export const editsModel: Model = {
  ...modelOf(planPatch),
  plants: editsPlants(build, planPatch),
}
