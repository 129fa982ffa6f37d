import type { Backend } from '../../src/ports/backend.js'
import type { Clock, PasswordHasher } from '../../src/ports/host.js'
import type { Profile } from './history.js'

/** A mistake below the library, by which a promise of it is broken once the accounts are there. */
export interface Plant {
  readonly around?: (backend: Backend) => Backend
  readonly clock?: (clock: Clock) => Clock
  readonly hasher?: PasswordHasher
  /** What does not depend on the seed, so that the mistake has something to show itself by. */
  readonly profile?: Partial<Profile>
  /** Those who take part, and no one else. */
  readonly cast?: readonly string[]
}

/** Is `wrong` from then on, with the same state below. */
function switched<T extends object>(right: T, wrong: T, isOn: () => boolean): T {
  return new Proxy(right, { get: (_, key) => Reflect.get(isOn() ? wrong : right, key) })
}

/** A backend that keeps its promises until the mistake is made. */
export function plantedBackend(right: Backend, plant: Plant, isOn: () => boolean): Backend {
  const wrong = plant.around?.(right)
  if (wrong === undefined) return right
  return {
    ...right,
    denylist: switched(right.denylist, wrong.denylist, isOn),
    counter: switched(right.counter, wrong.counter, isOn),
    store: {
      ...right.store,
      collection: (spec) =>
        switched(right.store.collection(spec), wrong.store.collection(spec), isOn),
    },
  }
}

export function plantedClock(right: Clock, { clock }: Plant, isOn: () => boolean): Clock {
  return clock === undefined ? right : switched(right, clock(right), isOn)
}

export function plantedHasher(
  right: PasswordHasher,
  { hasher }: Plant,
  isOn: () => boolean,
): PasswordHasher {
  return hasher === undefined ? right : switched(right, hasher, isOn)
}
