import type { ImportedIdentity, ImportedUser } from 'postern'
import type { NotCarried, SourceRow } from './import-source.js'

/** What the person decided for all rows. */
export interface CarryRules {
  /** Roles of the source, with the `systemRole` that stands for each. */
  readonly roles: ReadonlyMap<string, string>
  /**
   * Whether an account comes without a second factor that cannot be carried. Otherwise its row is left out: with the
   * password alone, it would be weaker than it was.
   */
  readonly dropSecondFactors: boolean
}

/** A user as a source has it. */
export interface FoundUser {
  readonly key: string
  readonly user: Omit<ImportedUser, 'identities' | 'systemRole' | 'totpSecret'>
  readonly identities: readonly ImportedIdentity[]
  readonly roles: readonly string[]
  /** Null without one; `lost` says in a sentence why there is no secret of the one that there is. */
  readonly totpSecret: string | null | { readonly lost: string }
  readonly notCarried: readonly NotCarried[]
}

const totpForm = /^[A-Z2-7]{26,103}$/

/** The row of a user, without what no import takes. */
export function carriedRow(found: FoundUser, rules: CarryRules): SourceRow {
  const { key } = found
  const notes: NotCarried[] = [...found.notCarried]
  const factor = factorOf(found)
  if (typeof factor === 'object' && factor !== null) {
    notes.push(factor)
    if (!rules.dropSecondFactors) return { key, user: null, notCarried: notes }
  }
  const systemRole = roleOf(found, rules, notes)
  const user: ImportedUser = {
    ...found.user,
    ...(systemRole === null ? {} : { systemRole }),
    ...(typeof factor === 'string' ? { totpSecret: factor } : {}),
    identities: identitiesOf(found, notes),
  }
  return { key, user, notCarried: notes }
}

function isVerified({ user }: FoundUser): boolean {
  return user.emailVerified === true || (user.emailVerifiedAt ?? null) !== null
}

/** The secret, null without one, or why it stays behind. */
function factorOf(found: FoundUser): string | null | NotCarried {
  const { totpSecret } = found
  if (totpSecret === null) return null
  const left = (reason: string) => ({ code: 'second_factor', reason })
  if (typeof totpSecret !== 'string') return left(totpSecret.lost)
  if (!isVerified(found))
    return left('The address is not verified: a stranger may have added the factor.')
  const secret = base32Of(totpSecret)
    .replace(/[\s=-]/g, '')
    .toUpperCase()
  return totpForm.test(secret)
    ? secret
    : left('The authenticator app has no secret of 16 to 64 bytes in base32, or other codes.')
}

/** Of a secret, or of the key URI that an app scans; empty where that names other codes than all apps have here. */
function base32Of(text: string): string {
  if (!/^\s*otpauth:/i.test(text)) return text
  const uri = URL.canParse(text) ? new URL(text) : null
  const usual = { algorithm: 'SHA1', digits: '6', period: '30' }
  const isUsual = Object.entries(usual).every(
    ([name, value]) => (uri?.searchParams.get(name) ?? value).toUpperCase() === value,
  )
  return (uri?.host === 'totp' && isUsual && uri.searchParams.get('secret')) || ''
}

function roleOf({ roles }: FoundUser, rules: CarryRules, notes: NotCarried[]): string | null {
  const known = roles.map((role) => rules.roles.get(role)).filter((role) => role !== undefined)
  if (known.length < roles.length || known.length > 1) {
    notes.push({
      code: 'role',
      reason: 'A role stays behind: --role names none for it, or there are several.',
    })
  }
  return known[0] ?? null
}

function identitiesOf(found: FoundUser, notes: NotCarried[]): readonly ImportedIdentity[] {
  const { identities } = found
  if (identities.length === 0) return []
  if (!isVerified(found)) {
    const reason =
      'The address is not verified: a stranger may have added the account at the provider.'
    notes.push({ code: 'identity_unverified', reason })
    return []
  }
  const first = identities.filter(
    ({ provider }, at) => identities.findIndex((one) => one.provider === provider) === at,
  )
  if (first.length < identities.length) {
    const reason = 'An account has one identity of each provider; the second one stays behind.'
    notes.push({ code: 'identity_second', reason })
  }
  return first
}
