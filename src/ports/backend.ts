import type { Counter } from './counter.js'
import type { Denylist } from './denylist.js'
import type { Lease } from './lease.js'
import type { Store } from './store.js'

/** The four ports that a database provides. Every shipped store adapter returns all four. */
export interface Backend {
  readonly store: Store
  readonly denylist: Denylist
  readonly lease: Lease
  readonly counter: Counter
}
