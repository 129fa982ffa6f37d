import type { Collection, CollectionSpec, Doc, Store } from '../ports/store.js'

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

/**
 * One revision of an environment that a later one replaced. It never held a secret: for secret
 * fields it says that they were set, and no more.
 */
export interface ModuleRevision extends Doc, RevisionOrigin {
  readonly environmentId: string
  readonly revision: number
  /** Texts of the fields that are no secrets. */
  readonly values: Readonly<Record<string, string>>
  readonly secretsSet: readonly string[]
}

/** A revision never changes, but that it loses the values of record elements that were removed later. */
export type ModuleRevisions = Pick<
  Collection<ModuleRevision>,
  'insert' | 'find' | 'update' | 'take'
>

export const moduleRevisionsSpec: CollectionSpec<ModuleRevision> = {
  name: 'operator_module_revisions',
  fields: {
    environmentId: { kind: 'text' },
    revision: { kind: 'integer' },
    values: { kind: 'json' },
    secretsSet: { kind: 'json' },
    changed: { kind: 'json' },
    removed: { kind: 'json' },
    writtenAt: { kind: 'time' },
    writtenBy: { kind: 'text', nullable: true },
  },
  indexes: [{ on: ['environmentId'] }],
  expires: 'never',
}

/** Ids are ordered as text, so the number is padded to the digits of the largest safe integer. */
export function revisionId(module: string, environment: string, revision: number): string {
  return `${environmentId(module, environment)}/${String(revision).padStart(16, '0')}`
}

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
