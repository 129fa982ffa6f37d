import { isStorableId } from '../../engine/is-storable.js'
import { AuthError } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import type { Collection } from '../../ports/store.js'
import type { UserKind } from '../../ports/user-kind.js'
import { recordOf, type UserRecord } from './user-record.js'

/** A page of users. */
export interface UserPage {
  /** Oldest first. Users created in the same millisecond have no defined order. */
  readonly users: readonly UserRecord[]
  /** The `after` of the next page; null on the last page. */
  readonly next: string | null
}

/** The page of users to read. */
export interface UserPageRequest {
  /** Default empty: people. */
  readonly kind?: UserKind
  /** 1 to 200. Default 50. */
  readonly limit?: number
  /** The `next` of the previous page. Default: the first page. */
  readonly after?: string
}

const pageSize = 50
const maxPageSize = 200

export async function listUsers(
  users: Pick<Collection<User>, 'find'>,
  request: UserPageRequest,
): Promise<UserPage> {
  const { kind, limit, start } = pageOf(request)
  // One more than asked for shows whether there is a next page.
  const found = await users.find({ kind }, { limit: limit + 1, ...start })
  const shown = found.slice(0, limit)
  const next = found.length > limit ? (shown.at(-1)?.id ?? null) : null
  return { users: shown.map(recordOf), next }
}

function pageOf({ kind = '', limit = pageSize, after, ...rest }: UserPageRequest) {
  const isPage = Number.isInteger(limit) && limit >= 1 && limit <= maxPageSize
  const problem =
    (Object.keys(rest).length > 0 && 'members are kind, limit and after, and no others.') ||
    (kind !== '' && kind !== 'service' && "kind must be '', for people, or 'service'.") ||
    (!isPage && `limit must be a whole number from 1 to ${maxPageSize}.`) ||
    (after !== undefined && !isStorableId(after) && 'after must be the next of the page before.')
  if (problem) throw new AuthError('invalid_request', { detail: `A page's ${problem}` })
  const start = after === undefined ? {} : { after }
  return { kind, limit, start }
}
