import { type Collections, removedBy } from '../../model/collections.js'
import type { ServiceCredential } from '../../model/service-credential.js'
import type { Collection, Doc } from '../../ports/store.js'
import { newestFirst } from '../../stores/newest-first.js'

interface Owned extends Doc {
  readonly userId: string
}

/**
 * Removes everything that is kept of a user beside the user record, as the record of collections
 * says. Repeatable.
 */
export async function removePersonalData(
  collections: Collections,
  serviceCredentials: Collection<ServiceCredential>,
  userId: string,
): Promise<void> {
  await Promise.all([
    ...removedBy('byUserId').map((member) => takeAll<Owned>(collections[member], { userId })),
    ...removedBy('byId').map((member) => takeOne(collections[member], userId)),
    takeAll(serviceCredentials, { accountId: userId }),
  ])
  for (const member of removedBy('last')) await takeAll<Owned>(collections[member], { userId })
}

function takeOne(collection: Collection<Doc>, id: string): Promise<unknown> {
  return collection.take(id)
}

async function takeAll<T extends Doc>(collection: Collection<T>, equal: Partial<T>): Promise<void> {
  for await (const { id } of newestFirst(collection, equal)) await collection.take(id)
}
