import type { BackgroundTasks } from '../../concurrency/background-tasks.js'
import type { ModuleCollections } from '../../model/module-collections.js'
import type { AuthEvent } from '../../ports/auth-event.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { Random } from '../../ports/random.js'
import type { RegisteredModule } from './registered-module.js'

/** What the parts of the configuration store share. Each takes the part it needs. */
export interface ConfigDeps {
  readonly collections: ModuleCollections
  /** By name; fixed at construction. */
  readonly modules: ReadonlyMap<string, RegisteredModule>
  readonly clock: Clock
  readonly random: Random
  readonly background: BackgroundTasks
  readonly emit: (event: AuthEvent) => void
  readonly logger: Logger
}
