import type { Counter } from './counter.js'
import type { Denylist } from './denylist.js'
import type { Lease } from './lease.js'
import type { Store } from './store.js'

/** Everything one database gives the library. Every shipped adapter returns all four. */
export interface Backend {
  readonly store: Store
  readonly denylist: Denylist
  readonly lease: Lease
  readonly counter: Counter
}
