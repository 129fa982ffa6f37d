import type { Backend } from '../ports/backend.js'

/** One promise of a port. `run` rejects, saying what was broken, when it is not kept. */
export interface ConformanceCase {
  readonly name: string
  run(): Promise<void>
}

/**
 * Gives a backend to run one case on. It need not be empty: a case makes collections, ids and keys
 * of its own, under names that no other run has used.
 */
export type MakeBackend = () => Promise<Backend>

/** Cases that all start from the same set-up. */
export type Scripts<Setup> = Readonly<Record<string, (setup: Setup) => Promise<void>>>

export function casesOf<Setup>(
  scripts: Scripts<Setup>,
  setUp: () => Promise<Setup>,
): readonly ConformanceCase[] {
  return Object.entries(scripts).map(([name, script]) => {
    return { name, run: async () => script(await setUp()) }
  })
}

/** Letters and digits that no other case, run or process has. */
export function uniqueName(): string {
  return crypto.randomUUID().replaceAll('-', '').slice(0, 20)
}

/** What `count` calls started together give, in the order they were started. */
export function race<R>(count: number, call: (racer: number) => Promise<R>): Promise<R[]> {
  return Promise.all(Array.from({ length: count }, (_, racer) => call(racer)))
}

/** Races are repeated, since an adapter that is wrong may win one by luck. */
export async function rounds(play: (round: number) => Promise<void>): Promise<void> {
  for (let round = 0; round < 5; round++) await play(round)
}
