import { hash } from 'node:crypto'

/** Reproducible numbers from 0 up to 1, for tests: the digests of a seed and a counter. */
export function randomOf(seed: number | string): () => number {
  let drawn = 0
  return () => {
    drawn += 1
    return Number.parseInt(hash('sha256', `${seed}/${drawn}`).slice(0, 12), 16) / 16 ** 12
  }
}
