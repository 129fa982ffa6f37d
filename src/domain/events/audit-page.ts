import { isStorableId } from '../../engine/is-storable.js'
import { AuthError } from '../../errors/index.js'
import type { AuditRecord, AuditRecords } from '../../model/audit-record.js'

/** A page of audit records. */
export interface AuditPage {
  /** Newest first. Records of the same millisecond have no defined order. */
  readonly records: readonly AuditRecord[]
  /** The `after` of the next page; null on the last page. */
  readonly next: string | null
}

/** The page of audit records to read. */
export interface AuditPageRequest {
  /** 1 to 200. Default 50. */
  readonly limit?: number
  /** The `next` of the previous page. Default: the first page. */
  readonly after?: string
}

/** Whose records: those of the account concerned, or of the one that acted. */
export type AuditParty = 'targetId' | 'actorId'

const pageSize = 50
const maxPageSize = 200

/** A page of the records of one account. Throws `invalid_request` for a page out of bounds. */
export async function auditPage(
  records: Pick<AuditRecords, 'find'>,
  { by, id }: { readonly by: AuditParty; readonly id: string },
  { limit = pageSize, after }: AuditPageRequest,
): Promise<AuditPage> {
  const problem =
    (!isPageSize(limit) && `limit must be a whole number from 1 to ${maxPageSize}.`) ||
    (!isStorableId(after ?? '') && 'after must be the next of the page before.')
  if (problem) throw new AuthError('invalid_request', { detail: `A page's ${problem}` })
  // One more than asked for shows whether there is a next page.
  const equal = by === 'targetId' ? { targetId: id } : { actorId: id }
  const start = after === undefined ? {} : { after }
  const found = await records.find(equal, { limit: limit + 1, newestFirst: true, ...start })
  const shown = found.slice(0, limit)
  return { records: shown, next: found.length > limit ? (shown.at(-1)?.id ?? null) : null }
}

function isPageSize(limit: number): boolean {
  return Number.isInteger(limit) && limit >= 1 && limit <= maxPageSize
}
