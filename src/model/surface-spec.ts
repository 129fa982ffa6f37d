import type { CollectionSpec, Doc } from '../ports/store.js'

/** A collection that each surface has, but for its name, which the record of collections gives it. */
export interface SurfaceSpec<T extends Doc> extends Omit<CollectionSpec<T>, 'name'> {}
