import type { ImportedIdentity } from 'postern'
import { type CarryRules, carriedRow } from '../rows/carried-row.js'
import type { NotCarried, SourceRow } from '../rows/import-source.js'
import { membersOf } from '../rows/members-of.js'
import { accountId } from '../rows/old-id.js'
import { providerIssuers } from '../rows/provider-issuers.js'
import { textOf, timeOf } from '../rows/read-cell.js'

type Members = Readonly<Record<string, unknown>>

/** A user of an export, as its JSON has it. */
export function firebaseRow(
  given: unknown,
  { rules, space }: { readonly rules: CarryRules; readonly space: string },
): SourceRow {
  const user = membersOf(given)
  const key = textOf(user['localId']) ?? ''
  const { identities, left } = identitiesOf(user['providerUserInfo'])
  return carriedRow(
    {
      key,
      user: {
        ...(key === '' ? {} : { id: accountId(`${space} firebase`, key) }),
        email: textOf(user['email']) ?? '',
        name: textOf(user['displayName']),
        passwordHash: hashOf(user),
        emailVerified: user['emailVerified'] === true,
        createdAt: timeOf(user['createdAt']),
        lastLoginAt: timeOf(user['lastSignedInAt']),
        enabled: user['disabled'] !== true,
      },
      identities,
      roles: [],
      totpSecret: null,
      notCarried: [...left, ...otherMembers(user)],
    },
    rules,
  )
}

function hashOf({ salt, passwordHash }: Members): string | null {
  const [typed, hash] = [textOf(salt), textOf(passwordHash)]
  return typed === null || hash === null ? null : `$firebase-scrypt$${typed}$${hash}`
}

const providers = new Map<unknown, 'google' | 'github' | 'apple'>([
  ['google.com', 'google'],
  ['github.com', 'github'],
  ['apple.com', 'apple'],
])

function identitiesOf(given: unknown) {
  const identities: ImportedIdentity[] = []
  const left: NotCarried[] = []
  for (const info of Array.isArray(given) ? given.map(membersOf) : []) {
    const provider = providers.get(info['providerId'])
    const subject = textOf(info['rawId'])
    if (provider !== undefined && subject !== null) {
      identities.push({ provider, issuer: providerIssuers[provider], subject })
    } else if (!['password', 'phone'].includes(String(info['providerId']))) {
      const reason = 'An account at a provider stays behind: there is Google, GitHub and Apple.'
      left.push({ code: 'provider', reason })
    }
  }
  return { identities, left }
}

function otherMembers(user: Members): readonly NotCarried[] {
  const notes: NotCarried[] = []
  if (textOf(user['phoneNumber']) !== null) {
    const reason = 'The phone number stays behind: users sign in with their address.'
    notes.push({ code: 'sign_in_name', reason })
  }
  if (textOf(user['customAttributes']) !== null) {
    notes.push({
      code: 'role',
      reason: 'Custom claims stay behind: give roles by --ids and your own tables.',
    })
  }
  return notes
}
