import { AuthError } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import type { Collection } from '../../ports/store.js'
import type { UserKind } from '../../ports/surface.js'
import { hostPage } from '../context/host-page.js'
import { recordOf, type UserRecord } from './user-record.js'

/** A page of users. */
export interface UserPage {
  /** By id: the oldest first, but for ids that an import gave. */
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

export async function listUsers(
  users: Pick<Collection<User>, 'find'>,
  { kind = '', ...request }: UserPageRequest,
): Promise<UserPage> {
  const page = hostPage(request)
  if (kind !== '' && kind !== 'service') {
    const detail = "A page's kind must be '', for people, or 'service'."
    throw new AuthError('invalid_request', { detail })
  }
  const { shown, next } = page.cut(await users.find({ kind }, page.read))
  return { users: shown.map(recordOf), next }
}
