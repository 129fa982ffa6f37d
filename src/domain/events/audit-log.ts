import type { BackgroundTasks } from '../../concurrency/background-tasks.js'
import { uuidv7 } from '../../crypto/uuid.js'
import { isStorableId } from '../../engine/is-storable.js'
import { AuthError } from '../../errors/index.js'
import type { AuditRecord, AuditRecords } from '../../model/audit-record.js'
import type { AuthEvent } from '../../ports/auth-event.js'
import type { Clock } from '../../ports/clock.js'
import type { Emit } from '../../ports/emit.js'
import type { Random } from '../../ports/random.js'
import { storedText } from '../context/stored-text.js'
import { repeatedRecords } from './repeated-records.js'
import { type AuditEntry, toAuditRecord } from './to-audit-record.js'

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

/**
 * The audit records of one surface, for the host's code: no permission is checked. Throws `AuthError`
 * `invalid_request` for an id that is no text and a page out of bounds, and `service_unavailable` when the store fails.
 */
export interface AuditLog {
  /** The records about an account, whether its owner acted or another user. */
  ofTarget(userId: string, page?: AuditPageRequest): Promise<AuditPage>
  /** The records of acts by this actor on this surface. */
  ofActor(actorId: string, page?: AuditPageRequest): Promise<AuditPage>
}

export interface Audit {
  readonly log: AuditLog
  /** Writes the record of an event, if it leaves one, beside the caller. Never throws. */
  record(event: AuthEvent): void
}

interface Deps {
  readonly records: AuditRecords
  readonly clock: Clock
  readonly random: Random
  readonly background: BackgroundTasks
  readonly retentionMs: number
  /** For records that could not be written; it must leave none itself. */
  readonly emit: Emit
}

const pageSize = 50
const maxPageSize = 200

export function createAuditLog(deps: Deps): Audit {
  const { records } = deps
  const isRepeated = repeatedRecords(deps)

  async function write(entry: AuditEntry): Promise<void> {
    const id = uuidv7(entry.at, deps.random)
    const stored = await records.insert({ id, ...entry, expiresAt: entry.at + deps.retentionMs })
    if (!stored) throw new Error('the id of an audit record was taken')
  }

  async function page(
    by: 'targetId' | 'actorId',
    id: string,
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

  return {
    log: {
      ofTarget: async (userId, request = {}) =>
        page('targetId', storedText('userId', userId), request),
      ofActor: async (actorId, request = {}) =>
        page('actorId', storedText('actorId', actorId), request),
    },

    record(event) {
      const entry = toAuditRecord(event)
      if (entry === null || isRepeated(event)) return
      deps.background.run('writing an audit record', async () => {
        try {
          await write(entry)
        } catch (error) {
          deps.emit('audit.failed', entry, { action: entry.action })
          throw error
        }
      })
    },
  }
}

function isPageSize(limit: number): boolean {
  return Number.isInteger(limit) && limit >= 1 && limit <= maxPageSize
}
