import { compileFunction } from 'node:vm'
import type { Action, Model } from '../spin/model.js'

/** The values of a model's variables, by the place of each. */
export type Values = readonly number[]

/** A model as a program follows it: the same table that Spin searches. */
export interface CompiledModel {
  readonly initial: Values
  /** Throws for a name that the model does not have. */
  at(variable: string): number
  read(expression: string): (values: Values) => number
  action(name: string): CompiledAction
}

export interface CompiledAction {
  readonly name: string
  readonly by: string
  /** The values after it; null where its guard does not hold, or one of its claims. */
  take(values: Values): Values | null
}

/** `bounds` as those of a scenario. The first of each variable's values is the one that it begins with. */
export function compiledModel(
  { variables, definitions, actions }: Omit<Model, 'plants'>,
  bounds: Readonly<Record<string, number>> = {},
): CompiledModel {
  const names = Object.keys(variables)
  const places = new Map(names.map((name, place) => [name, place]))
  const meanings = new Map<string, string>()
  for (const [name, body] of Object.entries({ ...definitions, ...bounds })) {
    meanings.set(name, `(${inScript(String(body))})`)
  }

  /** Promela writes a choice with an arrow, and has no names for values by their place. */
  function inScript(expression: string): string {
    return expression.replaceAll('->', '?').replaceAll(/[A-Za-z_]\w*/g, (name) => {
      const place = places.get(name)
      const meaning = place === undefined ? meanings.get(name) : `v[${place}]`
      if (meaning === undefined) throw new Error(`the model has no "${name}"`)
      return meaning
    })
  }

  const compiled = new Map(actions.map((action) => [action.name, compiledAction(action)]))

  function compiledAction({ name, by, when, effects, claims = [] }: Action): CompiledAction {
    const holds = [when, ...claims.map((claim) => claim.holds)].map((one) => `(${inScript(one)})`)
    const set = effects.map((effect) => {
      const [target = '', ...value] = effect.split(' = ')
      return `${inScript(target)} = Number(${inScript(value.join(' = '))})`
    })
    const body = `if (!(${holds.join(' && ')})) return null; v = [...v]; ${set.join('; ')}; return v`
    const run = compileFunction(body, ['v'])
    return { name, by, take: (values) => run(values) }
  }

  function at(variable: string): number {
    const place = places.get(variable)
    if (place === undefined) throw new Error(`the model has no "${variable}"`)
    return place
  }

  return {
    initial: Object.values(variables).map(({ initially: [first] }) => first),
    at,
    read(expression) {
      const run = compileFunction(`return Number(${inScript(expression)})`, ['v'])
      return (values) => run(values)
    },
    action(name) {
      const found = compiled.get(name)
      if (found === undefined) throw new Error(`the model has no action "${name}"`)
      return found
    },
  }
}
