import type { CollectionSpec, Doc } from '../ports/store.js'

/** The state of a module; the id is its name. Its environments hold the values. */
export interface Module extends Doc {
  /** The one environment whose values are loaded. */
  readonly activeEnvironment: string
  /** True from an activation until the module is registered by a process that starts later. */
  readonly needsRestart: boolean
  /**
   * Grows with every activation, also of the environment that is active already, and with every edit that makes an
   * activation judge again.
   */
  readonly activations: number
}

export const modulesSpec: CollectionSpec<Module> = {
  name: 'operator_modules',
  fields: {
    activeEnvironment: { kind: 'text' },
    needsRestart: { kind: 'boolean' },
    activations: { kind: 'integer' },
  },
  indexes: [],
  expires: 'never',
}
