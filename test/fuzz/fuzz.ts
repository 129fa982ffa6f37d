import { expect, inject, it } from 'vitest'
import { randomOf } from '../reliability/random-of.js'

/** A whole number from 0 up to, and without, `below`. */
export type Draw = (below: number) => number

export interface Parser<T> {
  /** What it takes, and what is true of all that it takes. */
  readonly name: string
  /** An input: a good one that was changed, mostly. */
  readonly input: (draw: Draw) => T
  /** Whether it takes this input. That what it takes is safe, `expect` says in here. */
  readonly takes: (input: T) => boolean | Promise<boolean>
}

/** Inputs for each parser: few on the fast shelf, and a million for a release. */
const given = process.env['FUZZ_RUNS']
const runs = Number(given ?? (inject('shelf') === 'fast' ? 5_000 : 20_000))
const seed = process.env['FUZZ_SEED'] ?? '1'
/** A million signatures take an hour. */
const timeout = given === undefined ? 90_000 : 4 * 60 * 60 * 1000

/**
 * A test of one parser, on inputs that the seed decides. Of these it has to take one in a hundred at least, since
 * refusing everything is always safe. An input that breaks its promise is named.
 */
export function fuzz<T>({ name, input, takes }: Parser<T>): void {
  async function takenAt(run: number, one: T): Promise<boolean> {
    try {
      return await takes(one)
    } catch (error) {
      // The assertion itself, since a planted mistake counts as noticed by one alone.
      if (error instanceof Error) {
        error.message = `run ${run} of seed ${seed}, ${shown(one)}: ${error.message}`
      }
      throw error
    }
  }

  it(
    `whatever is taken for ${name}, is safe`,
    async () => {
      const next = randomOf(`${seed} ${name}`)
      const draw = (below: number) => Math.floor(next() * below)
      let taken = 0
      for (let run = 0; run < runs; run += 1) if (await takenAt(run, input(draw))) taken += 1
      console.log(`${taken} of ${runs} were taken for ${name}`)
      expect(taken).toBeGreaterThan(runs / 100)
    },
    timeout,
  )
}

/** One of a list that is not empty. */
export function oneOf<T>(draw: Draw, list: readonly T[]): T {
  const one = list[draw(list.length)]
  if (one === undefined) throw new Error('there is nothing to draw from')
  return one
}

const shown = (input: unknown): string =>
  input instanceof Uint8Array ? Buffer.from(input).toString('base64') : JSON.stringify(input)
