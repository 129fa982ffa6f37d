import type { CompiledModel, Values } from '../../model/followed/compiled-model.js'

/** The actions that led to a state, the newest first. */
interface Path {
  readonly name: string
  readonly before: Path | null
}

/** A state that the model may be in, after what was seen so far. */
export interface PossibleIntent {
  readonly values: Values
  /** What the present request on each seat did last. */
  readonly last: readonly [string, string]
  /** The writes that no request waits for, by the request: whether each proves the mailbox. */
  readonly late: Readonly<Record<string, number>>
  readonly path: Path | null
}

export function distinctIntents(states: Iterable<PossibleIntent>): readonly PossibleIntent[] {
  const known = new Map<string, PossibleIntent>()
  for (const state of states) {
    const { values, last, late } = state
    const key = `${values.join()} ${last.join()} ${Object.entries(late).toSorted().join()}`
    if (!known.has(key)) known.set(key, state)
  }
  return [...known.values()]
}

/** The names of the actions that led here, the first one first. */
export function wayOf({ path }: PossibleIntent): readonly string[] {
  const names: string[] = []
  for (let at = path; at !== null; at = at.before) names.push(at.name)
  return names.reverse()
}

export interface IntentSteps {
  readonly model: CompiledModel
  /** Whether a write of the link finds what it asks for. */
  readonly holdsGuard: (values: Values) => number
  readonly linkVerdict: (values: Values) => number
  /** None where the action cannot be taken. */
  take(state: PossibleIntent, name: string): readonly PossibleIntent[]
  value(state: PossibleIntent, variable: string): number
  set(state: PossibleIntent, given: Readonly<Record<string, number>>): PossibleIntent
}

export function intentSteps(model: CompiledModel): IntentSteps {
  return {
    model,
    holdsGuard: model.read('credential == 0 && !disabled'),
    linkVerdict: model.read('linkVerdict'),

    take(state, name) {
      const values = model.action(name).take(state.values)
      return values === null ? [] : [{ ...state, values, path: { name, before: state.path } }]
    },

    value: ({ values }, variable) => values[model.at(variable)] ?? 0,

    set(state, given) {
      const values = [...state.values]
      for (const [name, value] of Object.entries(given)) values[model.at(name)] = value
      return { ...state, values }
    },
  }
}
