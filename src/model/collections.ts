import type {
  AnyCollectionSpec,
  Collection,
  CollectionSpec,
  Doc,
  RemovedDocuments,
  Store,
  SurfaceSpec,
} from '../ports/store.js'
import type { Surface } from '../ports/surface.js'
import { moduleEnvironmentsSpec, moduleRevisionsSpec, modulesSpec } from './configuration.js'
import { type AuditRecords, auditRecordsSpec, webhookDeliveriesSpec } from './event-records.js'
import {
  backupCodesSpec,
  type Passkey,
  passkeysSpec,
  stepUpProofsSpec,
  totpFactorsSpec,
  trustedDevicesSpec,
} from './factors.js'
import { challengesSpec, intentsSpec } from './intents.js'
import { roleBindingsSpec, rolesSpec } from './permissions.js'
import { knownLoginsSpec, refreshFamiliesSpec, sessionsSpec } from './sessions.js'
import {
  accountDeletionsSpec,
  oauthIdentitiesSpec,
  passwordHistoriesSpec,
  pendingRegistrationsSpec,
  serviceCredentialsSpec,
  usersSpec,
} from './user.js'

/** All that is said of a collection beside its fields. */
export interface CollectionEntry {
  /** The name of its tables, without prefix and surface. */
  readonly name: string
  readonly spec: Omit<AnyCollectionSpec, 'name'>
  /**
   * What removes the expired:
   * - `tokens`: the cycle of the refresh tokens
   * - `hygiene`: the hourly round
   * - `never`: nothing, since none expire, or since their time is that of work that falls due
   */
  readonly sweep: 'tokens' | 'hygiene' | 'never'
  /**
   * What an account's deletion removes:
   * - `byUserId`: the documents whose `userId` is the account's id
   * - `byId`: the one document whose id is the account's
   * - `last`: as `byUserId`, after all the others
   * - `account`: the account itself and the note of its deletion, with which that ends
   * - `kept`: nothing, since no document is the account's
   */
  readonly removal: 'byUserId' | 'byId' | 'last' | 'account' | 'kept'
}

/**
 * The collections that each surface has. This record drives their names, `Store.prepare`, the sweep
 * and what goes with an account; the sweep and the removal keep its order.
 */
export const surfaceCollections = {
  users: { name: 'users', spec: usersSpec, sweep: 'never', removal: 'account' },
  // After their families: a login cut short leaves such a document as well, and never the reverse.
  sessions: { name: 'sessions', spec: sessionsSpec, sweep: 'hygiene', removal: 'last' },
  families: {
    name: 'refresh_tokens',
    spec: refreshFamiliesSpec,
    sweep: 'tokens',
    removal: 'byUserId',
  },
  knownLogins: {
    name: 'known_logins',
    spec: knownLoginsSpec,
    sweep: 'hygiene',
    removal: 'byUserId',
  },
  // By address too, as the links that make accounts of them: `removePersonalData` names both.
  pendingRegistrations: {
    name: 'registrations',
    spec: pendingRegistrationsSpec,
    sweep: 'hygiene',
    removal: 'byId',
  },
  intents: { name: 'intents', spec: intentsSpec, sweep: 'hygiene', removal: 'byUserId' },
  // They outlive the account: they hold its id, which then leads nowhere, and no name or address.
  auditRecords: {
    name: 'audit_records',
    spec: auditRecordsSpec,
    sweep: 'hygiene',
    removal: 'kept',
  },
  challenges: {
    name: 'challenges',
    spec: challengesSpec,
    sweep: 'hygiene',
    removal: 'byUserId',
  },
  stepUpProofs: {
    name: 'step_up_proofs',
    spec: stepUpProofsSpec,
    sweep: 'hygiene',
    removal: 'byUserId',
  },
  trustedDevices: {
    name: 'trusted_devices',
    spec: trustedDevicesSpec,
    sweep: 'hygiene',
    removal: 'byUserId',
  },
  oauthIdentities: {
    name: 'oauth_identities',
    spec: oauthIdentitiesSpec,
    sweep: 'never',
    removal: 'byUserId',
  },
  passkeys: { name: 'passkeys', spec: passkeysSpec, sweep: 'never', removal: 'byUserId' },
  totpFactors: { name: 'totp_factors', spec: totpFactorsSpec, sweep: 'never', removal: 'byId' },
  backupCodes: { name: 'backup_codes', spec: backupCodesSpec, sweep: 'never', removal: 'byId' },
  passwordHistories: {
    name: 'password_histories',
    spec: passwordHistoriesSpec,
    sweep: 'never',
    removal: 'byId',
  },
  roleBindings: {
    name: 'role_bindings',
    spec: roleBindingsSpec,
    sweep: 'never',
    removal: 'byUserId',
  },
  roles: { name: 'roles', spec: rolesSpec, sweep: 'never', removal: 'kept' },
  webhookDeliveries: {
    name: 'webhook_deliveries',
    spec: webhookDeliveriesSpec,
    sweep: 'never',
    removal: 'kept',
  },
  accountDeletions: {
    name: 'account_deletions',
    spec: accountDeletionsSpec,
    sweep: 'never',
    removal: 'account',
  },
} as const satisfies Readonly<Record<string, CollectionEntry>>

/** The collections of which there is one, by what their tables are called without a prefix. */
const sharedCollections = {
  modules: modulesSpec,
  module_environments: moduleEnvironmentsSpec,
  module_revisions: moduleRevisionsSpec,
  // The one of these that holds an account's documents: `removePersonalData` names it.
  service_account_credentials: serviceCredentialsSpec,
} as const

type Entries = typeof surfaceCollections
type Member = keyof Entries

type Opened = {
  readonly [M in Member]: Entries[M]['spec'] extends SurfaceSpec<infer T> ? Collection<T> : never
}

/** The collections of one surface as they are stored, physically apart from the other's. */
export interface StoredCollections extends Omit<Opened, 'auditRecords'> {
  readonly auditRecords: AuditRecords
}

/** The collections of one surface as services use them. */
export interface Collections extends Omit<StoredCollections, 'passkeys'> {
  /** By the ids of the credentials, however long these are. */
  readonly passkeys: Collection<Passkey>
}

type Sweep = CollectionEntry['sweep']
type Removal = CollectionEntry['removal']

/** The members of `Collections` that are swept, or removed with an account, in this way. */
type SweptBy<S extends Sweep> = { [M in Member]: Entries[M]['sweep'] extends S ? M : never }[Member]
type RemovedBy<R extends Removal> = {
  [M in Member]: Entries[M]['removal'] extends R ? M : never
}[Member]

const members = Object.keys(surfaceCollections) as readonly Member[]

export function sweptBy<S extends Sweep>(sweep: S): readonly SweptBy<S>[] {
  return members.filter((member): member is SweptBy<S> => {
    return surfaceCollections[member].sweep === sweep
  })
}

export function removedBy<R extends Removal>(removal: R): readonly RemovedBy<R>[] {
  return members.filter((member): member is RemovedBy<R> => {
    return surfaceCollections[member].removal === removal
  })
}

/** The name of a collection, without prefix and surface. */
export type CollectionName = Entries[Member]['name'] | keyof typeof sharedCollections

/** The names of the collections, without prefix and surface. */
export const collectionNames = [
  ...members.map((member) => surfaceCollections[member].name),
  ...Object.keys(sharedCollections),
] as readonly CollectionName[]

/** What a store is told of each collection of a surface. */
function specsOf(
  surface: Surface,
  prefix: string,
): readonly (readonly [Member, AnyCollectionSpec])[] {
  return members.map((member) => {
    const { name, spec } = surfaceCollections[member]
    return [member, { ...spec, name: `${prefix}${surface}_${name}` }]
  })
}

export function collectionsOf(store: Store, surface: Surface, prefix: string): StoredCollections {
  const opened = specsOf(surface, prefix).map(([member, spec]) => {
    return [member, store.collection(spec as CollectionSpec<Doc>)]
  })
  // Every member is there, opened by the spec its type is made of.
  return Object.fromEntries(opened) as unknown as StoredCollections
}

/** What goes with an account, the account itself included. */
export function removalsOf(
  surface: Surface,
  prefix: string,
  userId: string,
): readonly RemovedDocuments[] {
  return specsOf(surface, prefix).flatMap(([member, { name }]) => {
    const { removal } = surfaceCollections[member]
    if (removal === 'kept' || member === 'accountDeletions') return []
    const field = removal === 'byId' || removal === 'account' ? 'id' : 'userId'
    return [{ collection: name, field, value: userId }]
  })
}

/**
 * Every collection of these surfaces, and of neither, for `Store.prepare`. Machines sign in on the operator surface, so
 * a host without it has no credentials of theirs.
 */
export function allCollectionSpecs(
  prefix: string,
  surfaces: readonly Surface[] = ['operator', 'client'],
): readonly AnyCollectionSpec[] {
  const ofSurfaces = surfaces.flatMap((surface) => specsOf(surface, prefix))
  const hasMachines = surfaces.includes('operator')
  const shared = Object.values<AnyCollectionSpec>(sharedCollections).filter(
    (spec) => hasMachines || spec !== serviceCredentialsSpec,
  )
  return [
    ...ofSurfaces.map(([, spec]) => spec),
    ...shared.map((spec) => ({ ...spec, name: prefix + spec.name })),
  ]
}
