import type { CollectionSpec, Doc, SurfaceSpec } from '../ports/store.js'

/** A tenant that a user belongs to. Tokens repeat it for the host; the library decides nothing by it. */
export interface Membership {
  readonly tenantId: string
}

export interface User extends Doc {
  /** Empty for a person, `service` for a machine. Set at creation, never updated. */
  readonly kind: string
  /** Canonical address: the one that is unique, compared and mailed to. */
  readonly email: string
  /** The address as typed, for display only. */
  readonly emailAsTyped: string
  readonly emailVerifiedAt: number | null
  readonly name: string
  readonly systemRole: string
  readonly enabled: boolean
  /** Made by the registration form, not by the host. */
  readonly selfRegistered: boolean
  /** PHC string; null for an account without a password. */
  readonly passwordHash: string | null
  readonly passwordChangedAt: number | null
  readonly termsVersion: string | null
  readonly memberships: readonly Membership[]
  /** Grows with every change of `memberships`, which is written only if nobody else changed them meanwhile. */
  readonly membershipsRevision: number
  /** Grows when all sessions are ended; a refresh family of an older epoch is refused. */
  readonly sessionEpoch: number
  /** The one session that the last "end all others" spared; null when it spared none. */
  readonly keptSessionId: string | null
  /** The login that waits whose factor ended all sessions, in place of a session; null otherwise. */
  readonly keptIntentId: string | null
  /**
   * Grows with every change of password, address or standing, except a change of password by a session while the
   * mailbox is not proved. Voids mailed tokens.
   */
  readonly credentialEpoch: number
  /**
   * Grows with every change of password, factors or standing, and when all sessions are ended. Voids step-up proofs and
   * trusted devices.
   */
  readonly deviceEpoch: number
  /**
   * Grows with every change of password or factors, and always together with `deviceEpoch`. A new hash of the same
   * password and a used backup code are none. Older logins give a browser or app no budget of guesses of its own.
   */
  readonly secretsEpoch: number
  /** The session that made the last such change; null of one by a link, a login or the host. */
  readonly secretsChangedIn: string | null
  readonly createdAt: number
  readonly updatedAt: number
  readonly lastLoginAt: number | null
  /** When its deletion began; such an account stays disabled, and nothing changes it any more. */
  readonly deletingAt: number | null
  /** What was issued before this time was ended with that of all users; null when that never was. */
  readonly endedBefore: number | null
  /**
   * The intent that had the last effect on the account, written together with it: the same request
   * again sees that its effect stands. Null before the first.
   */
  readonly lastIntentId: string | null
  /** The newest enrolment of a factor, once the factor is stored and stands; null until then. */
  readonly settledEnrollmentId: string | null
  /**
   * Of an imported account that waits for its factors and identities; null of every other. Until they are there it is
   * disabled, and the host cannot enable it: a crash leaves an account that no caller can use, and the next import of
   * the row completes it. `disabled` once the host disabled it: the import that completes it leaves it so.
   */
  readonly importState: 'unfinished' | 'disabled' | null
  /** For lists, as are the next two: `addressStartOf` the address. Empty in records without the field. */
  readonly addressStart: string
  /** `soleTenantOf` the memberships. */
  readonly soleTenant: string
  /** `weekOf` the creation. 0 in records without the field. */
  readonly createdWeek: number
}

export const addressStartLength = 3

/** What one index entry finds addresses by that begin alike. Never half a character: it may be asked for by any text. */
export const addressStartOf = (email: string): string =>
  [...email].slice(0, addressStartLength).join('')

/** Where it is not known which tenant it is, or there are several. A tenant of this name costs its list some reads. */
export const severalTenants = '*'

/** The tenant, if it is the only one: no index has an entry for each of a list. Empty without a tenant. */
export function soleTenantOf(memberships: readonly Membership[]): string {
  const [sole, ...others] = new Set(memberships.map(({ tenantId }) => tenantId))
  return others.length > 0 ? severalTenants : (sole ?? '')
}

/** The week since 1970. */
export const weekOf = (time: number): number => Math.floor(time / (7 * 24 * 60 * 60 * 1000))

export const madeAt = (time: number) => ({ createdAt: time, createdWeek: weekOf(time) })

/** A record without the field is a person: `kind` was added later. */
export function isHuman({ kind }: { readonly kind?: string | null }): boolean {
  return (kind ?? '') === ''
}

export const usersSpec: SurfaceSpec<User> = {
  fields: {
    kind: { kind: 'text', default: '' },
    email: { kind: 'text' },
    emailAsTyped: { kind: 'text' },
    emailVerifiedAt: { kind: 'time', nullable: true },
    name: { kind: 'text' },
    systemRole: { kind: 'text' },
    enabled: { kind: 'boolean' },
    selfRegistered: { kind: 'boolean', default: false },
    passwordHash: { kind: 'text', nullable: true },
    passwordChangedAt: { kind: 'time', nullable: true },
    termsVersion: { kind: 'text', nullable: true },
    memberships: { kind: 'json', default: [] },
    membershipsRevision: { kind: 'integer', default: 0 },
    sessionEpoch: { kind: 'integer', default: 0 },
    keptSessionId: { kind: 'text', nullable: true },
    keptIntentId: { kind: 'text', nullable: true },
    credentialEpoch: { kind: 'integer', default: 0 },
    deviceEpoch: { kind: 'integer', default: 0 },
    secretsEpoch: { kind: 'integer', default: 0 },
    secretsChangedIn: { kind: 'text', nullable: true },
    createdAt: { kind: 'time' },
    updatedAt: { kind: 'time' },
    lastLoginAt: { kind: 'time', nullable: true },
    deletingAt: { kind: 'time', nullable: true },
    endedBefore: { kind: 'time', nullable: true },
    lastIntentId: { kind: 'text', nullable: true },
    settledEnrollmentId: { kind: 'text', nullable: true },
    importState: { kind: 'text', nullable: true },
    addressStart: { kind: 'text', default: '' },
    soleTenant: { kind: 'text', default: severalTenants },
    createdWeek: { kind: 'integer', default: 0 },
  },
  indexes: [
    { on: ['email'], unique: true },
    { on: ['kind'] },
    { on: ['kind', 'enabled'] },
    { on: ['kind', 'addressStart'] },
    { on: ['kind', 'soleTenant'] },
    { on: ['kind', 'createdWeek'] },
  ],
  expires: 'never',
}

/** What tells one new account from another; the rest is as with every account that begins. */
type Given = Pick<User, 'id' | 'email' | 'emailAsTyped' | 'name'> &
  Partial<
    Pick<
      User,
      | 'kind'
      | 'emailVerifiedAt'
      | 'systemRole'
      | 'enabled'
      | 'selfRegistered'
      | 'passwordHash'
      | 'passwordChangedAt'
      | 'termsVersion'
      | 'memberships'
      | 'lastIntentId'
      | 'importState'
    >
  >

/** The record of an account made at `now`. Unless said otherwise: an enabled person without rights. */
export function newUser(now: number, given: Given): User {
  return {
    expiresAt: null,
    kind: '',
    emailVerifiedAt: null,
    systemRole: 'guest',
    enabled: true,
    selfRegistered: false,
    passwordHash: null,
    passwordChangedAt: null,
    termsVersion: null,
    memberships: [],
    membershipsRevision: 0,
    sessionEpoch: 0,
    keptSessionId: null,
    keptIntentId: null,
    credentialEpoch: 0,
    deviceEpoch: 0,
    secretsEpoch: 0,
    secretsChangedIn: null,
    updatedAt: now,
    lastLoginAt: null,
    deletingAt: null,
    endedBefore: null,
    lastIntentId: null,
    settledEnrollmentId: null,
    importState: null,
    addressStart: addressStartOf(given.email),
    soleTenant: soleTenantOf(given.memberships ?? []),
    ...madeAt(now),
    ...given,
  }
}

/** A user's earlier password hashes, newest first; the id is the user id. Apart from the user
 * record because that one is read on every guarded request. */
export interface PasswordHistory extends Doc {
  readonly hashes: readonly string[]
  readonly revision: number
}

export const passwordHistoriesSpec: SurfaceSpec<PasswordHistory> = {
  fields: { hashes: { kind: 'json' }, revision: { kind: 'integer' } },
  indexes: [],
  expires: 'never',
}

/**
 * An account at an identity provider by which a user of this surface signs in. The id is the
 * SHA-256 of provider, issuer and subject, so that one such account belongs to one user; a user has
 * at most one of each provider. An address is no part of it: addresses change hands.
 */
export interface OauthIdentity extends Doc {
  readonly userId: string
  /** The id of the provider, such as `google`. */
  readonly provider: string
  readonly issuer: string
  readonly subject: string
  /** Epoch milliseconds. */
  readonly linkedAt: number
  /**
   * The random mark of the request that is about to remove it; null without one. A marked identity
   * still signs in, but does not count as a remaining way to sign in. That of a request that is about to link it
   * begins with `link `: such an identity opens nothing yet.
   */
  readonly removingBy: string | null
}

const linkMark = 'link '

/** The mark of an identity that is being linked. */
export const linkMarkOf = (nonce: string): string => `${linkMark}${nonce}`

/** Whether the request that links it has still to look at the account once more, or died before it did. */
export function isBeingLinked({ removingBy }: Pick<OauthIdentity, 'removingBy'>): boolean {
  return removingBy?.startsWith(linkMark) ?? false
}

export const oauthIdentitiesSpec: SurfaceSpec<OauthIdentity> = {
  fields: {
    userId: { kind: 'text' },
    provider: { kind: 'text' },
    issuer: { kind: 'text' },
    subject: { kind: 'text' },
    linkedAt: { kind: 'time' },
    removingBy: { kind: 'text', nullable: true },
  },
  indexes: [{ on: ['userId'] }, { on: ['userId', 'provider'], unique: true }],
  expires: 'never',
}

/** A client id and secret of a service account. Its id is the `credentialId` of the routes. */
export interface ServiceCredential extends Doc {
  /** The operator user it belongs to. */
  readonly accountId: string
  /** `sa_` and 16 random bytes: says nothing of the account. */
  readonly clientId: string
  /** PHC string, by the same hasher as passwords. */
  readonly secretHash: string
  /** Never active again once revoked. */
  readonly status: 'active' | 'revoked'
  readonly createdAt: number
  /** The user who asked for it. */
  readonly createdBy: string | null
  /** Within a minute; null before the first grant. */
  readonly lastUsedAt: number | null
  readonly revokedAt: number | null
  readonly revokedBy: string | null
}

/** There is one collection: service accounts live on the operator surface alone. */
export const serviceCredentialsSpec: CollectionSpec<ServiceCredential> = {
  name: 'service_account_credentials',
  fields: {
    accountId: { kind: 'text' },
    clientId: { kind: 'text' },
    secretHash: { kind: 'text' },
    status: { kind: 'text' },
    createdAt: { kind: 'time' },
    createdBy: { kind: 'text', nullable: true },
    lastUsedAt: { kind: 'time', nullable: true },
    revokedAt: { kind: 'time', nullable: true },
    revokedBy: { kind: 'text', nullable: true },
  },
  indexes: [{ on: ['clientId'], unique: true }, { on: ['accountId'] }],
  expires: 'never',
}

/**
 * A registration whose mailbox is not proved yet: an account to be. The id is that
 * of the user to be. There is one of each address and browser or app.
 */
export interface PendingRegistration extends Doc {
  /**
   * How the account would be signed in to: `password` or `provider`; empty for what a deletion left, and for a name that
   * waits.
   */
  readonly method: string
  /** The account at a provider that is to be the new account's; null without one. */
  readonly provider: string | null
  readonly issuer: string | null
  readonly subject: string | null
  /** Canonical address; a digest of it for what a deletion left. */
  readonly email: string
  readonly emailAsTyped: string
  /** SHA-256 of what the browser or app keeps that registered; no other one's link makes it an account. */
  readonly keyHash: string
  /** PHC string; empty without a password. No login ever looks at it. */
  readonly passwordHash: string
  readonly name: string
  readonly termsVersion: string | null
  readonly createdAt: number
  readonly expiresAt: number
}

export const pendingRegistrationsSpec: SurfaceSpec<PendingRegistration> = {
  fields: {
    method: { kind: 'text' },
    provider: { kind: 'text', nullable: true },
    issuer: { kind: 'text', nullable: true },
    subject: { kind: 'text', nullable: true },
    email: { kind: 'text' },
    emailAsTyped: { kind: 'text' },
    keyHash: { kind: 'text' },
    passwordHash: { kind: 'text' },
    name: { kind: 'text' },
    termsVersion: { kind: 'text', nullable: true },
    createdAt: { kind: 'time' },
  },
  indexes: [{ on: ['method'] }, { on: ['email'] }, { on: ['keyHash'] }],
  expires: 'fixed',
}

/**
 * The started deletion of an account; the id is the user's. It is written before anything is removed
 * and outlives the user record: what an interruption left undone is found, and so are documents that a
 * parallel request wrote meanwhile; no account is ever made with the id again.
 */
export interface AccountDeletion extends Doc {
  /** The user who deleted it; null when the host's code named no actor. */
  readonly actorId: string | null
  readonly begunAt: number
  /**
   * That of the user when the deletion was noted. Credentials that changed since belong to another
   * decision: what only was noted is then given up. Null where it was not kept, and `onlyByRequest` where the request
   * alone may close the account.
   */
  readonly credentialEpoch: number | null
  /** When the user record was gone; null before. */
  readonly deletedAt: number | null
  /** When the process that sweeps has to look at it again; null once it did for the last time. */
  readonly expiresAt: number | null
}

/** No user's epoch: the session that asked for the deletion has to be open when the account is closed. */
export const onlyByRequest = -1

export const accountDeletionsSpec: SurfaceSpec<AccountDeletion> = {
  fields: {
    actorId: { kind: 'text', nullable: true },
    begunAt: { kind: 'time' },
    credentialEpoch: { kind: 'integer', nullable: true },
    deletedAt: { kind: 'time', nullable: true },
  },
  indexes: [],
  expires: 'due',
}
