import type { Cells } from '../databases/source-database.js'
import { banOf } from '../rows/ban-of.js'
import { type CarryRules, carriedRow, type FoundUser } from '../rows/carried-row.js'
import type { NotCarried, SourceRow } from '../rows/import-source.js'
import { accountId } from '../rows/old-id.js'
import {
  identityOfToken,
  noStoredToken,
  type ProviderRows,
  providerIdentities,
} from '../rows/provider-identities.js'
import { flagOf, textOf, timeOf } from '../rows/read-cell.js'
import type { BetterAuthSecrets } from './better-auth-secrets.js'

export interface BetterAuthUser {
  readonly user: Cells
  readonly accounts: readonly Cells[]
  /** The row of the plugin for two factors; null without one. */
  readonly factor: Cells | null
  readonly passkeys: number
}

interface RowOptions {
  readonly secrets: BetterAuthSecrets | null
  readonly rules: CarryRules
  readonly space: string
  readonly now: () => number
}

const accountRows: ProviderRows = {
  provider: 'providerId',
  subject: 'accountId',
  microsoft: ['microsoft'],
  microsoftIdentity: (subject, { idToken }) => identityOfToken(subject, idToken),
  noTenant: noStoredToken,
}

/** One user of better-auth. */
export function betterAuthRow(given: BetterAuthUser, options: RowOptions): SourceRow {
  const { user, accounts, passkeys } = given
  const key = textOf(user['id']) ?? ''
  const isCredential = ({ providerId }: Cells) => textOf(providerId) === 'credential'
  const credential = accounts.find(isCredential)
  const linked = accounts.filter((account) => !isCredential(account))
  const { identities, left } = providerIdentities(linked, accountRows)
  const ban = banOf(flagOf(user['banned']) === true, timeOf(user['banExpires']), options.now())
  const passwordHash = textOf(credential?.['password'])
  const found: FoundUser = {
    key,
    user: {
      id: accountId(`${options.space} better-auth`, key),
      email: textOf(user['email']) ?? '',
      name: textOf(user['name']),
      emailVerified: flagOf(user['emailVerified']) === true,
      createdAt: timeOf(user['createdAt']),
      enabled: !ban.isBanned,
      passwordHash,
      passwordChangedAt: passwordHash === null ? null : timeOf(credential?.['updatedAt']),
    },
    identities,
    roles: rolesOf(user),
    totpSecret: totpOf(given, options.secrets),
    notCarried: [...left, ...ban.notes, ...otherWays(user, passkeys)],
  }
  return carriedRow(found, options.rules)
}

/** `user` is what every user is. */
function rolesOf({ role }: Cells): readonly string[] {
  const roles = (textOf(role) ?? '').split(',').map((one) => one.trim())
  return roles.filter((one) => one !== '' && one !== 'user')
}

/** base32 of the text that better-auth has as secret, as it writes it into QR codes. */
function totpOf(
  { user, factor }: BetterAuthUser,
  secrets: BetterAuthSecrets | null,
): FoundUser['totpSecret'] {
  // Without the flag, an app was begun to be added and never confirmed.
  if (flagOf(user['twoFactorEnabled']) !== true) return null
  if (factor === null || flagOf(factor['verified']) === false) {
    return { lost: 'The second factor is a code by mail, and there is no authenticator app.' }
  }
  const secret = secrets?.decrypt(textOf(factor['secret']) ?? '') ?? null
  if (secret === null) return { lost: 'BETTER_AUTH_SECRET does not open the secret of the app.' }
  return base32(new TextEncoder().encode(secret))
}

/** What else users signed in with. */
function otherWays(user: Cells, passkeys: number): readonly NotCarried[] {
  const notes: NotCarried[] = []
  if (passkeys > 0) {
    notes.push({
      code: 'passkeys',
      reason: `${passkeys} passkeys stay behind; the user adds them again.`,
    })
  }
  for (const [column, what] of [
    ['username', 'name to sign in with'],
    ['phoneNumber', 'phone number'],
  ] as const) {
    if (textOf(user[column]) === null) continue
    notes.push({
      code: 'sign_in_name',
      reason: `The ${what} stays behind: users sign in with their address.`,
    })
  }
  return notes
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** RFC 4648 §6, without padding. */
function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const groups = bits.match(/.{1,5}/g) ?? []
  return groups.map((group) => alphabet[Number.parseInt(group.padEnd(5, '0'), 2)]).join('')
}
