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
  /** The writes that no request waits for: what token each showed, and whether its epoch might refresh. */
  readonly lateWrites: Readonly<Record<string, readonly [shown: number, epoch: number]>>
  /** What the present request of each holder did last. */
  readonly last: readonly [string, string]
  readonly path: Path | null
}

/** Those that differ. */
export function distinct(states: Iterable<Possible>): readonly Possible[] {
  const known = new Map<string, Possible>()
  for (const state of states) {
    const { values, enders, changers, lateWrites, last } = state
    const byRequest = [enders, changers, lateWrites].map((one) => Object.entries(one).toSorted())
    const key = JSON.stringify([values, byRequest, last])
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
  /** The request of a holder goes on without waiting for its write. */
  stopWaiting(state: Possible, request: string, name: string): readonly Possible[]
  /** Its write ends. `writer` is the number of the holder whose request still runs, 3 for none. */
  takeLateWrite(
    state: Possible,
    late: { readonly request: string; readonly writer: number },
    name: string,
  ): readonly Possible[]
  value(state: Possible, variable: string): number
  set(state: Possible, values: Readonly<Record<string, number>>): Possible
}

export function stepsOf(model: CompiledModel): Steps {
  const at = (name: string): number => model.at(name)
  const [ending, change, seen] = [at('ending'), at('change'), at('seen')]
  const [writer, lateShown, lateEpoch] = [at('writer'), at('lateShown'), at('lateEpoch')]
  const noLateWrite = [writer, lateShown, lateEpoch].map((place) => [place, 0] as const)

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

    stopWaiting(state, request, name) {
      return take(state, name).map((next) => ({
        ...next,
        values: placed(next.values, noLateWrite),
        lateWrites: {
          ...next.lateWrites,
          [request]: [next.values[lateShown] ?? 0, next.values[lateEpoch] ?? 0],
        },
      }))
    },

    takeLateWrite(state, late, name) {
      const own = state.lateWrites[late.request]
      if (own === undefined) return []
      const values = placed(state.values, [
        [writer, late.writer],
        [lateShown, own[0]],
        [lateEpoch, own[1]],
      ])
      const { [late.request]: _, ...lateWrites } = state.lateWrites
      return take({ ...state, values, lateWrites }, name)
    },

    value: ({ values }, variable) => values[model.at(variable)] ?? 0,

    set(state, given) {
      const places = Object.entries(given).map(([name, value]) => [model.at(name), value] as const)
      return { ...state, values: placed(state.values, places) }
    },
  }
}
