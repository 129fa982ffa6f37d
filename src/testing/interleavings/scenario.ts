import type { Backend } from '../../ports/backend.js'
import type { Collection } from '../../ports/store.js'
import type { Sample } from '../shared/sample.js'
import type { Racer } from './play-schedule.js'

export interface ScenarioSetup extends Backend {
  /** A collection with `sliding` expiry that other schedules write to as well. */
  readonly samples: Collection<Sample>
}

/** Racers at the start of a schedule, and what must hold however they were interleaved. */
export interface Race {
  readonly racers: readonly Racer[]
  /** Given what each racer answered. */
  check(answers: readonly unknown[]): Promise<void>
}

export interface Scenario {
  readonly name: string
  readonly promise: string
  /** `own` is a name that no other schedule has. */
  arrange(setup: ScenarioSetup, own: string): Promise<Race>
}

export function racer(call: string, run: () => Promise<unknown>): Racer {
  return { call, run }
}

/** `count` racers that differ in their number only. */
export function racers(count: number, of: (at: number) => Racer): readonly Racer[] {
  return Array.from({ length: count }, (_, at) => of(at))
}
