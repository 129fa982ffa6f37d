import type { Operation, Thing } from '../history.js'
import type { Person, World } from '../world.js'

/** How somebody behaves. */
export interface Actor {
  /** What comes next; null for nothing. It draws from the world's stream, and changes nothing. */
  choose(world: World, who: Person): Operation | 'steal' | null
  /** Of a thief: takes what another holds. */
  steal?(world: World, who: Person, pick: number): void
  /** Of a thief: which stolen thing an operation uses. */
  readonly stolen?: Partial<Readonly<Record<Operation, Thing>>>
  /** How often it is looked for, where others are looked for always. */
  readonly share?: number
}

/** One of these by `pick`; null of none. */
export function picked<T>(from: readonly T[], pick: number): T | null {
  return from.length === 0 ? null : (from[pick % from.length] ?? null)
}
