/**
 * A protocol as a table of guarded actions. Guards and effects are written in the part of C that
 * Promela and JavaScript share (variables, numbers, `!`, `&&`, `||`, comparison, `+`, `-`, `=`), so
 * that the same table can be printed for Spin and be followed by a program.
 */
export interface Model {
  readonly name: string
  readonly variables: Readonly<Record<string, Variable>>
  /** Names for expressions, each of which may use those before it. */
  readonly definitions: Readonly<Record<string, string>>
  readonly actions: readonly Action[]
  /** What holds in every state. */
  readonly invariants: readonly Claim[]
  /** The smallest setting in which everything safe is searched, and those in which liveness is. */
  readonly scenarios: readonly Scenario[]
  /** Actions that happen in no scenario, each with the reason. */
  readonly never: Readonly<Record<string, string>>
  readonly plants: readonly Plant[]
}

/** The values a variable may begin with; the search tries each. */
export interface Variable {
  readonly kind: 'bit' | 'byte'
  readonly initially: readonly [number, ...number[]]
}

export const bit = (first: number, ...others: readonly number[]): Variable => ({
  kind: 'bit',
  initially: [first, ...others],
})

export const byte = (first: number): Variable => ({ kind: 'byte', initially: [first] })

/** Names for the numbers from 0. */
export function numbered(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name, index) => [name, String(index)]))
}

/** One step of one process: all of it happens at once, as one call of a port does. */
export interface Action {
  readonly name: string
  /** The process that takes it. A process that could go on for ever does go on, in liveness checks. */
  readonly by: string
  readonly when: string
  /** Carried out one after the other. */
  readonly effects: readonly string[]
  /** What must be true whenever the action is taken, before its effects. */
  readonly claims?: readonly Claim[]
}

export interface Claim {
  readonly name: string
  readonly holds: string
}

export interface Scenario {
  readonly name: string
  /**
   * How many steps there are from one state to another, and a sum of what each is called and where it leads. Others mean
   * that the model says something else than before.
   */
  readonly transitions: number
  readonly fingerprint: string
  /** The processes that take part. */
  readonly processes: readonly string[]
  /** Actions of those processes that this scenario leaves out. */
  readonly without?: readonly string[]
  /** Other first values. */
  readonly initially?: Readonly<Record<string, readonly [number, ...number[]]>>
  /** Definitions that are other here: the bounds of the search. */
  readonly bounds?: Readonly<Record<string, number>>
  /** In linear temporal logic over the model's names; null = safety: claims, invariants, dead ends. */
  readonly eventually: string | null
}

/** A wrong protocol, which a search must refute. */
export interface Plant {
  readonly name: string
  /** The scenario that finds it. */
  readonly scenario: string
  /** The claim it breaks. */
  readonly breaks: string
  readonly model: () => Model
}

/** The model with some of its actions replaced, by name. Throws for a name it does not have. */
export function replaceActions(
  model: Model,
  replace: Readonly<Record<string, (action: Action) => Action>>,
): Model {
  for (const name of Object.keys(replace)) {
    if (!model.actions.some((action) => action.name === name)) {
      throw new Error(`${model.name} has no action "${name}"`)
    }
  }
  const actions = model.actions.map((action) => replace[action.name]?.(action) ?? action)
  return { ...model, actions }
}

/** The model with one claim alone; with none, where the name is that of a scenario. */
export function withClaim(model: Model, wanted: string): Model {
  const only = (claims: readonly Claim[]) => claims.filter(({ name }) => name === wanted)
  const invariants = only(model.invariants)
  const actions = model.actions.map((action) => ({ ...action, claims: only(action.claims ?? []) }))
  const isClaim = invariants.length > 0 || actions.some(({ claims }) => claims.length > 0)
  if (!isClaim && !model.scenarios.some(({ name }) => name === wanted)) {
    throw new Error(`${model.name} claims nothing that is called "${wanted}"`)
  }
  return { ...model, invariants, actions }
}
