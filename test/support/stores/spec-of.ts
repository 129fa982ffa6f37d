import type { CollectionSpec, Doc, SurfaceSpec } from '../../../src/ports/store.js'
import type { Surface } from '../../../src/ports/surface.js'

/** A collection of a surface as a store knows it, made of its entry in the record of collections. */
export function specOf<T extends Doc>(
  { name, spec }: { readonly name: string; readonly spec: SurfaceSpec<T> },
  surface: Surface,
): CollectionSpec<T> {
  return { ...spec, name: `${surface}_${name}` }
}
