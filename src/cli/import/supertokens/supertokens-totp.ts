import type { FoundUser } from '../rows/carried-row.js'
import type { NotCarried } from '../rows/import-source.js'
import { membersOf } from '../rows/members-of.js'
import { flagOf, textOf, timeOf } from '../rows/read-cell.js'
import type { SupertokensAccount } from './supertokens-account.js'

const others: NotCarried = {
  code: 'other_factors',
  reason: 'One authenticator app comes along; the other second factors stay behind.',
}

/**
 * The oldest app that the user confirmed, and a note where there are more factors. `isDoubtful`: a way in of a stranger
 * may be linked, which could have added the app.
 */
export function supertokensTotp(
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
