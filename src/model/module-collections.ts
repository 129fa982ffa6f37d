import type { Collection, Store } from '../ports/store.js'
import { type Module, modulesSpec } from './config-module.js'
import { type ModuleEnvironment, moduleEnvironmentsSpec } from './module-environment.js'
import { type ModuleRevisions, moduleRevisionsSpec } from './module-revision.js'

/** The configuration store's collections. There is one of each, on the operator surface. */
export interface ModuleCollections {
  readonly modules: Collection<Module>
  readonly environments: Collection<ModuleEnvironment>
  readonly revisions: ModuleRevisions
}

export function moduleCollectionsOf(store: Store, prefix: string): ModuleCollections {
  return {
    modules: store.collection({ ...modulesSpec, name: prefix + modulesSpec.name }),
    environments: store.collection({
      ...moduleEnvironmentsSpec,
      name: prefix + moduleEnvironmentsSpec.name,
    }),
    revisions: store.collection({
      ...moduleRevisionsSpec,
      name: prefix + moduleRevisionsSpec.name,
    }),
  }
}
