import type { Collection, CollectionSpec, Doc } from '../ports/store.js'
import { environmentId, type RevisionOrigin } from './module-environment.js'

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

/** Nothing updates a revision. */
export type ModuleRevisions = Pick<Collection<ModuleRevision>, 'insert' | 'find' | 'take'>

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
