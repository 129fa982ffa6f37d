import { Refusal } from '../../frame/refusal.js'
import { keysetPages } from '../databases/keyset-pages.js'
import { rowsOfUsers } from '../databases/rows-of-users.js'
import type { Cells, SourceDatabase } from '../databases/source-database.js'
import { banOf } from '../rows/ban-of.js'
import { type CarryRules, carriedRow, type FoundUser } from '../rows/carried-row.js'
import type { NotCarried, Source, SourceRow } from '../rows/import-source.js'
import { membersOf } from '../rows/members-of.js'
import { accountId } from '../rows/old-id.js'
import { type ProviderRows, providerIdentities } from '../rows/provider-identities.js'
import { textOf, timeOf } from '../rows/read-cell.js'

export interface SupabaseOptions {
  readonly rules: CarryRules
  /** Keeps ids of two databases apart, such as the surface. */
  readonly space: string
  /** Epoch milliseconds. */
  readonly now: () => number
}

const identities = { table: 'auth.identities', by: 'user_id' }
const factors = { table: 'auth.mfa_factors', by: 'user_id' }

/** The users of Supabase Auth, in the schema `auth` of its database. Throws `Refusal` where that is missing. */
export async function supabaseSource(
  database: SourceDatabase,
  options: SupabaseOptions,
): Promise<Source> {
  const tables = ['auth.users', identities.table, factors.table]
  for (const table of tables) {
    if ((await database.columns(table)).length > 0) continue
    throw new Refusal(
      `There is no table ${table}, or its reader may not see it: POSTERN_SOURCE_URL must be the Postgres of the project, with a role that reads the schema auth.`,
      2,
    )
  }
  const pages = await keysetPages(database, { table: 'auth.users', key: 'id', columns: null })

  return {
    fingerprint: `Supabase in ${database.name}`,
    total: pages.total,
    async page(after, size) {
      const { rows, cursor } = await pages.page(after, size)
      const ids = rows.map(({ id }) => String(id))
      const ofIdentities = await rowsOfUsers(database, identities, ids)
      const ofFactors = await rowsOfUsers(database, factors, ids)
      const found = rows.map((user) => {
        const id = String(user['id'])
        const own = {
          identities: ofIdentities.get(id) ?? [],
          factors: ofFactors.get(id) ?? [],
        }
        return supabaseRow({ user, ...own }, options)
      })
      return { rows: found, cursor }
    },
    close: () => database.close(),
  }
}

export interface SupabaseUser {
  readonly user: Cells
  readonly identities: readonly Cells[]
  readonly factors: readonly Cells[]
}

interface RowOptions {
  readonly rules: CarryRules
  readonly space: string
  readonly now: () => number
}

const deleted: NotCarried = {
  code: 'deleted',
  reason: 'The user was deleted; the row is kept for its id alone.',
}

/** One row of `auth.users`, with what belongs to it. */
export function supabaseRow(given: SupabaseUser, options: RowOptions): SourceRow {
  const { user } = given
  const key = textOf(user['id']) ?? ''
  if (textOf(user['deleted_at']) !== null) return { key, user: null, notCarried: [deleted] }
  // What users of a password or of a phone have beside it.
  const isProvider = ({ provider }: Cells) => !['email', 'phone'].includes(textOf(provider) ?? '')
  const { identities, left } = providerIdentities(given.identities.filter(isProvider), identityRows)
  const until = timeOf(user['banned_until'])
  const ban = banOf(until !== null, until, options.now())
  const { passwordHash, notes } = passwordOf(user)
  const found: FoundUser = {
    key,
    user: {
      id: accountId(`${options.space} supabase`, key),
      email: textOf(user['email']) ?? '',
      name: nameOf(user),
      passwordHash,
      emailVerifiedAt: timeOf(user['email_confirmed_at']),
      createdAt: timeOf(user['created_at']),
      lastLoginAt: timeOf(user['last_sign_in_at']),
      enabled: !ban.isBanned,
    },
    identities,
    roles: [],
    totpSecret: totpOf(given.factors),
    notCarried: [...left, ...ban.notes, ...notes, ...otherThings(given)],
  }
  return carriedRow(found, options.rules)
}

/** What people are called is theirs to say, and providers say it under either name. */
function nameOf(user: Cells): string | null {
  const { full_name: full, name } = membersOf(user['raw_user_meta_data'])
  return [full, name].find((one) => typeof one === 'string' && one !== '')?.toString() ?? null
}

const firebaseHash = /^\$fbscrypt\$[^$]+\$([^$]+)\$(.+)$/

/** bcrypt and argon2 as they are; what came from Firebase in the form that the library has for it. */
function passwordOf(user: Cells): {
  readonly passwordHash: string | null
  readonly notes: readonly NotCarried[]
} {
  const stored = textOf(user['encrypted_password'])
  if (stored === null) return { passwordHash: null, notes: [] }
  if (isEncrypted(stored)) {
    const reason = 'The password hash is encrypted: the user chooses a new password by mail.'
    return { passwordHash: null, notes: [{ code: 'password', reason }] }
  }
  const [, salt, hash] = firebaseHash.exec(stored) ?? []
  const passwordHash = salt === undefined ? stored : `$firebase-scrypt$${salt}$${hash}`
  return { passwordHash, notes: [] }
}

/** Where the service encrypts columns, a value is a JSON object with the id of its key. */
function isEncrypted(text: string): boolean {
  return text.startsWith('{')
}

function verifiedFactors(factors: readonly Cells[]): readonly Cells[] {
  return factors.filter(({ status }) => status === 'verified')
}

function totpOf(factors: readonly Cells[]): FoundUser['totpSecret'] {
  const verified = verifiedFactors(factors)
  if (verified.length === 0) return null
  const app = verified.find((factor) => factor['factor_type'] === 'totp')
  const secret = textOf(app?.['secret'])
  if (secret === null) {
    return { lost: 'The second factor is a phone or a passkey, and there is no authenticator app.' }
  }
  return isEncrypted(secret) ? { lost: 'The secret of the app is encrypted.' } : secret
}

/** What else users signed in with. */
function otherThings({ user, factors }: SupabaseUser): readonly NotCarried[] {
  const notes: NotCarried[] = []
  if (textOf(user['phone']) !== null) {
    const reason = 'The phone number stays behind: users sign in with their address.'
    notes.push({ code: 'sign_in_name', reason })
  }
  if (verifiedFactors(factors).length > 1) {
    const reason = 'One authenticator app comes along; the other second factors stay behind.'
    notes.push({ code: 'other_factors', reason })
  }
  const {
    provider: _provider,
    providers: _providers,
    ...own
  } = membersOf(user['raw_app_meta_data'])
  if (Object.keys(own).length > 0) {
    const reason = 'Members of app_metadata stay behind: give roles by --ids and your own tables.'
    notes.push({ code: 'role', reason })
  }
  return notes
}

/** The issuer of one tenant: no token names the shared issuers of several tenants. */
const microsoftIssuer = /^https:\/\/login\.microsoftonline\.com\/[0-9a-f-]{36}\/v2\.0$/

const identityRows: ProviderRows = {
  provider: 'provider',
  subject: 'provider_id',
  microsoft: ['azure'],
  microsoftIdentity(subject, row) {
    const { iss, sub } = membersOf(row['identity_data'])
    if (typeof iss !== 'string' || !microsoftIssuer.test(iss) || sub !== subject) return null
    return { provider: 'microsoft', issuer: iss, subject }
  },
  noTenant: 'An account at Microsoft stays behind: nothing stored names its tenant.',
}
