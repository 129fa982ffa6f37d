import type { CompiledModel, Values } from '../../model/followed/compiled-model.js'

/** The actions that led to a state, the newest first. */
interface Path {
  readonly name: string
  readonly before: Path | null
}

/** A state that the model may be in, after what was seen so far. */
export interface Possible {
  readonly values: Values
  /** Where each request is that ends the session: there may be several at once, each a process of its own. */
  readonly enders: Readonly<Record<string, number>>
  /** The same of a change of the password, with the generation that it read. */
  readonly changers: Readonly<Record<string, readonly [place: number, seen: number]>>
  /** What the present request of each holder did last. */
  readonly last: readonly [string, string]
  readonly path: Path | null
}

/** Those that differ. */
export function distinct(states: Iterable<Possible>): readonly Possible[] {
  const known = new Map<string, Possible>()
  for (const state of states) {
    const { values, enders, changers, last } = state
    const key = JSON.stringify([values, enders, changers, last])
    if (!known.has(key)) known.set(key, state)
  }
  return [...known.values()]
}

/** The names of the actions that led here, the first one first. */
export function pathOf({ path }: Possible): readonly string[] {
  const names: string[] = []
  for (let at = path; at !== null; at = at.before) names.push(at.name)
  return names.reverse()
}

export interface Steps {
  readonly model: CompiledModel
  /** None where the action cannot be taken. */
  take(state: Possible, name: string): readonly Possible[]
  /** The same for the ender or the changer that this request is. */
  takeEnding(state: Possible, request: string, name: string): readonly Possible[]
  takeChange(state: Possible, request: string, name: string): readonly Possible[]
  value(state: Possible, variable: string): number
  set(state: Possible, values: Readonly<Record<string, number>>): Possible
}

export function stepsOf(model: CompiledModel): Steps {
  const [ending, change, seen] = ['ending', 'change', 'seen'].map((name) => model.at(name)) as [
    number,
    number,
    number,
  ]

  const withValues = (state: Possible, values: Values, name: string): Possible => {
    return { ...state, values, path: { name, before: state.path } }
  }

  function placed(values: Values, places: readonly (readonly [number, number])[]): Values {
    const next = [...values]
    for (const [place, value] of places) next[place] = value
    return next
  }

  function take(state: Possible, name: string): readonly Possible[] {
    const values = model.action(name).take(state.values)
    return values === null ? [] : [withValues(state, values, name)]
  }

  return {
    model,
    take,

    takeEnding(state, request, name) {
      const own = placed(state.values, [[ending, state.enders[request] ?? 0]])
      return take({ ...state, values: own }, name).map((next) => ({
        ...next,
        values: placed(next.values, [[ending, 0]]),
        enders: { ...next.enders, [request]: next.values[ending] ?? 0 },
      }))
    },

    takeChange(state, request, name) {
      const [place, generation] = state.changers[request] ?? [0, 0]
      const own = placed(state.values, [
        [change, place],
        [seen, generation],
      ])
      return take({ ...state, values: own }, name).map((next) => ({
        ...next,
        values: placed(next.values, [
          [change, 0],
          [seen, 0],
        ]),
        changers: {
          ...next.changers,
          [request]: [next.values[change] ?? 0, next.values[seen] ?? 0],
        },
      }))
    },

    value: ({ values }, variable) => values[model.at(variable)] ?? 0,

    set(state, given) {
      const places = Object.entries(given).map(([name, value]) => [model.at(name), value] as const)
      return { ...state, values: placed(state.values, places) }
    },
  }
}
