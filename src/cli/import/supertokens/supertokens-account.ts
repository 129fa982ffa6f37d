import type { Cells } from '../databases/source-database.js'

/** One way in of a user, which SuperTokens calls a recipe user, within the tenant that is imported. */
export interface SupertokensLogin {
  readonly id: string
  readonly recipe: 'emailpassword' | 'thirdparty' | 'passwordless' | 'webauthn'
  /** Null for a phone number alone, and for an address that SuperTokens made up. */
  readonly email: string | null
  /** Whether this user, and no other one with the same address, has shown that the address is theirs. */
  readonly isVerified: boolean
  /** Epoch milliseconds. */
  readonly joinedAt: number
  readonly cells: Cells
}

/** A user with the ways in that are linked. */
export interface SupertokensAccount {
  /** What tables of the host call the user: the id that it was mapped to, or that of SuperTokens. */
  readonly key: string
  /** Whether another user has the id as well. */
  readonly isShared: boolean
  readonly logins: readonly SupertokensLogin[]
  /** Whether others of its ways in are of other tenants. */
  readonly isElsewhere: boolean
  readonly devices: readonly Cells[]
  readonly roles: readonly string[]
  readonly metadata: Readonly<Record<string, unknown>>
}

/** A way in whose address the account may have. */
export interface AddressedLogin extends SupertokensLogin {
  readonly email: string
}

/**
 * The way in whose address the account gets: one that is verified before others, the password before others, the
 * oldest before others. Null where there is no address.
 */
export function addressOf({ logins }: Pick<SupertokensAccount, 'logins'>): AddressedLogin | null {
  const [first = null] = logins.filter(hasEmail).toSorted(byRank)
  return first
}

/** Which of two unlinked accounts with one address is carried: the one that has verified it, or the older one. */
export function isBefore(one: AddressedLogin, other: AddressedLogin): boolean {
  return byProof(one, other) < 0
}

function hasEmail(login: SupertokensLogin): login is AddressedLogin {
  return login.email !== null
}

function byRank(one: SupertokensLogin, other: SupertokensLogin): number {
  const isPassword = ({ recipe }: SupertokensLogin) => Number(recipe === 'emailpassword')
  return (
    Number(other.isVerified) - Number(one.isVerified) ||
    isPassword(other) - isPassword(one) ||
    byProof(one, other)
  )
}

function byProof(one: SupertokensLogin, other: SupertokensLogin): number {
  return (
    Number(other.isVerified) - Number(one.isVerified) ||
    one.joinedAt - other.joinedAt ||
    (one.id < other.id ? -1 : 1)
  )
}
