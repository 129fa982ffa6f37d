/** What one slice of one contender measured, by the name of the quantity. */
export type Measured = Readonly<Record<string, number>>

/** One value a round for every contender and quantity. */
export interface Series {
  /** Empty for a contender or quantity that was not measured. */
  values(quantity: string, contender: string): readonly number[]
  /** `contender` over `reference`, both of the same round. */
  ratios(quantity: string, contender: string, reference: string): readonly number[]
  /** What `contender` costs more than `base`, each of the same round. */
  added(quantity: string, contender: string, base: string): readonly number[]
  /** What `contender` adds to `base`, over what `reference` adds to it in the same round. */
  addedRatios(
    quantity: string,
    contender: string,
    reference: string,
    base: string,
  ): readonly number[]
}

export interface Rounds {
  readonly rounds: number
  /** How often each contender is measured within a round. 1 if left out. */
  readonly slices?: number
  /** Quantities of which the greatest slice counts, such as rates. Of all others, the least. */
  readonly rates?: readonly string[]
  readonly contenders: readonly string[]
  measure(contender: string): Promise<Measured>
  progress?(text: string): void
}

/**
 * Measures each contender in turn, round after round. Other work on the machine disturbs some slices
 * and helps none, so the least disturbed slice stands for a round. Each round starts with another
 * contender, because the one after a heavy neighbour finds colder caches.
 */
export async function inRounds(plan: Rounds): Promise<Series> {
  const { contenders, slices = 1, rates = [] } = plan
  const rounds: Map<string, Measured>[] = []
  for (let round = 0; round < plan.rounds; round += 1) {
    plan.progress?.(`round ${round + 1} of ${plan.rounds}`)
    const best = new Map<string, Measured>()
    for (let slice = 0; slice < slices; slice += 1) {
      for (const contender of rotated(contenders, round)) {
        const before = best.get(contender)
        const measured = await plan.measure(contender)
        best.set(contender, before === undefined ? measured : better(before, measured, rates))
      }
    }
    rounds.push(best)
  }
  return seriesOf(rounds)
}

/** Rounds that are measured already. */
export function seriesOf(rounds: readonly ReadonlyMap<string, Measured>[]): Series {
  const perRound = (
    quantity: string,
    names: readonly string[],
    of: (...values: number[]) => number,
  ): readonly number[] =>
    rounds.flatMap((round) => {
      const values = names.map((name) => round.get(name)?.[quantity])
      const known = values.filter((value) => value !== undefined)
      return known.length === names.length ? [of(...known)] : []
    })
  return {
    values: (quantity, contender) => perRound(quantity, [contender], (value = 0) => value),
    ratios: (quantity, contender, reference) =>
      perRound(quantity, [contender, reference], (ours = 0, theirs = 0) => ours / theirs),
    added: (quantity, contender, base) =>
      perRound(quantity, [contender, base], (ours = 0, least = 0) => ours - least),
    addedRatios: (quantity, contender, reference, base) =>
      perRound(
        quantity,
        [contender, reference, base],
        (ours = 0, theirs = 0, least = 0) => (ours - least) / (theirs - least),
      ),
  }
}

function better(before: Measured, now: Measured, rates: readonly string[]): Measured {
  const merged: Record<string, number> = { ...before }
  for (const [quantity, value] of Object.entries(now)) {
    const old = before[quantity] ?? value
    merged[quantity] = rates.includes(quantity) ? Math.max(old, value) : Math.min(old, value)
  }
  return merged
}

function rotated<T>(list: readonly T[], by: number): readonly T[] {
  const from = list.length === 0 ? 0 : by % list.length
  return [...list.slice(from), ...list.slice(0, from)]
}
