import { isSingleLine } from './is-single-line.js'
import { isStorable } from './is-storable.js'
import { isTenantId } from './tenant-id.js'
import { utf8Length } from './utf8.js'

/** What a host's code may say of a user, before anything is known of it but the names. */
interface Given {
  readonly name?: unknown
  readonly enabled?: unknown
  readonly emailVerified?: unknown
  readonly systemRole?: unknown
  readonly memberships?: unknown
}

const maxRole = 100
/**
 * Every access token carries the memberships, and a token has to fit into a header: a user with more
 * could not sign in. The limit is in bytes, because 100 memberships can take up to 35 KB in base64url.
 */
const maxMembershipBytes = 4096

/**
 * The problem of a user's members, including values that a cast let through, as the end of a sentence
 * for the developer; null for correct members. Absent members are fine. It repeats no value.
 */
export function userProblem(given: Given): string | null {
  if (given.name !== undefined && !isStorable(given.name)) {
    return 'name must be a text, well-formed and without NUL.'
  }
  const { systemRole } = given
  if (systemRole !== undefined && !(isStorable(systemRole) && systemRole.length <= maxRole)) {
    return `systemRole must be a text of at most ${maxRole} characters, well-formed and without NUL.`
  }
  if (given.name !== undefined && !isSingleLine(String(given.name))) {
    return 'name must be a single line, without control characters and without those of bidirectional text.'
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
  if (utf8Length(JSON.stringify(memberships)) <= maxMembershipBytes) return null
  return `memberships must be ${maxMembershipBytes} bytes at most, written as JSON: access tokens carry them.`
}
