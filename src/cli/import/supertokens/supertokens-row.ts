import type { Cells } from '../databases/source-database.js'
import { type CarryRules, carriedRow, type FoundUser } from '../rows/carried-row.js'
import type { NotCarried, SourceRow } from '../rows/import-source.js'
import { membersOf } from '../rows/members-of.js'
import { accountId } from '../rows/old-id.js'
import { identityInTenant, providerIdentities } from '../rows/provider-identities.js'
import { flagOf, textOf, timeOf } from '../rows/read-cell.js'
import {
  type AddressedLogin,
  addressOf,
  type SupertokensAccount,
  type SupertokensLogin,
} from './supertokens-account.js'

export interface SupertokensRules {
  readonly rules: CarryRules
  /** Keeps ids of two sources apart. */
  readonly space: string
  /** The directory of the accounts at Microsoft, a UUID; null where none is known. */
  readonly microsoftTenant: string | null
}

const sharedId: NotCarried = {
  code: 'shared_id',
  reason: 'Another user has the id too: a mapping of ids was made with force.',
}

const sharedAddress: NotCarried = {
  code: 'shared_address',
  reason:
    'Another account has the address, and the two are not linked. The other one is carried: it has verified the address, or it is older.',
}

/** A user of SuperTokens. `isFirst` is false where an unlinked account with its address is carried in its place. */
export function supertokensRow(
  account: SupertokensAccount,
  isFirst: boolean,
  { rules, space, microsoftTenant }: SupertokensRules,
): SourceRow {
  const { key, logins, isShared, metadata } = account
  if (isShared) return { key, user: null, notCarried: [sharedId] }
  if (!isFirst) return { key, user: null, notCarried: [sharedAddress] }
  const address = addressOf(account)
  const isVerified = address?.isVerified === true
  const doubtful = isVerified ? logins.filter(isDoubtful) : []
  const trusted = logins.filter((login) => !doubtful.includes(login))
  const { identities, left } = supertokensIdentities(trusted, microsoftTenant)
  const ownLogin = passwordLogin(trusted, address)
  const hasStranger = doubtful.some(({ email }) => email !== null)
  const { totpSecret, notes } = supertokensTotp(account, hasStranger)
  const joined = logins.map(({ joinedAt }) => joinedAt).filter((time) => time > 0)
  const found: FoundUser = {
    key,
    user: {
      id: accountId(space, key),
      email: address?.email ?? '',
      name: nameOf(metadata),
      passwordHash: passwordOf(ownLogin),
      emailVerified: isVerified,
      createdAt: joined.length === 0 ? null : Math.min(...joined),
    },
    identities,
    roles: account.roles,
    totpSecret,
    notCarried: [
      ...left,
      ...doubtful.flatMap(doubtOf),
      ...trusted.filter((one) => isPassword(one) && one !== ownLogin).map(() => otherPassword),
      ...notes,
      ...otherThings(account),
    ],
  }
  return carriedRow(found, rules)
}

/**
 * Beside a verified address: a stranger may have made this way in before the two were linked. In SuperTokens its
 * sessions do not count as verified; in one account with the others they would.
 */
function isDoubtful({ isVerified, email, recipe }: SupertokensLogin): boolean {
  return !isVerified && (email !== null || recipe === 'thirdparty')
}

function doubtOf(login: SupertokensLogin): readonly NotCarried[] {
  if (isPassword(login)) {
    const reason = 'The address of the password is not verified: a stranger may have chosen it.'
    return [{ code: 'password', reason }]
  }
  if (login.recipe !== 'thirdparty') return []
  const reason =
    'The address that the provider gave is not verified: a stranger may have added the account there.'
  return [{ code: 'identity_unverified', reason }]
}

const otherPassword: NotCarried = {
  code: 'password',
  reason: 'A password of another address stays behind.',
}

function isPassword({ recipe }: SupertokensLogin): boolean {
  return recipe === 'emailpassword'
}

/** Users sign in with the address of the account, so with the password that belongs to it. */
function passwordLogin(
  logins: readonly SupertokensLogin[],
  address: AddressedLogin | null,
): SupertokensLogin | null {
  const own = logins.filter((login) => isPassword(login) && login.email !== null)
  return own.find(({ email }) => email === address?.email) ?? null
}

const firebaseHash = /^\$f_scrypt\$([^$]+)\$([^$]+)\$/

/** bcrypt and argon2 as they are; what came from Firebase in the form that the library has for it. */
function passwordOf(login: SupertokensLogin | null): string | null {
  const stored = textOf(login?.cells['password_hash'])
  const [, hash, salt] = firebaseHash.exec(stored ?? '') ?? []
  return salt === undefined ? stored : `$firebase-scrypt$${salt}$${hash}`
}

/** As the dashboard of SuperTokens writes it. */
function nameOf(metadata: SupertokensAccount['metadata']): string | null {
  const { first_name: first, last_name: last } = metadata
  const parts = [first, last].filter((part) => typeof part === 'string' && part !== '')
  return parts.length === 0 ? null : parts.join(' ')
}

/** What else users signed in with. */
function otherThings({ logins, isElsewhere }: SupertokensAccount): readonly NotCarried[] {
  const isMadeUp = ({ email, cells }: SupertokensLogin) =>
    email === null && textOf(cells['email']) !== null
  const notes: readonly (readonly [is: boolean, code: string, reason: string])[] = [
    [
      logins.some(({ cells }) => textOf(cells['phone_number']) !== null),
      'sign_in_name',
      'The phone number stays behind: users sign in with their address.',
    ],
    [
      logins.some(isMadeUp),
      'made_up_address',
      'SuperTokens made up an address where a provider gave none: no mail reaches it.',
    ],
    [
      logins.some(({ recipe }) => recipe === 'webauthn'),
      'passkeys',
      'Passkeys stay behind; the user adds them again.',
    ],
    [
      isElsewhere,
      'other_tenant',
      'Ways in of other tenants stay behind: --tenant-id names the one that is carried.',
    ],
  ]
  return notes.filter(([is]) => is).map(([, code, reason]) => ({ code, reason }))
}

const others: NotCarried = {
  code: 'other_factors',
  reason: 'One authenticator app comes along; the other second factors stay behind.',
}

/**
 * The oldest app that the user confirmed, and a note where there are more factors. `isDoubtful`: a way in of a stranger
 * may be linked, which could have added the app.
 */
function supertokensTotp(
  { devices, metadata }: Pick<SupertokensAccount, 'devices' | 'metadata'>,
  isDoubtful: boolean,
): { readonly totpSecret: FoundUser['totpSecret']; readonly notes: readonly NotCarried[] } {
  const since = (cell: unknown) => timeOf(cell) ?? 0
  const confirmed = devices
    .filter(({ verified }) => flagOf(verified) === true)
    .toSorted((one, other) => since(one['created_at']) - since(other['created_at']))
  const isMore = hasOtherFactors(metadata)
  if (confirmed.length === 0) {
    const lost = 'The second factor is a code by mail or phone, or a passkey, and there is no app.'
    return { totpSecret: isMore ? { lost } : null, notes: [] }
  }
  if (isDoubtful) {
    const lost = 'A linked address is not verified: a stranger may have added the factor.'
    return { totpSecret: { lost }, notes: [] }
  }
  const app = confirmed.find(({ period }) => Number(period) === 30)
  const lost = 'The codes of the app last another time than 30 seconds.'
  const totpSecret = textOf(app?.['secret_key']) ?? { lost }
  return { totpSecret, notes: confirmed.length > 1 || isMore ? [others] : [] }
}

/** Whether the user needs another factor than an app. Its SDKs keep that in the metadata. */
function hasOtherFactors(metadata: SupertokensAccount['metadata']): boolean {
  const required = membersOf(metadata['_supertokens'])['requiredSecondaryFactors']
  return Array.isArray(required) && required.some((factor) => factor !== 'totp')
}

/** The accounts at providers, and those that stay behind. `microsoftTenant` is a UUID, or null. */
function supertokensIdentities(
  logins: readonly SupertokensLogin[],
  microsoftTenant: string | null,
) {
  const linked = logins.filter(({ recipe }) => recipe === 'thirdparty').map(({ cells }) => cells)
  const isWorkspace = (cells: Cells) => cells['third_party_id'] === 'google-workspaces'
  const accounts = linked.map((cells) =>
    isWorkspace(cells) ? { ...cells, third_party_id: 'google' } : cells,
  )
  return providerIdentities(accounts, {
    provider: 'third_party_id',
    subject: 'third_party_user_id',
    microsoft: ['active-directory'],
    microsoftIdentity: (subject) =>
      microsoftTenant === null ? null : identityInTenant(microsoftTenant, subject),
    noTenant: 'An account at Microsoft stays behind: --microsoft-tenant names no directory.',
  })
}
