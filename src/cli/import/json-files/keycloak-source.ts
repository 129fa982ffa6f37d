import { readFile } from 'node:fs/promises'
import { Refusal } from '../../frame/refusal.js'
import { openSourceFile } from '../files/source-file.js'
import { type CarryRules, carriedRow, type FoundUser } from '../rows/carried-row.js'
import type { NotCarried, Source, SourceRow } from '../rows/import-source.js'
import { membersOf } from '../rows/members-of.js'
import { accountId } from '../rows/old-id.js'
import { noStoredToken, providerIdentities } from '../rows/provider-identities.js'
import { textOf, timeOf } from '../rows/read-cell.js'
import { listOf, type Members, parsed } from './json-lines.js'

export interface KeycloakOptions {
  /** Absolute. */
  readonly path: string
  readonly rules: CarryRules
  readonly space: string
}

/** The users of a realm export of Keycloak, read whole. Throws `Refusal` for a file of another form. */
export async function keycloakSource({ path, ...options }: KeycloakOptions): Promise<Source> {
  const file = await openSourceFile(path)
  await file.close()
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new Refusal('The file cannot be read at once: export the users into several.', 2, {
      cause,
    })
  })
  const { users, identityProviders } = membersOf(parsed(text))
  if (!Array.isArray(users)) {
    throw new Refusal('The file has no list of users: export the realm with --users realm_file.', 2)
  }
  const kinds = kindsOf(identityProviders)
  return {
    fingerprint: `Keycloak ${file.fingerprint}`,
    total: async () => users.length,
    async page(after, size) {
      const end = Number(after ?? 0) + size
      const page = users.slice(end - size, end)
      const rows = page.map((user) => keycloakRow(membersOf(user), kinds, options))
      return { rows, cursor: end < users.length ? String(end) : null }
    },
    close: async () => {},
  }
}

type Kinds = ReadonlyMap<string | null, string | null>

/** What stands behind each alias: a realm may call any server `google`, and have a GitHub of its own. */
function kindsOf(identityProviders: unknown): Kinds {
  return new Map(
    listOf(identityProviders).map(({ alias, providerId, config }) => {
      const isElsewhere = textOf(membersOf(config)['baseUrl']) !== null
      return [textOf(alias), isElsewhere ? null : textOf(providerId)]
    }),
  )
}

function keycloakRow(
  user: Members,
  kinds: Kinds,
  { rules, space }: Pick<KeycloakOptions, 'rules' | 'space'>,
): SourceRow {
  const key = textOf(user['id']) ?? ''
  if (textOf(user['serviceAccountClientId']) !== null) {
    const reason = 'The user is the service account of a client, and no person.'
    return { key, user: null, notCarried: [{ code: 'service_account', reason }] }
  }
  const credentials = listOf(user['credentials']).map(credentialOf)
  const of = (type: string) => credentials.filter((one) => one.type === type)
  const links = listOf(user['federatedIdentities']).map(({ identityProvider, userId }) => {
    return { provider: kinds.get(textOf(identityProvider)), userId }
  })
  const { identities, left } = providerIdentities(links, linked)
  const password = of('password')[0]
  const hash = password === undefined ? null : passwordHashOf(password)
  const unread: NotCarried[] =
    password === undefined || hash !== null
      ? []
      : [{ code: 'password_hash', reason: 'The password stays behind: it has another algorithm.' }]
  const passkey = { code: 'passkey', reason: 'A passkey stays behind: users add them again.' }
  const found: FoundUser = {
    key,
    user: {
      ...(key === '' ? {} : { id: accountId(`${space} keycloak`, key) }),
      email: textOf(user['email']) ?? '',
      name: [user['firstName'], user['lastName']].flatMap((part) => textOf(part) ?? []).join(' '),
      passwordHash: hash,
      passwordChangedAt: hash === null ? null : timeOf(password?.createdDate),
      emailVerified: user['emailVerified'] === true,
      createdAt: timeOf(user['createdTimestamp']),
      enabled: user['enabled'] !== false,
    },
    identities,
    roles: rolesOf(user['realmRoles']),
    totpSecret: totpOf(of('otp')[0], of('webauthn').length > 0),
    notCarried: [...left, ...unread, ...(of('webauthn-passwordless').length > 0 ? [passkey] : [])],
  }
  return carriedRow(found, rules)
}

const linked = {
  ...{ provider: 'provider', subject: 'userId', microsoft: ['microsoft'] },
  ...{ microsoftIdentity: () => null, noTenant: noStoredToken },
}

/** What Keycloak gives to each user itself is no role of a person. */
function rolesOf(given: unknown): readonly string[] {
  const roles: readonly unknown[] = Array.isArray(given) ? given : []
  const own = /^(?:default-roles-.*|offline_access|uma_authorization)$/
  return roles.map(String).filter((role) => !own.test(role))
}

interface Credential {
  readonly type: unknown
  readonly createdDate: unknown
  readonly secret: Members
  readonly data: Members
}

function credentialOf({ type, createdDate, secretData, credentialData }: Members): Credential {
  const [secret, data] = [secretData, credentialData].map((text) =>
    membersOf(typeof text === 'string' ? parsed(text) : text),
  )
  return { type, createdDate, secret: secret ?? {}, data: data ?? {} }
}

/** As a PHC string; null for an algorithm that has none here. */
function passwordHashOf({ secret, data }: Credential): string | null {
  const { algorithm, hashIterations: rounds, additionalParameters } = data
  const [value, salt] = [textOf(secret['value']), textOf(secret['salt'])]
  if (value === null || salt === null) return null
  const pbkdf2 = /^pbkdf2(?:-(sha256|sha512))?$/.exec(String(algorithm))
  if (pbkdf2 !== null) return `$pbkdf2-${pbkdf2[1] ?? 'sha1'}$i=${rounds}$${salt}$${value}`
  if (algorithm !== 'argon2') return null
  const given = membersOf(additionalParameters)
  const of = (name: string) => textOf([given[name]].flat()[0]) ?? ''
  const version = of('version') === '1.0' ? 16 : 19
  const costs = `m=${of('memory')},t=${rounds},p=${of('parallelism')}`
  return `$argon2${of('type')}$v=${version}$${costs}$${salt}$${value}`
}

function totpOf(otp: Credential | undefined, hasKey: boolean): FoundUser['totpSecret'] {
  if (otp === undefined) {
    return hasKey ? { lost: 'The second factor is a passkey, which cannot be carried.' } : null
  }
  const { subType, digits, period, algorithm, secretEncoding } = otp.data
  const isUsual = [subType, digits, period, algorithm].join() === 'totp,6,30,HmacSHA1'
  const value = textOf(otp.secret['value'])
  if (!isUsual || value === null) return { lost: 'The authenticator app makes other codes.' }
  // The letters of the text are the secret, unless it says otherwise.
  return secretEncoding === 'BASE32' ? value : base32(new TextEncoder().encode(value))
}

/** RFC 4648 §6, without padding. */
function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const groups = bits.match(/.{1,5}/g) ?? []
  return groups
    .map((group) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(group.padEnd(5, '0'), 2)])
    .join('')
}
