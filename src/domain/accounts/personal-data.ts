import type { Collections } from '../../model/collections.js'
import type { ServiceCredential } from '../../model/service-credential.js'
import type { Collection, Doc } from '../../ports/store.js'
import { newestFirst } from '../../stores/newest-first.js'

type Owned = Omit<
  Collections,
  'users' | 'auditRecords' | 'webhookDeliveries' | 'accountDeletions' | 'roles'
>

/**
 * Removes everything that is kept of a user beside the user record. Audit records stay for as long as
 * they are kept of anybody: they name an id that then leads nowhere, and no name or address.
 * Repeatable.
 */
export async function removePersonalData(
  of: Owned,
  serviceCredentials: Collection<ServiceCredential>,
  userId: string,
): Promise<void> {
  // The compiler's word that a collection added later is not forgotten.
  const removals: Readonly<Record<Exclude<keyof Owned, 'sessions'>, () => Promise<unknown>>> = {
    families: () => takeAll(of.families, { userId }),
    tickets: () => takeAll(of.tickets, { userId }),
    loginTickets: () => takeAll(of.loginTickets, { userId }),
    stepUpProofs: () => takeAll(of.stepUpProofs, { userId }),
    trustedDevices: () => takeAll(of.trustedDevices, { userId }),
    oauthIdentities: () => takeAll(of.oauthIdentities, { userId }),
    oauthFlows: () => takeAll(of.oauthFlows, { userId }),
    oauthCodes: () => takeAll(of.oauthCodes, { userId }),
    passkeys: () => takeAll(of.passkeys, { userId }),
    passkeyChallenges: () => takeAll(of.passkeyChallenges, { userId }),
    totpFactors: () => of.totpFactors.take(userId),
    backupCodes: () => of.backupCodes.take(userId),
    passwordHistories: () => of.passwordHistories.take(userId),
    roleBindings: () => takeAll(of.roleBindings, { userId }),
  }
  await Promise.all([
    ...Object.values(removals).map((remove) => remove()),
    takeAll(serviceCredentials, { accountId: userId }),
  ])
  // After their families: a login cut short leaves such a document as well, and never the reverse.
  await takeAll(of.sessions, { userId })
}

async function takeAll<T extends Doc>(collection: Collection<T>, equal: Partial<T>): Promise<void> {
  for await (const { id } of newestFirst(collection, equal)) await collection.take(id)
}
