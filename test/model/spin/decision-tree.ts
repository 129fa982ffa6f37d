/** An input of a decision: the expression that tells its value, and the values to try. */
export interface Input {
  readonly expression: string
  readonly values: readonly number[]
}

/**
 * A pure function as one expression: the function is called for every combination of its inputs, and
 * what makes no difference is left out. `decide` gets the values in the order of `inputs`.
 */
export function decisionTree(
  inputs: readonly Input[],
  decide: (values: readonly number[]) => string,
): string {
  const grow = (chosen: readonly number[]): string => {
    const input = inputs[chosen.length]
    if (input === undefined) return decide(chosen)
    const branches = input.values.map((value) => ({ value, tree: grow([...chosen, value]) }))
    return branches.reduceRight((rest, { value, tree }) =>
      tree === rest.tree
        ? rest
        : { value, tree: `(${input.expression} == ${value} -> ${tree} : ${rest.tree})` },
    ).tree
  }
  return grow([])
}
