import type { CollectionSpec, Doc } from '../ports/store.js'

/** The state of a module; the id is its name. Its environments hold the values. */
export interface Module extends Doc {
  /** The one environment whose values are loaded. */
  readonly activeEnvironment: string
  /** How many activations there were, also of the environment that was active already. */
  readonly activations: number
  /**
   * The processes that use the module, by an id (UUIDv7) that tells when they started: how many activations there were
   * when they began, and when they last said that they run.
   */
  readonly processes: Readonly<
    Record<string, { readonly activations: number; readonly seenAt: number }>
  >
  /** Every write is guarded by it, and adds one. */
  readonly revision: number
}

export const modulesSpec: CollectionSpec<Module> = {
  name: 'operator_modules',
  fields: {
    activeEnvironment: { kind: 'text' },
    activations: { kind: 'integer' },
    processes: { kind: 'json', default: {} },
    revision: { kind: 'integer', default: 0 },
  },
  indexes: [],
  expires: 'never',
}
