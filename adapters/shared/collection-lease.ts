import type { Lease } from '../../src/ports/backend.js'
import type { Collection, CollectionSpec, Doc } from '../../src/ports/store.js'

/** The document of a lease, under its name. */
export interface LeaseDoc extends Doc {
  readonly owner: string | null
  readonly renewal: number
}

/** The collection of `collectionLease`, to prepare with the others. */
export const leaseSpec: CollectionSpec<LeaseDoc> = {
  name: 'postern_leases',
  fields: { owner: { kind: 'text', nullable: true }, renewal: { kind: 'integer' } },
  indexes: [],
  expires: 'never',
}

/** A lease is one document and one guarded write, so any collection can hold it. */
export function collectionLease(leases: Collection<LeaseDoc>): Lease {
  return {
    async read(name) {
      const found = await leases.get(name)
      return found && { owner: found.owner, renewal: found.renewal }
    },
    async replace(name, seen, { owner, renewal }) {
      if (seen === null) return leases.insert({ id: name, owner, renewal, expiresAt: null })
      const guard = { owner: seen.owner, renewal: seen.renewal }
      return (await leases.update(name, guard, { owner, renewal })) !== null
    },
  }
}
