import type { BackgroundTasks } from '../../concurrency/background-tasks.js'
import type { ModuleCollections } from '../../model/configuration.js'
import type { Emit } from '../../ports/events.js'
import type { Clock, Logger, Random } from '../../ports/host.js'
import type { RegisteredModule } from './registered-module.js'

/** What the parts of the configuration store share. Each takes the part it needs. */
export interface ConfigDeps {
  readonly collections: ModuleCollections
  /** By name; fixed at construction. */
  readonly modules: ReadonlyMap<string, RegisteredModule>
  readonly clock: Clock
  readonly random: Random
  readonly background: BackgroundTasks
  /** Emits events of the operator surface, which administers modules. */
  readonly emit: Emit
  readonly logger: Logger
}
