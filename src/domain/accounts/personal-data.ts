import { type Collections, removedBy } from '../../model/collections.js'
import type { Ticket } from '../../model/intents.js'
import type { PendingRegistration, ServiceCredential } from '../../model/user.js'
import type { Collection, Doc } from '../../ports/store.js'
import { newestFirst } from '../../stores/newest-first.js'
import { stripped } from '../intents/stripped-registration.js'

interface Owned extends Doc {
  readonly userId: string
}

/**
 * Removes everything that is kept of a user beside the user record, as the record of collections
 * says, and what was registered with the address, null where that is not known any more: a
 * registration or link left over must not make the account again. Each registration leaves an empty husk
 * until it expires (see `stripped`). Repeatable.
 */
export async function removePersonalData(
  collections: Collections,
  serviceCredentials: Collection<ServiceCredential>,
  { userId, email }: { readonly userId: string; readonly email: string | null },
): Promise<void> {
  await Promise.all([
    ...(email === null ? [] : removalsByAddress(collections, email)),
    ...removedBy('byUserId').map((member) => takeAll<Owned>(collections[member], { userId })),
    ...removedBy('byId').map((member) => takeOne(collections[member], userId)),
    takeAll(serviceCredentials, { accountId: userId }),
  ])
  for (const member of removedBy('last')) await takeAll<Owned>(collections[member], { userId })
}

function removalsByAddress(
  { pendingRegistrations, tickets }: Collections,
  email: string,
): readonly Promise<void>[] {
  const isLink = ({ purpose }: Ticket): boolean => purpose === 'register'
  return [strip(pendingRegistrations, email), takeAll(tickets, { email }, isLink)]
}

async function strip(collection: Collection<PendingRegistration>, email: string): Promise<void> {
  for await (const registration of newestFirst(collection, { email })) {
    const { id, keyHash } = registration
    await collection.update(id, { keyHash }, stripped(registration))
  }
}

function takeOne(collection: Collection<Doc>, id: string): Promise<unknown> {
  return collection.take(id)
}

async function takeAll<T extends Doc>(
  collection: Collection<T>,
  equal: Partial<T>,
  isOurs: (doc: T) => boolean = () => true,
): Promise<void> {
  for await (const doc of newestFirst(collection, equal)) {
    if (isOurs(doc)) await collection.take(doc.id)
  }
}
