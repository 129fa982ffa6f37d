import type { Counter } from './counter.js'
import type { Denylist } from './denylist.js'
import type { Lease } from './lease.js'
import type { Logger } from './logger.js'
import type { Store } from './store.js'

/** The four ports that a database provides. Every shipped store adapter returns all four. */
export interface Backend {
  readonly store: Store
  readonly denylist: Denylist
  readonly lease: Lease
  readonly counter: Counter
  /**
   * Takes the host's logger, for what an operator should know of the database and no call can tell.
   * `createAuth` calls it once, before any other call.
   */
  useLogger?(logger: Logger): void
}
