import { isStorable } from './is-storable.js'
import { isTenantId } from './tenant-id.js'

/** What a host's code may say of a user, before anything is known of it but the names. */
interface Given {
  readonly name?: unknown
  readonly enabled?: unknown
  readonly emailVerified?: unknown
  readonly systemRole?: unknown
  readonly memberships?: unknown
}

/**
 * Every access token carries them, and a token has to fit into a header: whoever has more could not
 * sign in. In bytes, because base64url and long ids make of 100 memberships anything up to 35 KB.
 */
const maxMembershipBytes = 4096

/**
 * What is wrong with members of a user, whatever a cast let through, as the end of a sentence for
 * whoever writes the code; null when nothing is. Those left out are fine. It repeats no value.
 */
export function userProblem(given: Given): string | null {
  for (const key of ['name', 'systemRole'] as const) {
    const text = given[key]
    if (text !== undefined && !isStorable(text)) {
      return `${key} must be a text, well-formed and without NUL.`
    }
  }
  for (const key of ['enabled', 'emailVerified'] as const) {
    const flag = given[key]
    if (flag !== undefined && typeof flag !== 'boolean') return `${key} must be true or false.`
  }
  return given.memberships === undefined ? null : membershipsProblem(given.memberships)
}

function membershipsProblem(memberships: unknown): string | null {
  if (!Array.isArray(memberships) || !memberships.every((one) => isTenantId(one?.tenantId))) {
    return 'memberships must be an array of { tenantId }, each a text of 1 to 64 characters.'
  }
  if (Buffer.byteLength(JSON.stringify(memberships)) <= maxMembershipBytes) return null
  return `memberships must be ${maxMembershipBytes} bytes at most, written as JSON: access tokens carry them.`
}
