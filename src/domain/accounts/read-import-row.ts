import { isUuid } from '../../crypto/secrets.js'
import { userProblem } from '../../engine/accounts.js'
import { canonicalEmail } from '../../engine/addresses.js'
import { isStorable } from '../../engine/text.js'
import { providerId } from '../../identity-providers/providers.js'
import type { Membership } from '../../model/user.js'
import type { ImportedIdentity, ImportRefusal } from './import-batch.js'

/** A row that is of the right form. */
export interface ImportRow {
  readonly id: string | null
  readonly email: string
  readonly emailAsTyped: string
  readonly name: string
  readonly passwordHash: string | null
  readonly passwordChangedAt: number | null
  readonly emailVerifiedAt: number | null
  readonly createdAt: number | null
  readonly lastLoginAt: number | null
  readonly enabled: boolean
  readonly systemRole: string
  readonly memberships: readonly Membership[]
  readonly identities: readonly ImportedIdentity[]
  readonly totpSecret: string | null
}

export interface RefusedRow {
  readonly outcome: 'refused'
  readonly code: ImportRefusal
  readonly reason: string
}

const members = new Set<string>([
  'id',
  'email',
  'name',
  'passwordHash',
  'passwordChangedAt',
  'emailVerified',
  'emailVerifiedAt',
  'createdAt',
  'lastLoginAt',
  'enabled',
  'systemRole',
  'memberships',
  'identities',
  'totpSecret',
] satisfies (keyof ImportRow | 'emailVerified')[])

const dates = ['passwordChangedAt', 'emailVerifiedAt', 'createdAt', 'lastLoginAt'] as const

/** Reads one row, whatever it is. Only what the object itself has counts. Never throws but by a getter. */
export function readImportRow(
  given: unknown,
  now: number,
  allowRoles: readonly string[],
): ImportRow | RefusedRow {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return invalid('A row must be an object.')
  }
  // A member that is null is left out, as an export has it.
  const own = new Map(Object.entries(given).filter(([, value]) => (value ?? null) !== null))
  if (Object.hasOwn(given, 'kind')) {
    return refusal('kind_not_allowed', 'A row must not have a kind: people alone are imported.')
  }
  const unknown = Object.keys(given).find((key) => !members.has(key))
  if (unknown !== undefined) return invalid('A row must have no members but those of ImportedUser.')
  const problem = problemOf(own, now)
  return problem ?? checkRules(rowOf(own, now), allowRoles)
}

type Own = ReadonlyMap<string, unknown>

function problemOf(own: Own, now: number): RefusedRow | null {
  const id = own.get('id')
  if (id !== undefined && !(typeof id === 'string' && isUuid(id))) {
    return invalid('id must be a UUID in lower case.')
  }
  const email = own.get('email')
  if (typeof email !== 'string' || canonicalEmail(email) === null) {
    return invalid('email must be an address, such as ada@example.org.')
  }
  const problem = userProblem({
    name: own.get('name'),
    enabled: own.get('enabled'),
    emailVerified: own.get('emailVerified'),
    systemRole: own.get('systemRole'),
    memberships: own.get('memberships'),
  })
  if (problem !== null) return invalid(problem)
  const date = dates.find((name) => own.has(name) && !isPast(timeOf(own, name), now))
  if (date !== undefined) {
    return invalid(`${date} must be epoch milliseconds or a Date, from 1971 until now.`)
  }
  if (own.get('emailVerified') === false && own.has('emailVerifiedAt')) {
    return invalid('emailVerified must not be false beside emailVerifiedAt.')
  }
  return secretsProblem(own)
}

function secretsProblem(own: Own): RefusedRow | null {
  const hash = own.get('passwordHash')
  if (hash !== undefined && !(isStorable(hash) && hash.length <= 1024)) {
    return invalid('passwordHash must be a text of at most 1,024 characters.')
  }
  const totp = own.get('totpSecret')
  if (totp !== undefined && !(typeof totp === 'string' && /^[A-Z2-7]{26,103}$/.test(totp))) {
    return invalid('totpSecret must be 16 to 64 bytes in base32, without padding.')
  }
  const identities = own.get('identities')
  if (identities === undefined || areIdentities(identities)) return null
  return invalid('identities must be { provider, issuer, subject }, one of each provider at most.')
}

function areIdentities(given: unknown): given is readonly ImportedIdentity[] {
  if (!Array.isArray(given) || !given.every(isIdentity)) return false
  return new Set(given.map(({ provider }) => provider)).size === given.length
}

function isIdentity(given: unknown): given is ImportedIdentity {
  if (typeof given !== 'object' || given === null || Object.keys(given).length !== 3) return false
  const own = new Map<string, unknown>(Object.entries(given))
  const isText = (value: unknown) => isStorable(value) && value.length >= 1 && value.length <= 255
  const provider = own.get('provider')
  const isKnown = typeof provider === 'string' && providerId(provider) !== null
  return isKnown && isText(own.get('issuer')) && isText(own.get('subject'))
}

function rowOf(own: Own, now: number): ImportRow {
  const text = (name: string): string | null => {
    const value = own.get(name)
    return typeof value === 'string' ? value : null
  }
  const typed = text('email') ?? ''
  const memberships: unknown = own.get('memberships')
  const identities: unknown = own.get('identities')
  const verifiedAt = timeOf(own, 'emailVerifiedAt')
  return {
    id: text('id'),
    email: canonicalEmail(typed) ?? '',
    emailAsTyped: typed.trim(),
    name: text('name') ?? '',
    passwordHash: text('passwordHash'),
    passwordChangedAt: timeOf(own, 'passwordChangedAt'),
    emailVerifiedAt: verifiedAt ?? (own.get('emailVerified') === true ? now : null),
    createdAt: timeOf(own, 'createdAt'),
    lastLoginAt: timeOf(own, 'lastLoginAt'),
    enabled: own.get('enabled') !== false,
    systemRole: text('systemRole') ?? 'guest',
    memberships: Array.isArray(memberships)
      ? memberships.map(({ tenantId }: Membership) => ({ tenantId }))
      : [],
    identities: areIdentities(identities)
      ? identities.map(({ provider, issuer, subject }) => ({ provider, issuer, subject }))
      : [],
    totpSecret: text('totpSecret'),
  }
}

/** What is refused of a row that is of the right form. */
function checkRules(row: ImportRow, allowRoles: readonly string[]): ImportRow | RefusedRow {
  const { emailVerifiedAt, identities, totpSecret, systemRole } = row
  if (emailVerifiedAt === null && (identities.length > 0 || totpSecret !== null)) {
    const reason = 'A factor or an identity needs a verified address: a stranger may have added it.'
    return refusal('email_not_verified', reason)
  }
  if (systemRole !== 'guest' && !allowRoles.includes(systemRole)) {
    return refusal('role_not_allowed', 'systemRole must be one of allowRoles.')
  }
  return row
}

/** Null without one, and NaN for what is no time. */
function timeOf(own: Own, name: string): number | null {
  const value = own.get(name)
  if (value === undefined) return null
  if (value instanceof Date) return value.getTime()
  return typeof value === 'number' ? value : Number.NaN
}

/** The start of 1971. Below lie the zero that stands for "never", and seconds taken for milliseconds. */
const earliest = 31_536_000_000

function isPast(time: number | null, now: number): boolean {
  return time !== null && Number.isSafeInteger(time) && time >= earliest && time <= now
}

function invalid(reason: string): RefusedRow {
  return refusal('invalid_row', reason)
}

export function refusal(code: ImportRefusal, reason: string): RefusedRow {
  return { outcome: 'refused', code, reason }
}
