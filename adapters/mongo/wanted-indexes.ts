import type { IndexDescription } from 'mongodb'
import type { Index, Shape } from '../../src/checks/shape.js'

export interface WantedIndex extends IndexDescription {
  readonly name: string
  readonly key: Readonly<Record<string, 1>>
  readonly unique?: true
}

/**
 * What a collection's calls need. Those that pages are read by end in `_id`, in which order pages
 * are. None expires documents: only the caller's clock decides what has expired.
 */
export function wantedIndexes({ indexes, expires }: Shape): readonly WantedIndex[] {
  const wanted = indexes.map(wantedIndex)
  const expiry: WantedIndex = { name: 'expiresAt_idx', key: keyOf(['expiresAt', '_id']) }
  const isNeeded = expires !== 'never' && wanted.every(({ name }) => name !== expiry.name)
  return isNeeded ? [...wanted, expiry] : wanted
}

export function wantedIndex({ on, unique }: Index): WantedIndex {
  const fields = on.join('_')
  return unique
    ? { name: `${fields}_key`, key: keyOf(on), unique }
    : { name: `${fields}_idx`, key: keyOf([...on, '_id']) }
}

function keyOf(fields: readonly string[]): WantedIndex['key'] {
  return Object.fromEntries(fields.map((field) => [field, 1]))
}
