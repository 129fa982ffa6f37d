import { Refusal } from '../../frame/refusal.js'
import { openSourceFile } from '../files/source-file.js'
import { type CarryRules, carriedRow, type FoundUser } from '../rows/carried-row.js'
import type { NotCarried, Source, SourceRow } from '../rows/import-source.js'
import { membersOf } from '../rows/members-of.js'
import { accountId } from '../rows/old-id.js'
import { noStoredToken, providerIdentities } from '../rows/provider-identities.js'
import { textOf, timeOf } from '../rows/read-cell.js'
import { jsonLines, linesSource, listOf, type Members } from './json-lines.js'

export interface Auth0Options {
  /** Absolute: the export of users, or that of password hashes. */
  readonly path: string
  /** The export of password hashes beside it; null for none. */
  readonly hashes: string | null
  readonly rules: CarryRules
  readonly space: string
}

/** The users of the two exports of Auth0, which are NDJSON. Throws `Refusal` for a file of another form. */
export async function auth0Source({ path, hashes, ...options }: Auth0Options): Promise<Source> {
  const known = hashes === null ? new Map<string, Members>() : await usersById(hashes)
  return linesSource(path, 'Auth0', (user) =>
    auth0Row({ ...known.get(idOf(user)), ...user }, options),
  )
}

async function usersById(path: string): Promise<ReadonlyMap<string, Members>> {
  const file = await openSourceFile(path)
  const users = new Map<string, Members>()
  try {
    for await (const { user } of jsonLines(file, 0)) {
      const { passwordHash, password_set_date, custom_password_hash, mfa_factors } = user
      users.set(idOf(user), { passwordHash, password_set_date, custom_password_hash, mfa_factors })
    }
  } finally {
    await file.close()
  }
  return users
}

/** The export of hashes has the id without the name of the database. */
function idOf(user: Members): string {
  const id = textOf(user['user_id'])
  if (id !== null) return id
  const own = textOf(user['alt_id']) ?? textOf(membersOf(user['_id'])['$oid'])
  if (own === null)
    throw new Refusal('A line has no user_id and no _id: it is no export of Auth0.', 2)
  return `auth0|${own}`
}

function auth0Row(
  user: Members,
  { rules, space }: Pick<Auth0Options, 'rules' | 'space'>,
): SourceRow {
  const key = idOf(user)
  const identities = identitiesOf(user, key)
  const { hash, notes } = hashOf(user)
  const email = emailOf(user)
  const found: FoundUser = {
    key,
    user: {
      id: accountId(`${space} auth0`, key),
      email: textOf(email['value']) ?? '',
      name: nameOf(user, email['value']),
      passwordHash: hash,
      passwordChangedAt: hash === null ? null : dateOf(user['password_set_date']),
      emailVerified: email['verified'] === true,
      createdAt: dateOf(user['created_at']),
      lastLoginAt: dateOf(user['last_login']),
      enabled: user['blocked'] !== true,
    },
    identities: identities.identities,
    roles: [],
    totpSecret: totpOf(user),
    notCarried: [...identities.left, ...notes],
  }
  return carriedRow(found, rules)
}

/** Some users of the export of hashes have their address among identifiers alone. */
function emailOf(user: Members): Members {
  if (textOf(user['email']) !== null)
    return { value: user['email'], verified: user['email_verified'] }
  const all = listOf(user['identifiers'])
  return all.find(({ type }) => type === 'email') ?? {}
}

/** Where a user has none, Auth0 gives the address as the name. */
function nameOf({ name }: Members, email: unknown): string | null {
  return name === email ? null : textOf(name)
}

/** MongoDB's way to write a time, or a text. */
const dateOf = (value: unknown) => timeOf(membersOf(value)['$date'] ?? value)

const providers = new Map([
  ['google-oauth2', 'google'],
  ['github', 'github'],
  ['apple', 'apple'],
  ['windowslive', 'microsoft'],
  ['waad', 'microsoft'],
])

function identitiesOf(user: Members, key: string) {
  const [name = '', ...id] = key.split('|')
  const own = [{ provider: name, user_id: id.join('|') }]
  const all: readonly Members[] = Array.isArray(user['identities'])
    ? listOf(user['identities'])
    : own
  const rows = all
    .filter(({ provider }) => provider !== 'auth0')
    .map(({ provider, user_id: subject }) => {
      return { provider: providers.get(String(provider)) ?? provider, subject }
    })
  const names = { provider: 'provider', subject: 'subject', microsoft: ['microsoft'] }
  return providerIdentities(rows, {
    ...names,
    microsoftIdentity: () => null,
    noTenant: noStoredToken,
  })
}

function hashOf(user: Members): {
  readonly hash: string | null
  readonly notes: readonly NotCarried[]
} {
  const hash = textOf(user['passwordHash'])
  const { algorithm, hash: custom } = membersOf(user['custom_password_hash'])
  if (hash !== null || algorithm === undefined) return { hash, notes: [] }
  const value = textOf(membersOf(custom)['value'])
  if (['bcrypt', 'argon2', 'pbkdf2'].includes(String(algorithm))) return { hash: value, notes: [] }
  const reason = 'The password hash stays behind: its algorithm is none that an import carries.'
  return { hash: null, notes: [{ code: 'password_hash', reason }] }
}

function totpOf(user: Members): FoundUser['totpSecret'] {
  const factors = listOf(user['mfa_factors'])
  const [secret] = factors.flatMap(({ totp }) => textOf(membersOf(totp)['secret']) ?? [])
  if (secret !== undefined) return secret
  const isAsked = factors.length > 0 || listOf(user['multifactor']).length > 0
  return isAsked ? { lost: 'The export has no secret of the second factor.' } : null
}
