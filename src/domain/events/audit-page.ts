import type { AuditRecord, AuditRecords } from '../../model/event-records.js'
import { hostPage } from '../context/host-page.js'

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

/** A page of the records of one account. Throws `invalid_request` for a page out of bounds. */
export async function auditPage(
  records: Pick<AuditRecords, 'find'>,
  { by, id }: { readonly by: AuditParty; readonly id: string },
  request: AuditPageRequest,
): Promise<AuditPage> {
  const page = hostPage(request)
  const equal = by === 'targetId' ? { targetId: id } : { actorId: id }
  const { shown, next } = page.cut(await records.find(equal, { ...page.read, newestFirst: true }))
  return { records: shown, next }
}
