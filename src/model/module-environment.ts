import type { CollectionSpec, Doc } from '../ports/store.js'

/** What is known of how a revision came about. */
export interface RevisionOrigin {
  /** The keys this revision set, secrets among them by name. */
  readonly changed: readonly string[]
  /** The keys it destroyed. */
  readonly removed: readonly string[]
  /** Epoch milliseconds. */
  readonly writtenAt: number
  /** Whose request it was; null for the library itself. */
  readonly writtenBy: string | null
}

/**
 * One named environment of a module. Every write is a compare-and-set on `revision` and raises it
 * by one.
 */
export interface ModuleEnvironment extends Doc, RevisionOrigin {
  readonly revision: number
  /** Texts by key; those of secret fields are encrypted. */
  readonly values: Readonly<Record<string, string>>
  /** Random: lets a writer see that it won although the store's answer was lost. */
  readonly writeId: string
  /**
   * Set while an activation that judged these values is about to be written: an edit that comes first makes that
   * activation judge again. A mark that a crash left behind does no more than that.
   */
  readonly activation: string | null
}

export const moduleEnvironmentsSpec: CollectionSpec<ModuleEnvironment> = {
  name: 'operator_module_environments',
  fields: {
    revision: { kind: 'integer' },
    values: { kind: 'json' },
    changed: { kind: 'json' },
    removed: { kind: 'json' },
    writtenAt: { kind: 'time' },
    writtenBy: { kind: 'text', nullable: true },
    writeId: { kind: 'text' },
    activation: { kind: 'text', nullable: true },
  },
  indexes: [],
  expires: 'never',
}

/** Module and environment names hold no slash. */
export function environmentId(module: string, environment: string): string {
  return `${module}/${environment}`
}
